"""The error tree that every program shares. Split by blame: whose input or act was wrong.

    PrsmError
    ├── SettingError       the operator's: a setting that cannot be used
    ├── FormatError        the sender's: bytes that do not follow their grammar
    │   └── LineError      ... at a known line of a list or log
    ├── UrlError           the page's: a text that is no URL to crawl
    ├── LimitError         the sender's: more than a documented limit allows
    └── ConflictError      nobody's: what was asked no longer fits the state

A message says what, value, limit and remedy. Each program derives its own branch from these;
the manager maps them to status codes, the commands to exit codes.
"""

from __future__ import annotations

__all__ = [
    "ConflictError",
    "FormatError",
    "LimitError",
    "LineError",
    "PrsmError",
    "SettingError",
    "UrlError",
]


class PrsmError(Exception):
    """Anything PRSM refuses or fails at, with a message meant for a person."""


class SettingError(PrsmError):
    """A setting is unknown, malformed or out of range; the program does not start."""


class FormatError(PrsmError):
    """Bytes from outside do not follow the grammar they claim to follow."""


class LineError(FormatError):
    """One line of a list or log is malformed; `line` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


class UrlError(PrsmError):
    """A text is no URL that a crawler may fetch."""


class LimitError(PrsmError):
    """Something from outside is larger, longer or more frequent than its limit."""


class ConflictError(PrsmError):
    """A request is well-formed but contradicts what already happened."""

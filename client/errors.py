"""Errors of `prs-get`, by blame; each class has its exit code.

ClientError                1  something failed; the message says what
├── RefusedError           1  the server says no to this request
│   └── GoneError          1  ... because it was withdrawn
├── DamagedError           1  the data differ from the promised ones, several times
├── NoMatchError           3  the server has nothing that was requested
├── TokenError             4  no login, or a token that is unknown, revoked, over, too narrow
├── DiskError              5  this machine's: full, or not writable
├── FolderBusyError        6  another prs-get works in this folder
├── LaterError             7  the server says when to come back
├── CursorError            8  the followed position is too old: start again
├── UnreachableError       9  the server's or the network's: no answer
│   └── CutError           9  ... or an answer that ended early; worth another try
└── StoppedError         130  a person or the system ended it; the next run continues
"""

from __future__ import annotations

from typing import ClassVar

from shared.errors import PrsmError

__all__ = [
    "ClientError",
    "CursorError",
    "CutError",
    "DamagedError",
    "DiskError",
    "FolderBusyError",
    "GoneError",
    "LaterError",
    "NoMatchError",
    "RefusedError",
    "StoppedError",
    "TokenError",
    "UnreachableError",
]


class ClientError(PrsmError):
    """Anything that ends a command or a file."""

    exit_code: ClassVar[int] = 1


class RefusedError(ClientError):
    """The server understood and says no; `status` is its code."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class GoneError(RefusedError):
    """410: it was here and was withdrawn."""


class DamagedError(ClientError):
    """Bytes do not have the promised size or SHA-256, or an answer is not what it claims to be."""


class NoMatchError(ClientError):
    """No host of the server matches, or none has a capture that fits the dates and the URL."""

    exit_code = 3


class UnreachableError(ClientError):
    """The server does not answer."""

    exit_code = 9


class CutError(UnreachableError):
    """A connection or an answer ended before its time."""


class TokenError(ClientError):
    """The token opens nothing here, or not this."""

    exit_code = 4


class DiskError(ClientError):
    """The disk is full, or the folder cannot be written."""

    exit_code = 5


class FolderBusyError(ClientError):
    """Another process has the folder."""

    exit_code = 6


class LaterError(ClientError):
    """The server asks to come back; `retry_after_s` says when, None: it does not say."""

    exit_code = 7

    def __init__(self, sentence: str, retry_after_s: float | None) -> None:
        super().__init__(sentence)
        self.retry_after_s = retry_after_s


class CursorError(ClientError):
    """The server does not remember as far back as the cursor."""

    exit_code = 8


class StoppedError(ClientError):
    """Ended from outside."""

    exit_code = 130

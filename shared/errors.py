"""The error tree that every program shares. Split by blame: whose input or act was wrong.

    PrsmError
    ├── SettingError       the operator's: a setting that cannot be used
    ├── FormatError        the sender's: bytes that do not follow their grammar
    │   └── LineError      ... at a known line of a list or log
    ├── UrlError           the page's: a text that is no URL to crawl
    ├── LimitError         the sender's: more than a documented limit allows
    └── ConflictError      without blame: the request no longer fits the state

A message says what, value, limit and remedy. It is a code with parameters; its sentence is made
where it is shown (`shared.messages`). Each program derives its own branch from these; the manager
maps them to status codes, the commands to exit codes. Programs compare `code` and never read a
sentence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, Self

from shared.messages import Message
from shared.messages.message import TEXT

__all__ = [
    "ConflictError",
    "Fault",
    "FormatError",
    "LimitError",
    "LineError",
    "PrsmError",
    "SettingError",
    "UrlError",
    "about_field",
    "check_choice",
]


class Fault(StrEnum):
    """Codes of faults in received data. A code, once released, keeps its meaning."""

    # URLs
    NOT_A_URL = "not_a_url"
    SCHEME = "scheme"
    CREDENTIALS = "credentials"
    EMPTY_LABEL = "empty_label"
    LONG_LABEL = "long_label"
    LONG_NAME = "long_name"
    PORT = "port"
    LONG_URL = "long_url"
    NOT_A_UNIT = "not_a_unit"
    # lines of lists and logs
    MALFORMED_LINE = "malformed_line"
    LONG_LINE = "long_line"
    LARGE_NUMBER = "large_number"
    TIME = "time"
    TIME_AHEAD = "time_ahead"
    TIMES_REVERSED = "times_reversed"
    UNKNOWN_ROUND = "unknown_round"
    REFUSED_LINES = "refused_lines"
    # gzip bodies
    EMPTY_BODY = "empty_body"
    NOT_GZIP = "not_gzip"
    DAMAGED_GZIP = "damaged_gzip"
    TRUNCATED_GZIP = "truncated_gzip"
    TRAILING_GARBAGE = "trailing_garbage"
    TOO_LARGE = "too_large"
    # what one body, or one sender, costs
    DECODED_RATIO = "decoded_ratio"
    TOO_MANY_LINES = "too_many_lines"
    CPU_LIMIT = "cpu_limit"
    MEMORY_LIMIT = "memory_limit"
    SENDER_UPLOADS = "sender_uploads"
    SENDER_BYTES = "sender_bytes"
    SENDER_MESSAGES = "sender_messages"
    # requests
    UNKNOWN_PARAMETER = "unknown_parameter"
    REPEATED_PARAMETER = "repeated_parameter"
    INVALID_VALUE = "invalid_value"


class PrsmError(Exception):
    """Anything PRSM refuses or fails at: a message for a person, made of a code and parameters.

    kind: what sort of refusal it is; a class's own. field: the name of the value that is wrong, as
    forms and calls name it; empty: of no single one.
    """

    kind: str = "refused"
    field: str = ""
    fault: str = ""

    def __init__(self, message: str | Message, /, **params: Any) -> None:
        """message: a code of the catalogues (`shared/messages`) with its parameters as `params`, a
        message that has them, or a sentence that another program wrote."""
        self.message = Message.of(message, params)
        super().__init__(self.message)

    @property
    def code(self) -> str:
        """Return the code for programs: the released one of this fault, or the message's."""
        by_class = self.kind if self.message.code == TEXT else self.message.code
        return self.fault or by_class

    def __str__(self) -> str:
        """Return the message in English."""
        return str(self.message)

    def about(self, field: str) -> Self:
        """Return this error, which is about a field."""
        self.field = field
        return self

    @property
    def facts(self) -> dict[str, object]:
        """Return more members of the answer, beside the message's parameters."""
        return {}


@contextmanager
def about_field(name: str) -> Iterator[None]:
    """Name the field that a refusal within is about, where it names none itself."""
    try:
        yield
    except PrsmError as error:
        if not error.field:
            error.field = name
        raise


class SettingError(PrsmError):
    """A setting is unknown, malformed or out of range; the program does not start."""


class _FaultError(PrsmError):
    """An error that may have a released code."""

    def __init__(
        self, message: str | Message, fault: Fault | None = None, /, **params: Any
    ) -> None:
        super().__init__(message, **params)
        if fault is not None:
            self.fault = fault


class FormatError(_FaultError):
    """Bytes from outside do not follow the grammar they claim to follow."""

    kind = "format"


class LineError(FormatError):
    """One line of a list or log is malformed. line: counts from 1; problem: what is wrong."""

    fault: str = Fault.MALFORMED_LINE

    def __init__(
        self, line: int, problem: str | Message, fault: Fault | None = None, /, **params: Any
    ) -> None:
        problem = Message.of(problem, params)
        super().__init__(Message("lists.line", line=line, problem=problem), fault)
        self.line = line
        self.problem = problem

    def __reduce__(self) -> tuple[type[LineError], tuple[int, Message], dict[str, object]]:
        """Return the call that makes it again in another process."""
        return type(self), (self.line, self.problem), self.__dict__

    @property
    def facts(self) -> dict[str, object]:
        """Return the number of the line."""
        return {"line": self.line}


class UrlError(_FaultError):
    """A text is no URL that a crawler may fetch."""

    kind = "not_a_url"
    fault: str = Fault.NOT_A_URL


def check_choice(name: str, value: str, known: Collection[str]) -> None:
    """Raise FormatError where the value of a field is none of those that are known."""
    if value not in known:
        raise FormatError("general.unknown_choice", name=name, value=value[:40], known=tuple(known))


class LimitError(_FaultError):
    """Something from outside is larger, longer or more frequent than its limit."""

    kind = "limit"


class ConflictError(PrsmError):
    """A request is well-formed but contradicts what already happened."""

    kind = "conflict"

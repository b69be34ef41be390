"""Errors of the manager, by blame. The web layers map each class to its status code.

    PrsmError
    ├── UnknownKeyError     401  the caller's: no key, or an unknown one
    ├── ForbiddenError      403  the caller's: known, but may not do this
    │   └── PlainAgentError          it joined to speak the five messages only
    │   └── InsecureLineError    secrets on a line that others can read
    ├── NotFoundError       404  the caller's: it names what does not exist
    ├── GoneError           410  no one's: it existed here, and was removed
    ├── UnsupportedTypeError 415 the caller's: a body of a type that is not read here
    ├── TooOldError         426  the caller's: it speaks a protocol that is no longer spoken
    ├── BusyError           503  no one's: the database does not answer now; try again later
    │   ├── ForeignInstallationError  the agent belongs to another installation
    │   ├── NotLeadingError      another manager leads: it does the work now
    │   ├── FullDatabaseError    the database has no room: a person must free some
    │   └── DamagedDatabaseError the database is damaged: a person must restore a backup
    ├── ConflictError       409  no one's (shared)
    │   ├── CloneError           two machines use one agent's key
    │   └── StalePlanError       the input of a plan has changed since
    └── LimitError          413  the caller's (shared): larger, longer or more than allowed
        └── SlowDownError   429  ... more often than allowed; try again after a while

FormatError, LineError and UrlError (shared) are 400, and so is UnknownFieldError. SettingError ends
the program at its start.
`kind` is a class's sort of refusal; `fault` a released code of one particular fault, if there is
one. The `code` of an answer is the fault, or else the code of the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final

from shared.errors import ConflictError, Fault, FormatError, LimitError, PrsmError
from shared.messages import Message
from shared.messages.message import TEXT
from shared.wire.installation import FOREIGN, HOUR_S

__all__ = [
    "BusyError",
    "CloneError",
    "ConflictError",
    "DamagedDatabaseError",
    "ForbiddenError",
    "ForeignInstallationError",
    "FullDatabaseError",
    "GoneError",
    "InsecureLineError",
    "LimitError",
    "NotFoundError",
    "NotLeadingError",
    "PlainAgentError",
    "PrsmError",
    "SlowDownError",
    "StalePlanError",
    "TooOldError",
    "UnknownFieldError",
    "UnknownKeyError",
    "UnsupportedTypeError",
]


RETRY_WITHOUT_ROOM_S: Final = 60
"""A person makes room, not the next second."""


class UnknownKeyError(PrsmError):
    """No key was shown, or one that belongs to no agent or user."""

    kind = "unknown_key"


class ForbiddenError(PrsmError):
    """The caller is known and may not do this: another's work, a missing role, retired."""

    kind = "forbidden"


class InsecureLineError(ForbiddenError):
    """A secret was asked for, or shown, on a line that others can read; `fault` says why it is."""

    def __init__(self, message: str | Message, fault: str, /, **params: Any) -> None:
        super().__init__(message, **params)
        self.fault = fault


class PlainAgentError(ForbiddenError):
    """A plain agent's key was shown where only agents that sync may come."""

    fault = "plain_agent"


class NotFoundError(PrsmError):
    """An agent, host, round, plan or user of that name does not exist.

    see: the `prsm` command that lists those there are, as `agents list`; a page leads to their
    page instead.
    """

    kind = "not_found"

    def __init__(self, message: str | Message, /, *, see: str = "", **params: Any) -> None:
        super().__init__(message, **params)
        self.what = self.message
        self.see = see
        if see:
            self.message = Message("general.see_command", what=self.what, command=f"prsm {see}")
            self.args = (self.message,)

    @property
    def code(self) -> str:
        """Return the code of the missing thing."""
        return self.kind if self.what.code == TEXT else self.what.code


class GoneError(PrsmError):
    """It was here once: an upload that is over, a file that was withdrawn."""

    kind = "gone"


class TooOldError(PrsmError):
    """The caller's protocol version is no longer spoken here; its data is still accepted."""

    kind = "too_old"


class BusyError(PrsmError):
    """The database is locked or gone for now; nothing was changed."""

    kind = "busy"

    def __init__(self, message: str | Message, /, retry_after_s: int = 5, **params: Any) -> None:
        super().__init__(message, **params)
        self.retry_after_s = retry_after_s


class FullDatabaseError(BusyError):
    """The database has no room for a change; nothing was changed, and what is there can be read.

    free_bytes: of its file system; None: of a server's, which is not seen from here.
    """

    fault = "database_full"

    def __init__(self, name: str, free_bytes: int | None, why: str) -> None:
        if free_bytes is None:
            message = Message("general.database_full_server", name=name, why=why)
        else:
            message = Message(
                "general.database_full_file", name=name, free_bytes=free_bytes, why=why
            )
        super().__init__(message, RETRY_WITHOUT_ROOM_S)
        self.name = name
        self.free_bytes = free_bytes


class NotLeadingError(BusyError):
    """A manager that does not lead, or no longer leads, began the leader's work."""

    fault = "not_leading"


class ForeignInstallationError(BusyError):
    """An agent of another installation calls, or any agent a manager that knows none."""

    fault = FOREIGN

    def __init__(self, why: Message) -> None:
        super().__init__(Message("general.foreign_installation", why=why), retry_after_s=HOUR_S)


class DamagedDatabaseError(BusyError):
    """The database is damaged; nothing is written to it, and nothing was deleted.

    file: of SQLite, or the name of the database at its server. finding: what its check reports.
    """

    fault = "database_damaged"

    def __init__(self, file: str, finding: str | Message) -> None:
        where = "file" if file.startswith("/") else "server"
        super().__init__(
            Message(f"general.database_damaged_{where}", name=file, finding=finding),
            retry_after_s=600,
        )
        self.file = file
        self.finding = finding


class CloneError(ConflictError):
    """Two machines, or two states of one machine, show the key of one agent."""

    fault = "clone"


class StalePlanError(ConflictError):
    """Assignments changed after the plan was made: make a new one."""

    fault = "stale_plan"


class SlowDownError(LimitError):
    """The same was asked too often; `retry_after_s` says when it may be asked again."""

    kind = "slow_down"

    def __init__(self, message: str | Message, /, retry_after_s: int = 1, **params: Any) -> None:
        super().__init__(message, **params)
        self.retry_after_s = retry_after_s


class UnsupportedTypeError(PrsmError):
    """A body says that it is of a media type which its address does not read."""

    fault = "content_type"

    def __init__(self, kind: str, taken: Sequence[str]) -> None:
        if kind:
            super().__init__("general.content_type", type=kind[:60], taken=tuple(taken))
        else:
            super().__init__("general.content_type_missing", taken=tuple(taken))
        self.taken = tuple(taken)


NAME_SHOWN: Final = 100
"""Characters of an unknown name that a message shows, and that are compared with known names: a
name may be as long as a request."""


class UnknownFieldError(FormatError):
    """A parameter or a key that an operation does not know.

    what: `parameter` (of a query) or `key` (of a body). known: all that the operation knows;
    nearest: which of them was probably meant.
    """

    def __init__(self, what: str, name: str, known: Sequence[str]) -> None:
        self.name = name = name[:NAME_SHOWN]
        self.known = tuple(known)
        self.nearest = _nearest(name, known)
        nearest = Message("general.did_you_mean", name=self.nearest) if self.nearest else None
        there = Message("general.known" if known else "general.none_known", known=tuple(known))
        super().__init__(
            Message(f"general.unknown_{what}", name=name[:60], remedy=(there, nearest)),
            Fault.UNKNOWN_PARAMETER,
        )

    @property
    def facts(self) -> dict[str, object]:
        """Return the parameters of the refusal, for programs."""
        return {"name": self.name, "nearest": self.nearest, "known": list(self.known)}


def _nearest(name: str, known: Sequence[str]) -> str | None:
    alike = {each.replace("-", "_").lower(): each for each in known}
    found = get_close_matches(name.replace("-", "_").lower(), alike, n=1, cutoff=0.5)
    return alike[found[0]] if found else None

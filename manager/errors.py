"""What the manager refuses, split by blame. The web layers map each class to its status code.

    PrsmError
    ├── UnknownKeyError     401  the caller's: no key, or one that nobody has
    ├── ForbiddenError      403  the caller's: known, but may not do this
    │   └── InsecureLineError    secrets on a line that others can read
    ├── NotFoundError       404  the caller's: it names what does not exist
    ├── GoneError           410  nobody's: it was here, and is no more
    ├── TooOldError         426  the caller's: it speaks a protocol that is no longer spoken
    ├── BusyError           503  nobody's: the database does not answer now; try again later
    │   └── NotLeadingError      another manager leads: the work is its own now
    ├── ConflictError       409  nobody's (shared)
    │   ├── CloneError           two machines show one agent's key
    │   └── StalePlanError       what a plan was made from has changed since
    └── LimitError          413  the caller's (shared): larger, longer or more than allowed
        └── SlowDownError   429  ... more often than allowed; try again after a while

FormatError, LineError and UrlError (shared) are 400; SettingError ends the program at its start.
Answers carry `code`, which is for programs; codes of what was sent are in `shared.errors.Fault`.
"""

from __future__ import annotations

from shared.errors import ConflictError, LimitError, PrsmError

__all__ = [
    "BusyError",
    "CloneError",
    "ConflictError",
    "ForbiddenError",
    "GoneError",
    "InsecureLineError",
    "LimitError",
    "NotFoundError",
    "NotLeadingError",
    "PrsmError",
    "SlowDownError",
    "StalePlanError",
    "TooOldError",
    "UnknownKeyError",
]


class UnknownKeyError(PrsmError):
    """No key was shown, or one that belongs to no agent or user."""

    code = "unknown_key"


class ForbiddenError(PrsmError):
    """The caller is known and may not do this: another's work, a missing role, retired."""

    code = "forbidden"


class InsecureLineError(ForbiddenError):
    """A secret was asked for, or shown, on a line that others can read; `code` says why it is."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class NotFoundError(PrsmError):
    """An agent, host, round, plan or user of that name does not exist.

    see: the `prsm` command that lists those there are, as `agents list`; a page leads to their
    page instead.
    """

    code = "not_found"

    def __init__(self, what: str, *, see: str = "") -> None:
        super().__init__(f"{what}; see `prsm {see}`" if see else what)
        self.what = what
        self.see = see


class GoneError(PrsmError):
    """It was here once: an upload that is over, a file that was withdrawn."""

    code = "gone"


class TooOldError(PrsmError):
    """The caller's protocol version is no longer spoken here; its data is still accepted."""

    code = "too_old"


class BusyError(PrsmError):
    """The database is locked or gone for now; nothing was changed."""

    code = "busy"

    def __init__(self, message: str, retry_after_s: int = 5) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class NotLeadingError(BusyError):
    """What only the leader does was begun by a manager that does not lead (any more)."""

    code = "not_leading"


class CloneError(ConflictError):
    """Two machines, or two states of one machine, show the key of one agent."""

    code = "clone"


class StalePlanError(ConflictError):
    """Assignments changed after the plan was made: make a new one."""

    code = "stale_plan"


class SlowDownError(LimitError):
    """The same was asked too often; `retry_after_s` says when it may be asked again."""

    code = "slow_down"

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s

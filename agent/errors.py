"""The agent's branch of the error tree.

PrsmError
├── LinkError          no answer of the manager, or one worth another try
│   ├── WaitError      429, 503: the manager asks for time, and says how much
│   ├── FaultError     408, other 5xx: the manager failed at this one request
│   └── RefusedError   other 4xx: a no with a reason; repeating will not help
├── HomeError          the site's: the agent's directory cannot be used (lock, disk, rights)
└── GraphError         ours: a pipeline that cannot work (agent.pipeline.spec)
"""

from __future__ import annotations

from typing import Final

from shared.errors import PrsmError
from shared.messages import Message

__all__ = [
    "FaultError",
    "HomeError",
    "LinkError",
    "RefusedError",
    "WaitError",
    "shown_installation",
]

FOREIGN_INSTALLATION: Final = "foreign_installation"
_REMEDIES: Final = frozenset({401, 403, 404, 409, 413, 426})


class LinkError(PrsmError):
    """The manager could not be reached, or answered with an error worth another try.

    is_foreign: the manager of another installation answered, as far as is known.
    """

    is_foreign: bool = False

    @property
    def remedy(self) -> Message | None:
        """Return what a person can do; None where waiting is all."""
        return None

    @property
    def with_remedy(self) -> Message:
        """Return the message, with what a person can do."""
        remedy = self.remedy
        if remedy is None:
            return self.message
        return Message("agent_errors.with_remedy", problem=self.message, remedy=remedy)


class WaitError(LinkError):
    """The manager is busy or wants fewer calls; `retry_after_s` is None where it did not say."""

    def __init__(
        self, status: int, reason: str, retry_after_s: float | None, code: str = ""
    ) -> None:
        """code: of the problem, where the manager named one."""
        super().__init__("agent_errors.manager_busy", status=status, reason=reason)
        self.status = status
        self.retry_after_s = retry_after_s
        self.fault = code
        self.is_foreign = code == FOREIGN_INSTALLATION


class FaultError(LinkError):
    """The manager failed at a request; another request may succeed."""

    def __init__(self, status: int, reason: str, request_id: str = "") -> None:
        note = _request_note(request_id)
        super().__init__("agent_errors.manager_failed", status=status, reason=reason, request=note)
        self.status = status


class RefusedError(LinkError):
    """The manager refused: key, name, report or version; `status` is the HTTP status.

    by_manager: the answer bears its mark; else it may be of a proxy or another thing between.
    installation: the id of the installation that answered; empty: it says none. is_foreign: it is
    not known to be this agent's own, so its no is no matter for a person. request_id: by which
    the manager's log has the request; empty: `reason` says it, or it has none.
    """

    def __init__(
        self,
        status: int,
        reason: str,
        *,
        by_manager: bool = True,
        installation: str = "",
        is_foreign: bool = False,
        request_id: str = "",
    ) -> None:
        given = {"status": status, "reason": reason, "request": _request_note(request_id)}
        if is_foreign:
            shown = shown_installation(installation)
            super().__init__("agent_errors.foreign_manager_refused", **given, shown=shown)
        else:
            super().__init__("agent_errors.manager_refused", **given)
        self.status = status
        self.reason = reason
        self.by_manager = by_manager
        self.installation = installation
        self.is_foreign = is_foreign
        self.request_id = request_id

    @property
    def remedy(self) -> Message | None:
        """Return what a person can do; None where waiting is all."""
        if self.status not in _REMEDIES:
            return None
        return Message(f"agent_errors.remedy_{self.status}")


def shown_installation(installation: str) -> Message:
    """Return which installation a manager says that it is of."""
    if not installation:
        return Message("agent_errors.no_installation_shown")
    return Message("agent_errors.installation_shown", installation=installation)


def _request_note(request_id: str) -> Message | None:
    """Return the note on a request that stands behind the manager's reason; None: no id."""
    return Message("agent_errors.request", id=request_id) if request_id else None


class HomeError(PrsmError):
    """The agent's directory is locked by another process, full, or not writable."""

"""The agent's branch of the error tree.

PrsmError
├── LinkError          the manager's or the network's: an exchange with the manager failed
│   └── RefusedError   the manager said no, with a reason; repeating will not help
├── HomeError          the site's: the agent's directory cannot be used (lock, disk, rights)
└── GraphError         ours: a pipeline that cannot work (agent.pipeline.spec)
"""

from __future__ import annotations

from shared.errors import PrsmError
from shared.messages import Message

__all__ = ["HomeError", "LinkError", "RefusedError", "request_note", "shown_installation"]


class LinkError(PrsmError):
    """The manager could not be reached, or answered with an error worth another try."""


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
        given = {"status": status, "reason": reason, "request": request_note(request_id)}
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


def shown_installation(installation: str) -> Message:
    """Return which installation a manager says that it is of."""
    if not installation:
        return Message("agent_errors.no_installation_shown")
    return Message("agent_errors.installation_shown", installation=installation)


def request_note(request_id: str) -> Message | None:
    """Return the note on a request that stands behind the manager's reason; None: no id."""
    return Message("agent_errors.request", id=request_id) if request_id else None


class HomeError(PrsmError):
    """The agent's directory is locked by another process, full, or not writable."""

"""The agent's branch of the error tree.

PrsmError
├── LinkError          the manager's or the network's: an exchange with the manager failed
│   └── RefusedError   the manager said no, with a reason; repeating will not help
├── HomeError          the site's: the agent's directory cannot be used (lock, disk, rights)
└── GraphError         ours: a pipeline that cannot work (agent.pipeline.spec)
"""

from __future__ import annotations

from shared.errors import PrsmError

__all__ = ["HomeError", "LinkError", "RefusedError"]


class LinkError(PrsmError):
    """The manager could not be reached, or answered with an error worth another try."""


class RefusedError(LinkError):
    """The manager refused: key, name, report or version; `status` is the HTTP status.

    by_manager: the answer bears its mark; else it may be of a proxy or another thing between.
    installation: the id of the installation that answered; empty: it says none. is_foreign: it is
    not known to be this agent's own, so its no is no matter for a person.
    """

    def __init__(
        self,
        status: int,
        reason: str,
        *,
        by_manager: bool = True,
        installation: str = "",
        is_foreign: bool = False,
    ) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason
        self.by_manager = by_manager
        self.installation = installation
        self.is_foreign = is_foreign


class HomeError(PrsmError):
    """The agent's directory is locked by another process, full, or not writable."""

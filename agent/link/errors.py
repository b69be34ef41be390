"""Errors of an exchange with the manager.

LinkError              (agent.errors) no answer, or one worth another try
├── WaitError          429, 503: the manager asks for time, and says how much
├── FaultError         408, other 5xx: the manager failed at this one request
└── RefusedError       (agent.errors) other 4xx: a no with a reason
"""

from __future__ import annotations

from typing import Final

from agent.errors import LinkError, RefusedError, request_note

FOREIGN_INSTALLATION: Final = "foreign_installation"

__all__ = ["FaultError", "LinkError", "RefusedError", "WaitError", "is_foreign"]


class WaitError(LinkError):
    """The manager is busy or wants fewer calls; `retry_after_s` is None where it did not say."""

    def __init__(
        self, status: int, reason: str, retry_after_s: float | None, code: str = ""
    ) -> None:
        """code: of the problem, where the manager named one."""
        super().__init__("agent_errors.manager_busy", status=status, reason=reason)
        self.status = status
        self.reason = reason
        self.retry_after_s = retry_after_s
        self.fault = code

    @property
    def is_foreign(self) -> bool:
        """True where another installation's manager answered."""
        return self.code == FOREIGN_INSTALLATION


def is_foreign(error: LinkError) -> bool:
    """Return whether the manager of another installation answered, as far as is known."""
    return isinstance(error, RefusedError | WaitError) and error.is_foreign


class FaultError(LinkError):
    """The manager failed at a request; another request may succeed."""

    def __init__(self, status: int, reason: str, request_id: str = "") -> None:
        super().__init__(
            "agent_errors.manager_failed",
            status=status,
            reason=reason,
            request=request_note(request_id),
        )
        self.status = status
        self.reason = reason

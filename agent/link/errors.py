"""What an exchange with the manager can end in, besides an answer.

LinkError              (agent.errors) no answer, or one worth another try
├── WaitError          429, 503: the manager asks for time, and says how much
├── FaultError         408, other 5xx: the manager failed at this one request
└── RefusedError       (agent.errors) other 4xx: a no with a reason
"""

from __future__ import annotations

from agent.errors import LinkError, RefusedError

__all__ = ["FaultError", "LinkError", "RefusedError", "WaitError"]


class WaitError(LinkError):
    """The manager is busy or wants fewer calls; `retry_after_s` is None where it did not say."""

    def __init__(self, status: int, reason: str, retry_after_s: float | None) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason
        self.retry_after_s = retry_after_s


class FaultError(LinkError):
    """The manager failed at a request; another request may succeed."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason

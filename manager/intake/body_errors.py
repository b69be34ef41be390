"""Refusals of bodies that are over a limit of the intake, each with a code for programs.

LimitError
    BodyLimitError      413  one body is too much: do not send it again unchanged
    SlowDownError
        SenderShareError 429  one sender has its share under way: send it again later
"""

from __future__ import annotations

from typing import Final

from manager.errors import SlowDownError
from shared.errors import Fault, LimitError
from shared.messages import Message

__all__ = ["BodyLimitError", "SenderShareError", "body_too_large"]

SMALLER: Final = Message("uploads.smaller_parts")


def _over(fault: Fault, value: float, limit: float, setting: str, remedy: Message) -> Message:
    found = Message(f"uploads.{fault}", value=value, limit=limit)
    return Message("uploads.over_limit", found=found, limit=limit, setting=setting, remedy=remedy)


class BodyLimitError(LimitError):
    """A body is over a limit; nothing of it was taken (413)."""

    def __init__(
        self,
        fault: Fault,
        value: float,
        limit: float,
        setting: str,
        remedy: Message = SMALLER,
        line: int | None = None,
    ) -> None:
        """line: of the body, that goes over the limit."""
        over = _over(fault, value, limit, setting, remedy)
        super().__init__(
            over if line is None else Message("lists.line", line=line, problem=over), fault
        )
        self.value = value
        self.limit = limit
        self.setting = setting
        self.remedy = remedy
        self.line = line

    @property
    def facts(self) -> dict[str, object]:
        """Return the limit, the value that exceeds it, and the setting."""
        return {"value": self.value, "limit": self.limit, "setting": self.setting}

    def __reduce__(self) -> tuple[type[BodyLimitError], tuple[object, ...]]:
        """Return how a worker process hands it to its parent."""
        given = (Fault(self.fault), self.value, self.limit, self.setting, self.remedy, self.line)
        return BodyLimitError, given


class SenderShareError(SlowDownError):
    """An agent has its share of uploads, or of bytes, under way (429)."""

    def __init__(
        self, fault: Fault, value: float, limit: float, setting: str, retry_after_s: int
    ) -> None:
        remedy = Message("uploads.send_later", retry_after_s=retry_after_s)
        super().__init__(_over(fault, value, limit, setting, remedy), retry_after_s)
        self.fault = fault
        self.value = value
        self.limit = limit
        self.setting = setting
        self.remedy = remedy

    @property
    def facts(self) -> dict[str, object]:
        """Return the limit, the value that exceeds it, and the setting."""
        return {"value": self.value, "limit": self.limit, "setting": self.setting}


def body_too_large(limit_bytes: int, size_bytes: int | None = None) -> LimitError:
    """Return the refusal of a body that is too large. size_bytes: None: it is longer than that."""
    if size_bytes is None:
        return LimitError("uploads.body_longer", limit=limit_bytes)
    return LimitError("uploads.body_too_large", size=size_bytes, limit=limit_bytes)

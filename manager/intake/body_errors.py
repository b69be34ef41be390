"""Refusals of bodies that are over a limit of the intake, each with a code for programs.

LimitError
    BodyLimitError      413  one body is too much: it is not to be sent again as it is
    SlowDownError
        SenderShareError 429  one sender has its share under way: send it again later
"""

from __future__ import annotations

from typing import Final

from manager.errors import SlowDownError
from shared.errors import Fault, LimitError
from shared.plurals import with_plurals

__all__ = ["BodyLimitError", "SenderShareError", "body_too_large"]


_SAID: Final = {
    Fault.DECODED_RATIO: "body decodes to {value} times its size",
    Fault.TOO_MANY_LINES: "body has more than {limit} lines, comments included",
    Fault.CPU_LIMIT: "reading took more than {limit:g} s of a processor",
    Fault.MEMORY_LIMIT: "reading took more than {limit:g} bytes of memory",
    Fault.SENDER_UPLOADS: "{value} uploads of this agent are under way",
    Fault.SENDER_BYTES: "{value} bytes of this agent come in or wait to be read",
    Fault.SENDER_MESSAGES: "{value} large messages of this sender are under way",
}


def _sentence(fault: Fault, value: float, limit: float, setting: str, remedy: str) -> str:
    said = _SAID[fault].format(value=value, limit=limit)
    return f"{said}: the limit is {limit:g} ({setting}); {remedy}"


class BodyLimitError(LimitError):
    """A body is over a limit; nothing of it was taken (413)."""

    def __init__(
        self,
        fault: Fault,
        value: float,
        limit: float,
        setting: str,
        remedy: str = "send it in smaller parts",
        where: str = "",
    ) -> None:
        """where: the place in the body, as `line 7`."""
        begin = f"{where}: " if where else ""
        super().__init__(begin + _sentence(fault, value, limit, setting, remedy))
        self.code = fault
        self.value = value
        self.limit = limit
        self.setting = setting
        self.remedy = remedy
        self.where = where

    @property
    def facts(self) -> dict[str, object]:
        """Return the limit, what was over it, and the setting."""
        return {"value": self.value, "limit": self.limit, "setting": self.setting}

    def __reduce__(self) -> tuple[type[BodyLimitError], tuple[object, ...]]:
        """Return how a worker process hands it to its parent."""
        given = (Fault(self.code), self.value, self.limit, self.setting, self.remedy, self.where)
        return BodyLimitError, given


class SenderShareError(SlowDownError):
    """An agent has its share of uploads, or of bytes, under way (429)."""

    def __init__(
        self, fault: Fault, value: float, limit: float, setting: str, retry_after_s: int
    ) -> None:
        remedy = f"send it again in {retry_after_s} s, when those before it are done"
        super().__init__(_sentence(fault, value, limit, setting, remedy), retry_after_s)
        self.code = fault
        self.value = value
        self.limit = limit
        self.setting = setting
        self.remedy = remedy

    @property
    def facts(self) -> dict[str, object]:
        """Return the limit, what was over it, and the setting."""
        return {"value": self.value, "limit": self.limit, "setting": self.setting}


def body_too_large(size: str, limit_bytes: int) -> LimitError:
    """Return the refusal of a body that is too large. size: as `of 5 bytes`, or `is longer`."""
    return LimitError(
        with_plurals(f"request body {size}: the limit is {limit_bytes} bytes here; send less")
    )

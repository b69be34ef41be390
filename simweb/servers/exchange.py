"""One request and its answer on the wire, as the log will tell it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from simweb.servers.answer import Answer
from simweb.servers.request import Request
from simweb.sites.plan import HostPlan

__all__ = ["Exchange"]


@dataclass(slots=True)
class Exchange:
    """One request, and its answer, while it is answered and after."""

    request: Request
    host: HostPlan | None  # None: no such host at this address
    answer: Answer
    time_start: float
    mono_start: float
    disallowed: bool
    keep_alive: bool
    time_end: float = 0.0
    mono_end: float = 0.0
    bytes_sent: int = 0

    def count_sent(self, size: int) -> None:
        """Note that bytes are about to be sent."""
        self.bytes_sent += size
        self.touch()

    def touch(self) -> None:
        """Move the end to now."""
        self.time_end, self.mono_end = time.time(), time.monotonic()

    def fields(self, aborted: bool) -> dict[str, Any]:
        """Return the fields of the log line. An aborted request ends when the client leaves."""
        if aborted or not self.mono_end:
            self.touch()
        request, answer = self.request, self.answer
        fields: dict[str, Any] = {
            "time_start": round(self.time_start, 6),
            "time_end": round(self.time_end, 6),
            "mono_start": round(self.mono_start, 6),
            "mono_end": round(self.mono_end, 6),
            "host": request.host,
            "method": request.method,
            "path": request.target,
            "status": 0 if not self.bytes_sent or answer.delivery.raw else answer.status,
            "bytes": self.bytes_sent,
            "user_agent": request.user_agent,
            "disallowed": self.disallowed,
        }
        if self.host is None:
            fields["misdirected"] = True
        elif self.host.crawl_delay_s:
            fields["crawl_delay_s"] = self.host.crawl_delay_s
        if answer.fault:
            fields["fault"] = answer.fault
        if answer.retry_after_s is not None:
            fields["retry_after_s"] = answer.retry_after_s
        if aborted:
            fields["aborted"] = True
        return fields

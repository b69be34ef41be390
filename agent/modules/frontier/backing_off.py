"""The addresses that are left alone for longer than usual, for whoever asks why nothing happens.

Invariant: costs the same however many there are: counted all, shown those that failed last.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Final

from agent.modules.attempts import ANSWERED
from agent.modules.frontier.pace import is_strike
from agent.modules.frontier.queues import AddressQueue
from agent.pipeline.messages import FetchEnded

__all__ = ["SHOWN", "BackedOff", "BackingOff"]

SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class BackedOff:
    """One address that rests longer because of what it answered, or did not."""

    address: str
    host: str  # that was asked last
    reason: str
    strikes: int
    until_s: float  # monotonic


class BackingOff:
    """What the frontier notes of them."""

    def __init__(self) -> None:
        self._by_address: dict[str, BackedOff] = {}

    def __len__(self) -> int:
        return len(self._by_address)

    def note(self, address: AddressQueue, ended: FetchEnded) -> None:
        """Take note of the end of a request, after the rest that follows was computed."""
        self._by_address.pop(address.name, None)
        if not address.strikes and ended.retry_after_s is None:
            return
        if is_strike(ended) or ended.retry_after_s is not None:
            reason = f"status {ended.status}" if ended.outcome in ANSWERED else ended.outcome
            if ended.retry_after_s is not None:
                reason += f", Retry-After {ended.retry_after_s:.0f} s"
        else:
            reason = "after errors"
        self._by_address[address.name] = BackedOff(
            address.name, ended.host, reason, address.strikes, address.not_before_s
        )

    def forget(self, address: str) -> None:
        """Let go of an address that nothing is left of."""
        self._by_address.pop(address, None)

    def last(self) -> tuple[BackedOff, ...]:
        """Return those that failed last."""
        return tuple(islice(reversed(self._by_address.values()), SHOWN))

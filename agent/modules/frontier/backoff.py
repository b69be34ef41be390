"""The addresses that are left alone for longer than usual: for a restart, and for status.

They are in the ledger by the wall clock, since no other one runs while the process is dead. A
clock that was set wrongly meanwhile makes a rest shorter or longer, but never longer than the
longest that there is.
Invariant: costs the same however many there are: counted all, shown those that failed last.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from agent.modules.frontier.crawl_delay import is_first_fault, is_strike
from agent.modules.frontier.gates import Gate
from agent.modules.frontier.queues import AddressQueue, HostQueue
from agent.modules.limits import Politeness
from agent.modules.retry import ANSWERED
from agent.pipeline.ledger import AddressBackoff, Ledger
from agent.pipeline.messages.requests import FetchAnswer, Tick
from shared.frozen import frozen

__all__ = ["SHOWN", "BackedOff", "BackingOff", "WallClock"]

SHOWN: Final = 10
_HOST: Final = "host "
_WHOLE: Final = "shared "
REMEMBERED_MS: Final = 86_400_000
"""A rest that was over so long ago no longer says anything of an address."""


@frozen
class BackedOff:
    """One address that rests longer because of its answer, or for want of one."""

    address: str
    host: str  # that was asked last
    reason: str
    strikes: int
    until_s: float  # monotonic
    rest_s: float = 0.0  # between two requests


class BackingOff:
    """Notes of the frontier on them."""

    def __init__(self, ledger: Ledger, wall: WallClock) -> None:
        """Remember what the process before this one noted."""
        self._ledger = ledger
        self._wall = wall
        self._by_address: dict[str, BackedOff] = {}
        self._before = {rest.address: rest for rest in ledger.rests()}

    def __len__(self) -> int:
        return len(self._by_address) + sum(1 for _ in self._of_before())

    def tell_time(self, tick: Tick) -> None:
        """Learn what the two clocks say."""
        if not self._wall.known:
            for address, rest in list(self._before.items()):
                if rest.until_ms < tick.epoch_ms - REMEMBERED_MS:
                    del self._before[address]
                    self._ledger.forget_rest(address)
        self._wall.tell(tick)

    def resume(self, address: AddressQueue, now_s: float, longest_s: float) -> None:
        """Restore the rest of an address from before the restart.

        longest_s: no rest lasts longer. To be called after `tell_time`.
        """
        rest = self._before.pop(address.name, None)
        if rest is None or not self._wall.known:
            return
        left_s = min(self._wall.at_s(rest.until_ms) - now_s, longest_s)
        address.strikes = max(address.strikes, rest.strikes)
        address.not_before_s = max(address.not_before_s, now_s + left_s)
        self._by_address[address.name] = BackedOff(
            rest.address, rest.host, rest.reason, address.strikes, address.not_before_s
        )

    def resume_host(self, host: HostQueue, now_s: float, longest_s: float) -> None:
        """Restore the back-off of a host from before the restart."""
        rest = self._before.pop(_of_host(host.name), None)
        if rest is None or not self._wall.known:
            return
        left_s = min(self._wall.at_s(rest.until_ms) - now_s, longest_s)
        if left_s > 0:
            host.not_before_s = max(host.not_before_s, now_s + left_s)
            host.asks, host.asks_since_s = rest.reason, now_s

    def note(
        self, address: AddressQueue, ended: FetchAnswer, asker: HostQueue | None = None
    ) -> BackedOff | None:
        """Take note of the end of a request, after the rests that follow were computed.

        asker: the host for which it was; where it asks for more than its address rests, that is
        kept of the host alone.
        """
        known = self._by_address.pop(address.name, None)
        if ended.retry_after_s is None and (
            not address.strikes or is_first_fault(ended, address.strikes)
        ):
            if known is not None:
                self._ledger.forget_rest(address.name)
            return None
        if is_strike(ended) or ended.retry_after_s is not None:
            reason = f"status {ended.status}" if ended.outcome in ANSWERED else ended.outcome
            if ended.retry_after_s is not None:
                reason += f", Retry-After {ended.retry_after_s:.0f} s"
        else:
            reason = "after errors"
        own = asker is not None and ended.retry_after_s is not None
        until_s = address.not_before_s
        if own and asker is not None and asker.not_before_s > until_s:
            until_s = asker.not_before_s
            if self._wall.known:
                until_ms = self._wall.epoch_ms(until_s)
                name = _of_host(asker.name)
                self._ledger.keep_rest(AddressBackoff(name, asker.name, reason, 0, until_ms))
        one = BackedOff(
            address.name,
            ended.due.host,
            reason,
            address.strikes,
            until_s,
            max(address.rest_s, until_s - ended.ended_s) if own else address.rest_s,
        )
        self._by_address[address.name] = one
        if self._wall.known:
            until_ms = self._wall.epoch_ms(address.not_before_s)
            self._ledger.keep_rest(
                AddressBackoff(one.address, one.host, reason, one.strikes, until_ms)
            )
        return one

    def note_gate(self, gate: Gate, ended: FetchAnswer, politeness: Politeness) -> None:
        """Keep the back-off of a shared address for a restart, when it changes."""
        strikes = gate.strikes_kept(politeness)
        if strikes == gate.kept:
            return
        gate.kept = strikes
        name = _WHOLE + gate.address
        if not strikes:
            self._ledger.forget_rest(name)
        elif self._wall.known:
            reason = f"status {ended.status}" if ended.outcome in ANSWERED else ended.outcome
            until_ms = self._wall.epoch_ms(gate.not_before_s)
            host = ended.due.host
            self._ledger.keep_rest(AddressBackoff(name, host, reason, strikes, until_ms))

    def resume_gate(self, gate: Gate, now_s: float, longest_s: float) -> None:
        """Restore the back-off of a shared address from before the restart."""
        rest = self._before.pop(_WHOLE + gate.address, None)
        if rest is not None and self._wall.known:
            left_s = min(self._wall.at_s(rest.until_ms) - now_s, longest_s)
            gate.strikes = max(gate.strikes, rest.strikes)
            gate.not_before_s = max(gate.not_before_s, now_s + left_s)
            gate.kept = rest.strikes

    def forget(self, address: str) -> None:
        """Drop an address without jobs."""
        if self._by_address.pop(address, None) is not None:
            self._ledger.forget_rest(address)

    def forget_host(self, name: str) -> None:
        """Drop the back-off of a host, which is over."""
        self._ledger.forget_rest(_of_host(name))

    def of_address(self, address: str) -> BackedOff | None:
        """Return what is known of an address; None: it does not rest for longer."""
        return self._by_address.get(address)

    def last(self) -> tuple[BackedOff, ...]:
        """Return those that failed last."""
        return tuple(islice(chain(reversed(self._by_address.values()), self._of_before()), SHOWN))

    def _of_before(self) -> Iterator[BackedOff]:
        """Yield those of before the restart whose addresses have had no turn since."""
        for rest in self._before.values() if self._wall.known else ():
            if not rest.address.startswith((_HOST, _WHOLE)):
                until_s = self._wall.at_s(rest.until_ms)
                yield BackedOff(rest.address, rest.host, rest.reason, rest.strikes, until_s)


def _of_host(name: str) -> str:
    """Return under what the ledger keeps the rest of a host; no address is written so."""
    return _HOST + name


class WallClock:
    """Turns times of the monotonic clock into times of the wall clock, and back."""

    def __init__(self) -> None:
        """Know nothing, until the first tick."""
        self.known = False
        self._ahead_s = 0.0  # of the monotonic one

    def tell(self, tick: Tick) -> None:
        """Learn what the two clocks say."""
        self.known = True
        self._ahead_s = tick.epoch_ms / 1000 - tick.now_s

    def epoch_ms(self, at_s: float) -> int:
        """Return a time of the monotonic clock as milliseconds since 1970."""
        return round((at_s + self._ahead_s) * 1000)

    def at_s(self, epoch_ms: int) -> float:
        """Return a time of the wall clock as the monotonic one will show it, if it is not set."""
        return epoch_ms / 1000 - self._ahead_s

"""Gates of shared addresses: the rate of a whole address, beside the clocks of its domains.

The interval between two requests to a shared address is that of one clock over the square root of
its registrable domains, at least a floor, times the agents that divide its rate. It is twice as
long for each error, 429 or 5xx, and half as long again after eight answers; requests that were
under way together count once. A slow answer of any host makes it longer, as that of an address.

Clocks that are ready wait at the gate in a ring; the gate itself is in the scheduler, so an event
costs the same however many domains there are. Invariant: no request to a shared address begins
but through its gate. A gate also stands before the new clocks of an address whose rule changes:
it is closed while a request of an old clock is under way, and for an interval after it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from agent.modules.frontier.crawl_delay import MAX_STRIKES, is_strike
from agent.modules.limits import Politeness
from agent.modules.retry import ANSWERED
from agent.pipeline.messages.requests import FetchAnswer
from agent.pipeline.shared_addresses import SharedRule, SharedRules, address_of, clock_of

if TYPE_CHECKING:
    from agent.modules.frontier.queues import AddressQueue

__all__ = ["Gate", "Gates"]

GOOD_ANSWERS: Final = 8  # that take one strike back
SLOW_DECAY: Final = 0.9  # of the memory of slow answers, with each faster one


@dataclass(slots=True, eq=False)
class Gate:
    """The rate of one shared address. rule None: it is one clock again, as soon as this opens."""

    address: str
    rule: SharedRule | None
    ring: dict[int, AddressQueue | None] = field(default_factory=dict)  # None: it is unloaded
    not_before_s: float = 0.0
    started_s: float = -math.inf  # the last request
    last: object = None  # the turn that it was given to
    strikes: int = 0
    struck_s: float = -math.inf
    good: int = 0
    kept: int = 0  # strikes that the ledger has
    slow_s: float = 0.0  # how long the slowest of the last answers took
    waits_for: set[str] = field(default_factory=set)  # old clocks with a request under way
    listed: bool = False
    resting: Any = None

    def interval_s(self, politeness: Politeness) -> float:
        """Return the time between two requests of this agent to the address."""
        base_s = max(politeness.interval_s, politeness.times_last * self.slow_s)
        base_s = min(base_s, max(politeness.interval_s, politeness.backoff_cap_s))
        if self.rule is None:
            return base_s
        root = math.sqrt(self.rule.domains)
        share_s = max(base_s / root, min(self.rule.least_interval_s, base_s)) * self.rule.shares
        if not self.strikes:
            return share_s
        longer_s = max(share_s, politeness.backoff_least_s / root) * 2.0**self.strikes
        return max(share_s, min(longer_s, politeness.backoff_cap_s))

    def start(self, turn: object, now_s: float, politeness: Politeness) -> None:
        """Note that the request of a turn begins."""
        self.started_s, self.last = now_s, turn
        self.not_before_s = max(self.not_before_s, now_s + self.interval_s(politeness))

    def give_back(self, turn: object) -> None:
        """Take back the last start, if it was of this turn, whose request was not sent."""
        if self.last is turn and not self.strikes and not self.waits_for:
            self.not_before_s = self.started_s

    def end(self, ended: FetchAnswer, politeness: Politeness, *, ours: bool) -> None:
        """Learn from the end of a request. ours: it is our network that is down."""
        took_s = ended.elapsed_ms / 1000
        answered = ended.outcome in ANSWERED
        if answered:
            self.slow_s = max(took_s, self.slow_s * SLOW_DECAY + took_s * (1 - SLOW_DECAY))
        if is_strike(ended) and (answered or not ours):
            if ended.ended_s - took_s >= self.struck_s:
                self.strikes = min(self.strikes + 1, MAX_STRIKES)
                self.struck_s, self.good = ended.ended_s, 0
        elif answered and self.strikes:
            self.good += 1
            if self.good >= GOOD_ANSWERS:
                self.strikes, self.good = self.strikes - 1, 0
        since_s = self.started_s + self.interval_s(politeness)
        self.not_before_s = max(self.not_before_s, since_s)

    def strikes_kept(self, politeness: Politeness) -> int:
        """Return its strikes and its slowness together, as strikes, for a restart."""
        if self.rule is None:
            return 0
        usual_s = Gate(self.address, self.rule).interval_s(politeness)
        now_s = self.interval_s(politeness)
        return math.ceil(math.log2(now_s / usual_s) - 1e-9) if usual_s and now_s > usual_s else 0


class Gates:
    """The gates of one frontier, and the rules by which hosts have clocks."""

    def __init__(self, rules: SharedRules) -> None:
        self.rules = rules
        self.fresh: list[Gate] = []  # whose back-off of before a restart was not looked up
        self._gates: dict[str, Gate] = {}

    def clock(self, address: str, host: str) -> str:
        """Return the clock of a host at an address; one of another rule will do."""
        address = address_of(address)
        return clock_of(address, host, self.rules) if address else address

    def of(self, clock: str) -> Gate | None:
        """Return the gate before a clock; None: it has none."""
        if not self._gates and not self.rules:
            return None
        address = address_of(clock)
        gate = self._gates.get(address)
        if gate is not None or address == clock:
            return gate
        return self._add(address)

    def open(self, address: str) -> Gate:
        """Return the gate of an address whose rule changes."""
        gate = self._gates.get(address) or self._add(address)
        gate.rule = self.rules.get(address)
        return gate

    def forget(self, gate: Gate) -> None:
        """Drop the gate of an address that is one clock again."""
        self._gates.pop(gate.address, None)

    def __iter__(self) -> Iterator[Gate]:
        return iter(self._gates.values())

    def _add(self, address: str) -> Gate:
        gate = self._gates[address] = Gate(address, self.rules.get(address))
        self.fresh.append(gate)
        return gate

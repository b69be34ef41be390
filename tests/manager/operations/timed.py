"""A world in which fetching takes time, so that the manager's clock sees what agents do."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from manager.distance.line_sums import UnitSum
from manager.operations.rounds.rounds import start_round
from tests.manager.operations.world import ADMIN, World, changed_something

__all__ = ["Lie", "TimedWorld"]

Lie = Callable[[UnitSum], UnitSum]

SLOWER: float = 100.0
"""Over the distances of the world: a probe takes some calls, a crawl a minute or two."""
CALLS_MS = 5_000
POLLS_S = 60
IDLE_TURNS = 8  # longer than what a round waits for at its end


class TimedWorld(World):
    """A world whose agents need as long as their true distances say, all their units at once.

    lie: what the agent `liar` writes in its logs in the place of what it measured.
    """

    lie: Lie | None = None
    liar = "b"

    def distance(self, name: str, unit: str) -> float:
        """Return the true ms per KByte."""
        return SLOWER * super().distance(name, unit)

    def work(self, name: str, most: int | None = None) -> int:
        """Fetch what is through by now, and report it; return how many units are under way."""
        agent = self.agents[name]
        begun = self._begun.setdefault(name, {})
        fetchable = agent.fetchable(self.true_ms)
        for unit, work in fetchable.items():
            key = unit, work.key, work.round
            fetched = min(100, work.max_transfer) if work.max_transfer else 100
            end_ms = begun.setdefault(
                key, self.true_ms + round(fetched * self.distance(name, unit))
            )
            if end_ms <= self.true_ms:
                self.fetch(name, unit)
        if not agent.fetchable(self.true_ms):
            self.report(name)
        return len(fetchable)

    def run(self, *, turns: int = 200, names: Iterable[str] | None = None) -> int:
        """Let everybody work until nothing happens any more, and pass over times of waiting."""
        idle = 0
        for turn in range(turns):
            self.wait(self._step_s())
            self.resolve()
            did_something = changed_something(self.tick())
            under_way = 0
            for name in self.agents if names is None else names:
                self.call(name)
                under_way += self.work(name)
                self.call(name)
            idle = 0 if did_something or under_way else idle + 1
            if idle == IDLE_TURNS:
                return turn
        raise AssertionError(f"still busy after {turns} turns")

    def _step_s(self) -> float:
        """Return until when nothing is heard of any unit."""
        ends = [
            end_ms
            for name, begun in self._begun.items()
            for (unit, key, number), end_ms in begun.items()
            if (work := self.agents[name].fetchable(self.true_ms).get(unit)) is not None
            and (work.key, work.round) == (key, number)
        ]
        left_ms = min(ends, default=0) - self.true_ms
        return min(POLLS_S, max(1, -(-left_ms // CALLS_MS)) * CALLS_MS / 1000)

    @property
    def _begun(self) -> dict[str, dict[tuple[str, str, int], int]]:
        return self.__dict__.setdefault("begun", {})  # type: ignore[no-any-return]  # its own

    def report(self, name: str) -> None:
        """Send what was fetched as a log, with the lie of a liar."""
        if self.lie is not None and name == self.liar:
            agent = self.agents[name]
            agent.lines = [self.lie(one) for one in agent.lines]
        super().report(name)

    def crawl_round(self) -> None:
        """Let a round of probes and crawls pass."""
        start_round(self.db, "prices", ADMIN, self.now_ms, policy=self.policy)
        self.run(turns=2_000)

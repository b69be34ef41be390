"""A crawl at the default permits and poll times, in fake time, while agents come and go.

The manager's operations on a real database, with agents that follow the protocol and fetch a page
of each address in each interval. Two rhythms: `minutes`, one agent leaves or returns each minute,
half of them are away at most; `hours`, one leaves each hour, for a quarter of a permit and for
longer than permit and grace by turns. Who is killed has no permit when it returns; who is stopped
fetches nothing; who is cut off fetches until its permit ends.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.churn.absences import KINDS
from benchmarks.progress import say
from manager.db.engine import Database
from manager.db.hosts import hosts as host_rows
from manager.db.measurement import measurements
from manager.db.migrate import migrate
from manager.operations.health.consistency_checks import check
from manager.operations.policy import DEFAULT_POLICY
from manager.operations.rounds.rounds import round_detail, start_round
from tests.manager.operations.world import ADMIN, World

__all__ = ["fake_time_result"]

STEP_S: Final = 60
PAGES_A_STEP: Final = 3
"""Of each address, at the default interval."""
PAGES_MEAN: Final = 600
MOST_STEPS: Final = 10_000


@dataclass
class _Life:
    """An agent's life. kind: how it is away, empty: it is there. back_ms: when it returns."""

    name: str
    kind: str = ""
    back_ms: float = 0.0
    next_call_ms: int = 0
    fetched: dict[str, int] = field(default_factory=dict)


class _Crawl:
    """One round: requests counts pages, those that are fetched again, too."""

    def __init__(self, world: World, sizes: Mapping[str, int], rhythm: str, seed: int) -> None:
        self.world = world
        self.sizes = sizes
        self.rhythm = rhythm
        self.random = random.Random(seed)
        self.lives = [_Life(name) for name in world.agents]
        self.requests = self.absences = 0
        self.next_change_ms = world.now_ms

    def run(self) -> float:
        """Crawl until the round is over; return how long it took, seconds."""
        world, begun_ms = self.world, self.world.now_ms
        for _ in range(MOST_STEPS):
            world.wait(STEP_S)
            self._change()
            world.tick()
            for life in self.lives:
                self._act(life)
            detail = round_detail(world.db, 1, with_plan=False)
            if detail.round.state == "finished":
                assert detail.round.elapsed_ms is not None
                return detail.round.elapsed_ms / 1000
        raise AssertionError(f"not finished after {(world.now_ms - begun_ms) / 3.6e6:.0f} h")

    def _act(self, life: _Life) -> None:
        world, agent = self.world, self.world.agents[life.name]
        if life.kind in ("killed", "stopped"):
            return
        if not life.kind and world.now_ms >= life.next_call_ms:
            world.report(life.name)
            world.call(life.name)
            world.check_exclusive()
            life.next_call_ms = world.now_ms + round(1000 * world.policy.sync_interval_s)
            life.fetched = {unit: n for unit, n in life.fetched.items() if unit in agent.listed}
        for unit, work in agent.fetchable(world.true_ms).items():
            if work.kind == "crawl":
                before = life.fetched.get(unit, 0)
                life.fetched[unit] = done = min(before + PAGES_A_STEP, self.sizes[unit])
                self.requests += done - before
                if done < self.sizes[unit]:
                    continue
            world.fetch(life.name, unit)

    def _change(self) -> None:
        """Take agents away and bring them back, as the rhythm says."""
        now_ms, crawls = self.world.now_ms, self.requests > 0
        for life in self.lives:
            if life.kind and now_ms >= life.back_ms:
                self._return(life)
        if not crawls or now_ms < self.next_change_ms or self.rhythm == "undisturbed":
            return
        away = [life for life in self.lives if life.kind]
        if self.rhythm == "minutes":
            self.next_change_ms = now_ms + 60_000
            life = self.random.choice(self.lives)
            if life.kind:
                self._return(life)
            elif 2 * len(away) < len(self.lives):
                self._leave(life, float("inf"))
            return
        self.next_change_ms = now_ms + 3_600_000
        permit_s, grace_s = self.world.policy.permit_s, self.world.policy.grace_s
        length_s = 1.5 * (permit_s + grace_s) if self.absences % 2 else permit_s / 4
        there = [life for life in self.lives if not life.kind]
        self._leave(there[self.absences % len(there)], now_ms + 1000 * length_s)

    def _leave(self, life: _Life, back_ms: float) -> None:
        life.kind, life.back_ms = KINDS[self.absences % len(KINDS)], back_ms
        self.absences += 1

    def _return(self, life: _Life) -> None:
        if life.kind == "killed":
            self.world.agents[life.name].reboot()
        life.kind, life.next_call_ms = "", 0


def _lost(database: Database, sizes: Mapping[str, int]) -> int:
    """Return how many pages no accepted line of the crawl speaks of."""
    with database.read() as tx:
        keys = {one.id: one.key for one in host_rows.units_of_hosts(tx, sizes)}
        accepted: Counter[str] = Counter()
        for row in measurements.crawled_sums(tx, 1, keys):
            accepted[keys[row.unit_id]] += row.requests
    return sum(max(0, size - accepted[unit]) for unit, size in sizes.items())


def fake_time_result(folder: Path, agents: int, hosts: int, seed: int) -> dict[str, float]:
    """Run the crawl undisturbed and in both rhythms; return the figures."""
    found: dict[str, float] = {
        "fake_permit_s": DEFAULT_POLICY.permit_s,
        "fake_grace_s": DEFAULT_POLICY.grace_s,
        "fake_poll_s": DEFAULT_POLICY.sync_interval_s,
        "fake_lost": 0,
    }
    undisturbed_s = 0.0
    for rhythm in ("undisturbed", "minutes", "hours"):
        database = Database(f"sqlite:///{folder / rhythm}.db")
        migrate(database)
        world = World(database, DEFAULT_POLICY)
        names = [f"host{number}.example" for number in range(hosts)]
        sizes_of = random.Random(seed)
        sizes = {
            f"http://{name}:80/": max(1, round(PAGES_MEAN * sizes_of.lognormvariate(-0.08, 0.4)))
            for name in names
        }
        world.join(*(f"agent{number}.example" for number in range(agents)))
        world.hosts(*names)
        world.sizes.update(sizes)
        start_round(database, "default", ADMIN, world.now_ms, policy=world.policy)
        crawl = _Crawl(world, sizes, rhythm, seed)
        took_s = crawl.run()
        pages = sum(sizes.values())
        lost = _lost(database, sizes)
        problems = check(database)
        database.close()
        found["fake_lost"] += lost + len(problems)
        if rhythm == "undisturbed":
            undisturbed_s = found["fake_undisturbed_s"] = took_s
            continue
        found[f"fake_{rhythm}_time_ratio"] = round(took_s / undisturbed_s, 3)
        found[f"fake_{rhythm}_absences"] = crawl.absences
        found[f"fake_{rhythm}_refetched_share"] = round((crawl.requests - pages) / pages, 4)
        say(f"  {rhythm}: {took_s / 3600:.2f} h, {crawl.absences} absences")
    return found

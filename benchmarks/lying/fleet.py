"""A fleet whose truth is known: its logs go through the manager's intake, its plans are real.

Each host has pages of known sizes, each agent a known distance to each host; a request takes its
page's size times the distance, with noise, and rests afterwards. Time passes: an agent fetches up
to `slots` units side by side, each takes as long as its requests and rests do, and the manager
hears of its end as from a real agent, a few seconds later. A crawl begins where the agent's own
probe of the round ended, unless it `fetches_again` what the probe had. What an agent writes in its
log may be a lie. Owners and plans come from the database; what a plan costs is counted by the
truth.
"""

from __future__ import annotations

import asyncio
import gzip
import math
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.lying.lies import HONEST, Lie, Seen
from manager.db.engine import Database
from manager.db.hosts import hosts
from manager.db.planning import plan_inputs, plans
from manager.intake.logs.log_intake import LogIntake
from manager.operations.fleet.agents import agent_detail, list_agents
from manager.operations.fleet.contact import unsubscribe
from manager.operations.people.audit_log import audit_page
from manager.operations.policy import DEFAULT_POLICY
from manager.operations.rounds.rounds import current_round, make_plan, start_round
from manager.settings import read_settings
from manager.store import Layout, Rejected, Spool
from shared.frozen import frozen
from shared.wire.orders import OrderKind
from shared.wire.sync import FinishedUnit
from tests.manager.operations.world import ADMIN, POLICY, World, changed_something
from tests.manager.running import read_here

__all__ = ["Fleet", "Truth", "draw_truth"]

Floats = npt.NDArray[np.float64]

PROBE_PAGES: Final = 20
NOISE: Final = 0.3
"""Of one request, in natural logarithms."""
PLANNED_BY: Final = "prices"

FLEET_POLICY: Final = replace(
    POLICY,
    probe_pages=PROBE_PAGES,
    parallel_probes=1000,
    tick_batch_rows=5000,
    max_full_probe_pairs=DEFAULT_POLICY.max_full_probe_pairs,
)


STEP_S: Final = 6.0
"""Between two looks at who is through: as soon as a real agent calls when there is news."""
STEPS_A_TICK: Final = 3
MEAN_BYTES: Final = 100_000
"""Of a page, on the mean: a unit takes about a minute."""

_STATE: Final = ("agents", "address", "true_ms", "_closed", "_rng", "_poll_ms")


@frozen
class Fetched:
    """A unit that is being fetched. ms: of each request, in truth. first: pages before these."""

    first: int
    end_ms: int
    round: int
    max_transfer: int
    ms: tuple[int, ...]


@frozen
class _Part:
    """Lines of a log of one unit. limit: of its order. probed: behind those of its probe."""

    unit: str
    round: int
    limit: int
    probed: bool
    lines: list[Seen]


class Truth:
    """sizes: of each host, bytes of its pages. distance: (agents, hosts) ms per KByte."""

    def __init__(self, sizes: list[npt.NDArray[np.int64]], distance: Floats) -> None:
        self.sizes = sizes
        self.distance = distance
        self.volume_kb: Floats = np.array([pages.sum() / 1000 for pages in sizes])

    @property
    def hosts(self) -> list[str]:
        """Return their names."""
        return [f"h{number}.jp" for number in range(len(self.sizes))]

    @property
    def agents(self) -> list[str]:
        """Return their names."""
        return [f"agent{number}" for number in range(len(self.distance))]

    def with_slow(self, agent: int, factor: float) -> Truth:
        """Return the same world with one agent farther from every host."""
        distance = self.distance.copy()
        distance[agent] *= factor
        return Truth(self.sizes, distance)

    def makespan_ms(self, owner: dict[str, str]) -> float:
        """Return the greatest true cost of an agent, by unit and owner."""
        load = dict.fromkeys(self.agents, 0.0)
        for number, host in enumerate(self.hosts):
            name = owner[f"http://{host}:80/"]
            agent = self.agents.index(name)
            load[name] += self.volume_kb[number] * self.distance[agent, number]
        return max(load.values())


def draw_truth(agents: int, hosts: int, seed: int) -> Truth:
    """Draw a world as the source's, smaller: agents differ by levels, pairs by noise of 0.5."""
    rng = np.random.default_rng(seed)
    sizes = []
    for _ in range(hosts):
        pages = int(np.clip(round(math.exp(rng.normal(3.2, 0.3))), 8, 80))
        mean = MEAN_BYTES * math.exp(rng.normal(0, 0.4))
        sizes.append(np.maximum(200, mean * np.exp(rng.normal(0, 0.7, pages))).astype(np.int64))
    level = rng.normal(math.log(20), 0.35, (agents, 1))
    distance = np.exp(level + rng.normal(0, 0.5, hosts) + rng.normal(0, 0.5, (agents, hosts)))
    return Truth(sizes, distance)


class Fleet(World):
    """Agents that crawl a truth and log it, one of them with a lie."""

    def __init__(
        self,
        db: Database,
        folder: Path,
        truth: Truth,
        seed: int,
        *,
        slots: int = 200,
        rest_ms: int = 0,
        fetches_again: bool = False,
    ) -> None:
        super().__init__(db, FLEET_POLICY)
        self.fetches_again = fetches_again
        self.folder = folder
        self.seed = seed
        self.truth = truth
        self.slots = slots
        self.rest_ms = rest_ms
        self.lies: dict[str, Lie] = {}
        self._rng = np.random.default_rng([seed, 1])
        self._lines: dict[str, list[_Part]] = {}
        # By agent, unit and round: pages of a probe, lines and bytes that its log said of them.
        self._probes: dict[tuple[str, str, int], tuple[int, int, int]] = {}
        self._closed: dict[str, int] = {}
        self._poll_ms: dict[str, int] = {}
        self._fetching: dict[str, dict[str, Fetched]] = {}
        settings = read_settings(folder, overrides=["limits.reserve_bytes=0"])
        layout = Layout(folder)
        layout.create()
        spool = Spool(layout.spool)
        self._intake = LogIntake(
            db,
            layout,
            spool,
            Rejected(layout.rejected, 1, 1),
            read_here,
            self.policy,
            settings.limits,
            settings.intake,
            lambda: self.now_ms,
        )

    def state(self) -> dict[str, Any]:
        """Return what the fleet knows beside the database."""
        return {name: getattr(self, name) for name in _STATE}

    def go_on_from(self, state: dict[str, Any]) -> None:
        """Know what another fleet knew."""
        for name, value in state.items():
            setattr(self, name, value)

    def begin(self) -> None:
        """Enrol the agents and import the hosts."""
        self.join(*self.truth.agents)
        self.hosts(*self.truth.hosts)

    def run(self, *, turns: int = 200, names: Iterable[str] | None = None) -> int:
        """Run all agents until nothing more happens; return the number of turns."""
        for turn in range(turns):
            self.wait(STEP_S)
            self.resolve()
            did_something = turn % STEPS_A_TICK == 0 and changed_something(self.tick())
            busy = [self._go_on(name) for name in self.agents]
            if not did_something and not any(busy):
                self.wait(self.policy.log_timeout_s + 1)
                for name in self.agents:
                    self._call(name)
                if not changed_something(self.tick()) and not any(map(self._start, self.agents)):
                    return turn
        raise AssertionError(f"still busy after {turns} turns")

    def _go_on(self, name: str) -> bool:
        """Fetch for one step; return whether there is something to fetch."""
        fetching = self._fetching.setdefault(name, {})
        listed = self.agents[name].fetchable(self.true_ms)
        for unit in [unit for unit in fetching if unit not in listed]:
            del fetching[unit]
        ended = [unit for unit, one in fetching.items() if one.end_ms <= self.true_ms]
        for unit in sorted(ended, key=lambda unit: fetching[unit].end_ms):
            self.fetch(name, unit)
        if ended or self.true_ms >= self._poll_ms.get(name, 0):
            self._call(name)
        is_busy = self._start(name)
        if self._lines.get(name) and not is_busy:
            self.report(name)
        return is_busy or bool(ended)

    def _call(self, name: str) -> None:
        self.call(name)
        self._poll_ms[name] = self.true_ms + round(self.policy.sync_interval_s * 1000)

    def _start(self, name: str) -> bool:
        """Begin to fetch what is listed, as far as there are slots; return whether any is."""
        fetching = self._fetching.setdefault(name, {})
        free_ms = max((one.end_ms for one in fetching.values()), default=0)
        for unit, work in sorted(self.agents[name].fetchable(self.true_ms).items()):
            if unit not in fetching and (len(fetching) < self.slots or self.slots == 1):
                began_ms = max(self.true_ms, free_ms) if self.slots == 1 else self.true_ms
                probe = self._probes.get((name, unit, work.round)) if work.probed else None
                first = probe[0] if probe is not None else 0
                ms = self._times(name, unit, work.max_transfer, first)
                end_ms = began_ms + sum(ms) + len(ms) * self.rest_ms
                fetching[unit] = Fetched(first, end_ms, work.round, work.max_transfer, ms)
                free_ms = end_ms
        return bool(fetching)

    def _times(self, name: str, unit: str, limit: int, first: int) -> tuple[int, ...]:
        number = self._number(unit)
        sizes = self.truth.sizes[number][first : limit or None]
        distance = self.truth.distance[self.truth.agents.index(name), number]
        noise = np.exp(self._rng.normal(-(NOISE**2) / 2, NOISE, len(sizes)))
        return tuple(np.round(sizes / 1000 * distance * noise).astype(int).tolist())

    def _number(self, unit: str) -> int:
        return self.truth.hosts.index(unit.removeprefix("http://").removesuffix(":80/"))

    def fetch(self, name: str, unit: str, kbytes: int = 0) -> None:
        """End the fetching of a unit, and keep the lines for the log."""
        agent = self.agents[name]
        work = agent.fetchable(self.true_ms)[unit]
        fetched = self._fetching[name].pop(unit)
        sizes = self.truth.sizes[self._number(unit)]
        lie = self.lies.get(name, HONEST)
        kind: OrderKind = "probe" if work.max_transfer else "crawl"
        lines = [
            line
            for request, ms in enumerate(fetched.ms, fetched.first)
            for line in lie(
                Seen(
                    unit,
                    request,
                    int(sizes[request]),
                    ms,
                    kind,
                    work.round,
                    len(fetched.ms),
                    sum(fetched.ms),
                )
            )
        ]
        part = _Part(unit, work.round, work.max_transfer, bool(fetched.first), lines)
        self._lines.setdefault(name, []).append(part)
        agent.done.add((unit, work.key, work.round))
        pages, size_bytes = len(lines), sum(line.size_bytes for line in lines)
        if fetched.first:
            _, pages_before, bytes_before = self._probes[name, unit, work.round]
            pages, size_bytes = pages + pages_before, size_bytes + bytes_before
        elif kind == "probe" and not self.fetches_again:
            self._probes[name, unit, work.round] = len(fetched.ms), pages, size_bytes
        claim = FinishedUnit(
            unit=unit, kind=kind, round=work.round, pages=pages, response_bytes=size_bytes
        )
        agent.unanswered.append(claim)
        agent.claims[unit, work.kind, work.round] = claim
        agent.requests += len(fetched.ms)

    def report(self, name: str) -> None:
        """Send what an agent has fetched as a log, through the manager's intake."""
        units = self._lines.pop(name, [])
        if not units:
            return
        self._closed[name] = minute = self._closed.get(name, 0) + 1
        closed = datetime(2001, 9, 1, tzinfo=UTC) + timedelta(minutes=minute)
        body = f"{name}.{closed:%Y%m%d%H%M}\n".encode() + gzip.compress(_text(units), 1)
        identity = self.agents[name].identity

        async def chunks() -> AsyncIterator[bytes]:
            yield body

        async def enter() -> None:
            await self._intake.enter(identity, await self._intake.receive(chunks(), len(body)))

        asyncio.run(enter())

    def crawl_round(self, method: str = PLANNED_BY) -> None:
        """Run a round, from its probes to its last log."""
        start_round(self.db, method, ADMIN, self.now_ms, policy=self.policy)
        self.run(turns=20_000)
        if current_round(self.db) is not None:
            raise AssertionError("the round did not end")

    def owners(self) -> dict[str, str]:
        """Return who owns which unit."""
        names, keys = self._names()
        with self.db.read() as tx:
            rows = plan_inputs.plan_units(tx, states=("placed", "probing"))
        return {keys[row.unit_id]: names[row.owner or 0] for row in rows}

    def planned(self, method: str = PLANNED_BY) -> float:
        """Return the true makespan of a plan that the manager makes now; nothing moves."""
        number = make_plan(self.db, method, ADMIN, self.now_ms, policy=self.policy)
        names, keys = self._names()
        owner = self.owners()
        with self.db.read() as tx:
            for unit, _, to_agent in plans.moves_of(tx, number):
                owner[keys[unit]] = names[to_agent]
        return self.truth.makespan_ms(owner)

    def _names(self) -> tuple[dict[int, str], dict[int, str]]:
        """Return agents by number, and units by number."""
        with self.db.read() as tx:
            ids = hosts.ids_of_units(tx, [f"http://{host}:80/" for host in self.truth.hosts])
        names = {one.row.id: one.row.name for one in list_agents(self.db, self.now_ms)}
        return names, {number: key for key, number in ids.items()}

    def leave(self, name: str) -> None:
        """Unsubscribe an agent."""
        unsubscribe(self.db, self.agents[name].identity, self.now_ms)

    def suspicion(self, name: str) -> str:
        """Return why an agent is suspect, or that it was named in an alert; empty: neither."""
        reason = agent_detail(self.db, name, self.now_ms).view.row.suspect_reason
        rows = audit_page(self.db, limit=1000, subject=name)
        alerts = {row.action for row in rows if row.alert and row.action == "log.find-impossible"}
        return str(reason or ", ".join(alerts))

    def before_call(self) -> None:
        """Do nothing: the clock stands still while agents call."""


def _text(units: list[_Part]) -> bytes:
    parts = []
    for one in units:
        parts.append(f"#Round={one.round}\n#MaxTransfer={one.limit}\n")
        if one.probed:
            parts.append(f"#Probed={one.unit}\n")
        parts += (
            f'"{one.unit}p{line.request}",100,{line.size_bytes},{line.ms},"HTTP/1.1 200 OK\\r\\n"\n'
            for line in one.lines
        )
    return "".join(parts).encode()

"""Look at probes: who measured what and when, what is ordered, what nobody has measured lately.

Invariant: of pairs only a page is ever loaded. What is measured and what is predicted stay apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from manager.db import agents, hosts, probe_views, rounds
from manager.db.engine import Database, Transaction
from manager.db.probe_views import ControlRow, OrderState, PairRow
from manager.errors import NotFoundError
from manager.operations.asked_probes import DAYS_MOST
from manager.operations.distances import DistanceView, distances_of
from manager.operations.host_views import HostFilter, list_hosts
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.errors import FormatError
from shared.frozen import frozen
from shared.urls import host_key
from shared.wire.server_list import complete_line

__all__ = [
    "AGE_DAYS",
    "PAIR_SORTS",
    "REACHED",
    "AgentCoverage",
    "Cell",
    "Coverage",
    "Matrix",
    "MatrixRow",
    "PairFilter",
    "coverage",
    "matrix",
    "pairs",
]

AGE_DAYS: Final = (1, 7, 30, 90)
PAIR_SORTS: Final = ("age", "distance")
REACHED: Final = {"": None, "reached": True, "unreachable": False}
PAGE_MOST: Final = 1000
DAY_MS: Final = 86_400_000


@frozen
class Cell:
    """How far a host is from an agent. state: measured, weak, unreachable, predicted; empty:
    nothing is known. order: of the newest order of the pair its state, and why it failed."""

    state: str
    ms_per_kb: float | None
    measured_ms: int | None
    order: str
    reason: str


@frozen
class MatrixRow:
    """A host with its owner, and a cell for each agent, in the order of `Matrix.agents`."""

    host: str
    owner: str
    cells: list[Cell]


@frozen
class Matrix:
    """A page of hosts beside some agents. matching: hosts; counted up to 10,000."""

    matching: int
    agents: list[str]
    rows: list[MatrixRow]


@frozen
class PairFilter:
    """agent: a name. host: its key or any URL on it. older_days: measured longer ago. reached: one
    of REACHED."""

    agent: str = ""
    host: str = ""
    older_days: float | None = None
    reached: str = ""


@frozen
class AgentCoverage:
    """What an agent has measured, of how many hosts; its open and failed orders.

    fresh: hosts that take part, measured so lately that no round probes them again. ages: how many
    are as old as between the limits of AGE_DAYS, and older than the last; of whatever it measured.
    suspect_reason: empty where it is sound.
    """

    agent: str
    measured: int
    fresh: int
    unreachable: int
    ages: list[int]
    waiting: int
    under_way: int
    failed: int
    suspect_since_ms: int | None
    suspect_reason: str


@frozen
class Coverage:
    """hosts: that take part; hosts_fresh: of which somebody has a fresh distance.

    fresh_days: what is fresh. round: whose orders are counted, and those for the one after it.
    """

    hosts: int
    hosts_fresh: int
    fresh_days: float
    round: int
    agents: list[AgentCoverage]
    controls: list[ControlRow]

    @property
    def pairs(self) -> int:
        """Return how many pairs of agent and host there are."""
        return self.hosts * len(self.agents)

    @property
    def pairs_fresh(self) -> int:
        """Return how many of them were measured lately."""
        return sum(one.fresh for one in self.agents)

    @property
    def ages(self) -> list[int]:
        """Return how old all distances are, as `AgentCoverage.ages`."""
        return [sum(one.ages[at] for one in self.agents) for at in range(len(AGE_DAYS) + 1)]


def matrix(
    db: Database,
    agent_names: Sequence[str],
    where: HostFilter | None = None,
    *,
    descending: bool = False,
    limit: int = 50,
    offset: int = 0,
    policy: Policy = DEFAULT_POLICY,
) -> Matrix:
    """Return a page of hosts, by name from its end, with their distances from some agents.

    Raises NotFoundError for an agent that does not exist.
    """
    found = list_hosts(
        db, where, sort="-domain" if descending else "domain", limit=limit, offset=offset
    )
    with db.read() as tx:
        numbers = {name: number for number, name in agents.names(tx).items()}
        missing = next((name for name in agent_names if name not in numbers), None)
        if missing is not None:
            raise NotFoundError(f"agent {missing}: there is none; see `prsm agents`")
        unit_of = hosts.ids_of_units(tx, [line.key for line in found.hosts])
        ids = list(unit_of.values())
        views = {(view.unit_id, view.agent_id): view for view in distances_of(tx, ids, policy)}
        orders = probe_views.newest_orders(tx, ids)
    rows = []
    for line in found.hosts:
        unit = unit_of.get(line.key, 0)
        pairs_of = [(unit, numbers[name]) for name in agent_names]
        cells = [_cell(views.get(pair), orders.get(pair)) for pair in pairs_of]
        rows.append(MatrixRow(line.key, line.owner or "", cells))
    return Matrix(found.matching, list(agent_names), rows)


def _cell(view: DistanceView | None, order: OrderState | None) -> Cell:
    waits, why = ("", "") if order is None or order.state == "done" else (order.state, order.reason)
    if view is None:
        return Cell("", None, None, waits, why)
    measured_ms = None if view.state == "predicted" else view.measured_ms
    return Cell(view.state, view.ms_per_kb, measured_ms, waits, why)


def pairs(
    db: Database,
    where: PairFilter,
    now_ms: int,
    *,
    sort: str = "age",
    limit: int = 50,
    offset: int = 0,
) -> list[PairRow]:
    """Return a page of what was measured. sort: age (the oldest first) or distance, `-` turns it.

    By distance only those of an agent or a host. Raises FormatError for another sort or filter,
    NotFoundError for an unknown agent or host.
    """
    if sort.removeprefix("-") not in PAIR_SORTS:
        raise FormatError(f"sort {sort[:40]!r}: must be one of {', '.join(PAIR_SORTS)}")
    if sort.endswith("distance") and not (where.agent or where.host):
        raise FormatError(
            "sort by distance: of all pairs it takes too long; name an agent or a host"
        )
    if where.reached not in REACHED:
        known = ", ".join(filter(None, REACHED))
        raise FormatError(f"reached {where.reached[:40]!r}: must be one of {known}")
    older = where.older_days
    if older is not None and not 0 <= older <= DAYS_MOST:
        raise FormatError(f"older than {older:g} days: must be 0 to {DAYS_MOST:,}")
    with db.read() as tx:
        return probe_views.pairs_page(
            tx,
            agent_id=_agent(tx, where.agent),
            unit_ids=_units(tx, where.host),
            before_ms=None if older is None else now_ms - round(older * DAY_MS),
            reached=REACHED[where.reached],
            sort=sort,
            limit=max(1, min(limit, PAGE_MOST)),
            offset=max(0, offset),
        )


def _agent(tx: Transaction, name: str) -> int | None:
    if not name:
        return None
    row = agents.by_name(tx, name)
    if row is None:
        raise NotFoundError(f"agent {name}: there is none; see `prsm agents`")
    return row.id


def _units(tx: Transaction, host: str) -> list[int] | None:
    if not host:
        return None
    key = host_key(complete_line(host))
    found = [unit.id for unit in hosts.units_of_hosts(tx, [key], merged=True)]
    if not found:
        raise NotFoundError(f"host {key}: not known; import it first")
    return found


def coverage(db: Database, now_ms: int, policy: Policy = DEFAULT_POLICY) -> Coverage:
    """Return what share of all pairs is measured, by agent. Reads all distances by an index."""
    fresh_ms = now_ms - round(policy.probe_fresh_s * 1000)
    limits = [now_ms - days * DAY_MS for days in AGE_DAYS]
    with db.read() as tx:
        fleet = [row for row in agents.all_agents(tx) if row.retired_ms is None]
        number = rounds.last_number(tx)
        ages = {row.agent_id: row for row in probe_views.ages_by_agent(tx, [*limits, fresh_ms])}
        orders = probe_views.orders_by_agent(tx, number)
        known = probe_views.probed_hosts(tx)
        fresh = probe_views.fresh_hosts(tx, fresh_ms)
        elsewhere = probe_views.fresh_by_agent_elsewhere(tx, fresh_ms)
        controls = probe_views.control_hosts(tx)
    found = []
    for row in fleet:
        seen = ages.get(row.id)
        younger = seen.younger if seen is not None else (0,) * (len(limits) + 1)
        held = seen.distances if seen is not None else 0
        steps = [0, *younger[: len(limits)], held]
        found.append(
            AgentCoverage(
                agent=row.name,
                measured=held,
                fresh=younger[-1] - elsewhere.get(row.id, 0),
                unreachable=seen.unreachable if seen is not None else 0,
                ages=[upper - lower for lower, upper in pairwise(steps)],
                waiting=orders.get((row.id, "waiting"), 0),
                under_way=orders.get((row.id, "granted"), 0) + orders.get((row.id, "finished"), 0),
                failed=orders.get((row.id, "failed"), 0),
                suspect_since_ms=row.suspect_since_ms,
                suspect_reason=row.suspect_reason if row.suspect_since_ms is not None else "",
            )
        )
    return Coverage(known, fresh, policy.probe_fresh_s * 1000 / DAY_MS, number, found, controls)

"""Sums of logs by agent, unit and round, and the distances and volumes made from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, Final

import sqlalchemy as sa

from manager.db.fleet.agents import TAKES_PART
from manager.db.tables import (
    agents,
    distances,
    host_sums,
    probe_orders,
    unit_rounds,
    units,
)
from manager.db.transaction import Transaction, chunks
from manager.distance.line_sums import UnitLineSums
from shared.frozen import frozen, values_of
from shared.messages import Message

__all__ = [
    "Crawled",
    "DistanceRow",
    "SumRow",
    "agent_totals",
    "agents_in",
    "carried_sums",
    "counted_probes",
    "crawled_of_host",
    "crawled_sums",
    "crawls_of_units",
    "distances_of_units",
    "has_open_units",
    "keys_of_whole_sums",
    "reasons_said",
    "rounds_of_agent",
    "sample_sums",
    "set_distances",
    "set_sums",
    "set_volumes",
    "sums_of_agent",
    "sums_of_units",
    "units_since",
    "whole_sums",
]

OVER: Final = ("finished", "done", "failed")
"""States of probes and crawls that nothing more is fetched of."""


@frozen
class SumRow(UnitLineSums):
    """Sums of one agent, unit and round, over all its logs.

    with_probe: of a crawl that continued the agent's probe, whose sums are in these, too.
    """

    agent_id: int
    unit_id: int
    first_ms: int | None
    last_ms: int
    clock_ms: int | None = None
    with_probe: bool = False


@frozen
class Crawled:
    """Crawl of a host in a round."""

    requests: int
    pages: int
    response_bytes: int
    ms: int


@frozen
class DistanceRow:
    """Distance of a unit from an agent; `ms_per_kb` None: no answer, unreachable.

    since_ms to measured_ms: the time that its lines are of. The quartiles are of the lines with
    bytes, each counted once, and None where they are not known.
    """

    unit_id: int
    agent_id: int
    measured_ms: int
    round: int
    kind: str
    since_ms: int | None = None
    lines: int = 0
    failed: int = 0
    bytes: int = 0
    ms: int = 0
    slowest_ms: int = 0
    slowest_bytes: int = 0
    ms_per_kb: float | None = None
    first_quartile: float | None = None
    median: float | None = None
    third_quartile: float | None = None
    unreachable_since_ms: int | None = None


_UNITS: Final[sa.BindParameter[Any]] = sa.bindparam("units", expanding=True)
_SUMS_OF_AGENT: Final = sa.select(host_sums).where(
    host_sums.c.agent_id == sa.bindparam("agent"), host_sums.c.unit_id.in_(_UNITS)
)
_SAMPLE_SUMS: Final = (
    sa.select(host_sums)
    .where(
        host_sums.c.round == sa.bindparam("round"),
        host_sums.c.kind == sa.bindparam("kind"),
        host_sums.c.agent_id == sa.bindparam("agent"),
        host_sums.c.response_bytes > 0,
    )
    .order_by(host_sums.c.unit_id * 2_654_435_761 % 1_000_003, host_sums.c.unit_id)
    .limit(sa.bindparam("most"))
)
_DISTANCES: Final = (
    sa.select(distances)
    .where(distances.c.unit_id.in_(_UNITS))
    .order_by(distances.c.unit_id, distances.c.agent_id)
)


def set_sums(tx: Transaction, rows: Sequence[SumRow]) -> None:
    """Write sums down in the place of those with the same keys, which must differ."""
    tx.upsert(host_sums, [values_of(row) for row in rows], ["agent_id", "unit_id", "round", "kind"])


def sums_of_agent(tx: Transaction, agent_id: int, unit_ids: Collection[int]) -> list[SumRow]:
    """Return all sums of an agent for some units."""
    found: list[SumRow] = []
    for part in chunks(unit_ids):
        found += tx.rows(SumRow, _SUMS_OF_AGENT, {"agent": agent_id, "units": part})
    return found


def sums_of_units(tx: Transaction, unit_ids: Collection[int]) -> list[SumRow]:
    """Return all sums for some units, newest round first."""
    c = host_sums.c
    query = sa.select(host_sums).order_by(c.unit_id, c.round.desc(), c.kind)
    return tx.rows_among(SumRow, query, c.unit_id, unit_ids)


def sample_sums(
    tx: Transaction, agent_id: int, round_number: int, kind: str, limit: int
) -> list[SumRow]:
    """Return sums of an agent in a round, of some units at random, the same each time."""
    given = {"agent": agent_id, "round": round_number, "kind": kind, "most": limit}
    return tx.rows(SumRow, _SAMPLE_SUMS, given)


def whole_sums(
    tx: Transaction, agent_id: int, round_number: int, kind: str, limit: int, late_ms: int
) -> list[SumRow]:
    """Return sums as `sample_sums` does, of units that the agent finished and whose logs are in.

    late_ms: units that were finished before count without the rest of their lines.
    """
    given = {"agent": agent_id, "round": round_number, "most": limit, "late_ms": late_ms}
    return tx.rows(SumRow, _whole_sums(kind), given)


@cache
def _whole_sums(kind: str) -> sa.Select[Any]:
    said = probe_orders if kind == "probe" else unit_rounds
    return (
        sa.select(host_sums)
        .join(said, _is_same(host_sums, said))
        .where(
            host_sums.c.round == sa.bindparam("round"),
            host_sums.c.kind == kind,
            host_sums.c.agent_id == sa.bindparam("agent"),
            host_sums.c.response_bytes > 0,
            said.c.state.in_(OVER),
            sa.or_(
                host_sums.c.requests + host_sums.c.odd_lines >= said.c.pages,
                said.c.finished_ms <= sa.bindparam("late_ms"),
            ),
        )
        .order_by(host_sums.c.unit_id * 2_654_435_761 % 1_000_003, host_sums.c.unit_id)
        .limit(sa.bindparam("most"))
    )


def has_open_units(tx: Transaction, agent_id: int, round_number: int, kind: str) -> bool:
    """Return whether an agent has units left to probe, or to crawl, in a round."""
    said = probe_orders if kind == "probe" else unit_rounds
    left = sa.select(said.c.unit_id).where(
        said.c.agent_id == agent_id,
        said.c.round == round_number,
        said.c.state.in_(("waiting", "granted")),
    )
    return bool(tx.values(left.limit(1)))


def keys_of_whole_sums(
    tx: Transaction, unit_ids: Collection[int], since_round: int
) -> set[tuple[int, int, int, str]]:
    """Return (unit, agent, round, kind) of probes and crawls of units that are over."""
    found: set[tuple[int, int, int, str]] = set()
    for kind, table in (("probe", probe_orders), ("crawl", unit_rounds)):
        for part in chunks(unit_ids):
            rows = tx.execute(_over(table), {"units": part, "round": since_round})
            found.update((row.unit_id, row.agent_id, row.round, kind) for row in rows)
    return found


@cache
def _over(table: sa.Table) -> sa.Select[Any]:
    return sa.select(table.c.unit_id, table.c.agent_id, table.c.round).where(
        table.c.unit_id.in_(_UNITS),
        table.c.round >= sa.bindparam("round"),
        table.c.state.in_(OVER),
    )


def crawls_of_units(
    tx: Transaction, unit_ids: Collection[int], first_round: int, last_round: int
) -> list[SumRow]:
    """Return sums of the crawls of units by those who finished them, oldest round first."""
    found: list[SumRow] = []
    for part in chunks(unit_ids):
        given = {"units": part, "first": first_round, "last": last_round}
        found += tx.rows(SumRow, _crawls_of_units(), given)
    return found


@cache
def _crawls_of_units() -> sa.Select[Any]:
    return (
        sa.select(host_sums)
        .join(unit_rounds, _is_same(host_sums, unit_rounds))
        .where(
            host_sums.c.unit_id.in_(_UNITS),
            host_sums.c.kind == "crawl",
            host_sums.c.round.between(sa.bindparam("first"), sa.bindparam("last")),
            unit_rounds.c.state.in_(OVER),
        )
        .order_by(host_sums.c.round, host_sums.c.unit_id)
    )


def _is_same(sums: sa.Table, said: sa.Table) -> sa.ColumnElement[bool]:
    return sa.and_(
        said.c.unit_id == sums.c.unit_id,
        said.c.round == sums.c.round,
        said.c.agent_id == sums.c.agent_id,
    )


def units_since(tx: Transaction, agent_id: int, round_number: int) -> list[int]:
    """Return the units that an agent measured in a round or later."""
    return tx.values(
        sa.select(host_sums.c.unit_id)
        .where(host_sums.c.agent_id == agent_id, host_sums.c.round >= round_number)
        .distinct()
        .order_by(host_sums.c.unit_id)
    )


def crawled_of_host(tx: Transaction, host_id: int, round_number: int) -> Crawled:
    """Return the crawl totals of a host in a round, of all agents together."""
    named = [
        sa.func.coalesce(sa.func.sum(host_sums.c[name]), 0).label(name)
        for name in Crawled.__dataclass_fields__
    ]
    of_round = host_sums.c.round == round_number, host_sums.c.kind == "crawl"
    query = sa.select(*named).join(units, units.c.id == host_sums.c.unit_id)
    row = tx.execute(query.where(units.c.host_id == host_id, *of_round)).one()
    return Crawled(*(int(value) for value in row))


def counted_probes(tx: Transaction, agent_id: int) -> list[tuple[str, int]]:
    """Return (unit, round) of the probes of an agent that its crawls continued."""
    c = host_sums.c
    query = sa.select(units.c.key, c.round).join(units, units.c.id == c.unit_id)
    return tx.tuples(query.where(c.agent_id == agent_id, c.kind == "crawl", c.with_probe))


def set_distances(tx: Transaction, rows: Sequence[DistanceRow]) -> None:
    """Write distances down; one pair of unit and agent has one."""
    tx.upsert(distances, [values_of(row) for row in rows], ["unit_id", "agent_id"])


def distances_of_units(tx: Transaction, unit_ids: Collection[int]) -> list[DistanceRow]:
    """Return all distances to some units, by unit and agent."""
    found: list[DistanceRow] = []
    for part in chunks(unit_ids):
        found += tx.rows(DistanceRow, _DISTANCES, {"units": part})
    return found


def reasons_said(
    tx: Transaction, unit_ids: Collection[int]
) -> dict[tuple[int, int, int, str], Message]:
    """Return what agents said when they finished units, by (unit, agent, round, kind)."""
    found: dict[tuple[int, int, int, str], Message] = {}
    for kind, table in (("probe", probe_orders), ("crawl", unit_rounds)):
        c = table.c
        query = sa.select(c.unit_id, c.agent_id, c.round, c.reason).where(c.reason != "")
        for unit, agent, number, reason in tx.among(query, c.unit_id, unit_ids):
            found[unit, agent, number, kind] = reason
    return found


def crawled_sums(tx: Transaction, round_number: int, unit_ids: Collection[int]) -> list[SumRow]:
    """Return what those measured who finished some units in a round, where their logs came."""
    query = (
        sa.select(host_sums)
        .join(unit_rounds, _is_same(host_sums, unit_rounds))
        .where(
            host_sums.c.round == round_number,
            host_sums.c.kind == "crawl",
            host_sums.c.requests + host_sums.c.odd_lines > 0,
            unit_rounds.c.state == "finished",
        )
    )
    return tx.rows_among(SumRow, query, host_sums.c.unit_id, unit_ids)


def carried_sums(
    tx: Transaction, round_number: int, unit_ids: Collection[int]
) -> dict[int, tuple[int, int]]:
    """Return (bytes, pages) of some units in the rounds from which they were carried into one."""
    ended = unit_rounds.alias("ended")
    newest_end = (
        sa.select(sa.func.coalesce(sa.func.max(ended.c.round), 0))
        .where(
            ended.c.unit_id == host_sums.c.unit_id,
            ended.c.round < round_number,
            ended.c.state != "carried",
        )
        .scalar_subquery()
    )
    query = (
        sa.select(host_sums.c.unit_id, host_sums.c.response_bytes, host_sums.c.pages)
        .join(unit_rounds, _is_same(host_sums, unit_rounds))
        .where(
            host_sums.c.round < round_number,
            host_sums.c.round > newest_end,
            host_sums.c.kind == "crawl",
            unit_rounds.c.state == "carried",
        )
    )
    found: dict[int, tuple[int, int]] = {}
    for unit, size_bytes, pages in tx.among(query, host_sums.c.unit_id, unit_ids):
        before = found.get(unit, (0, 0))
        found[unit] = before[0] + size_bytes, before[1] + pages
    return found


def set_volumes(
    tx: Transaction,
    sums: Sequence[SumRow],
    volume_kb: Mapping[int, float],
    carried: Mapping[int, tuple[int, int]],
) -> None:
    """Make the volume of units, and what their crawl took, from the sums of a round.

    volume_kb: what counts of units where that is not what the sums say. carried: (bytes, pages) of
    the rounds from which units were carried over. A volume of a newer round stays.
    """
    volumes = []
    for row in sums:
        size_bytes, pages = carried.get(row.unit_id, (0, 0))
        volumes.append(
            {
                "id": row.unit_id,
                "volume_kb": volume_kb.get(row.unit_id, row.response_bytes / 1000)
                + size_bytes / 1000,
                "pages": row.pages + pages,
                "volume_round": row.round,
            }
        )
    older = sa.func.coalesce(units.c.volume_round, 0) <= sa.bindparam("new_volume_round")
    tx.update_each(units, ["id"], volumes, older)
    crawls = [
        {"unit_id": row.unit_id, "round": row.round, "bytes": row.response_bytes, "ms": row.ms}
        for row in sums
    ]
    tx.update_each(unit_rounds, ("unit_id", "round"), crawls)


def agents_in(tx: Transaction, number: int, kinds: Collection[str], limit: int) -> list[int]:
    """Return agents that take part and measured in a round, by number; at most so many."""
    measured = sa.exists().where(
        host_sums.c.round == number,
        host_sums.c.kind.in_(kinds),
        host_sums.c.agent_id == agents.c.id,
    )
    return tx.values(
        sa.select(agents.c.id).where(*TAKES_PART, measured).order_by(agents.c.id).limit(limit)
    )


def agent_totals(tx: Transaction, round_number: int, kind: str) -> list[tuple[int, int, int]]:
    """Return (agent, ms, response bytes) that agents measured in a round."""
    c = host_sums.c
    query = (
        sa.select(c.agent_id, sa.func.sum(c.ms), sa.func.sum(c.response_bytes))
        .where(c.round == round_number, c.kind == kind)
        .group_by(c.agent_id)
        .order_by(c.agent_id)
    )
    return [(agent, int(ms), int(size)) for agent, ms, size in tx.tuples(query)]


def rounds_of_agent(
    tx: Transaction, agent_id: int, numbers: Collection[int], kind: str
) -> dict[int, int]:
    """Return the ms that an agent measured in each of some rounds."""
    c = host_sums.c
    query = sa.select(c.round, sa.func.sum(c.ms)).group_by(c.round)
    rows = tx.tuples(query.where(c.round.in_(numbers), c.kind == kind, c.agent_id == agent_id))
    return {number: int(ms) for number, ms in rows}

"""Distances as people list them: pairs of agent and host, by age or by length.

Invariant: pairs that are alike in what they are sorted by come in the order of their numbers, so
two parts of one list never have the same pair, and never leave one out, as long as nothing changes.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import agents, distances, units
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = ["PairRow", "PairWanted", "pair_keys", "pairs_of", "pairs_page"]

KEYS_AT_ONCE: Final = 10_000


@frozen
class PairRow:
    """One agent's measurement of one host."""

    unit_id: int
    host: str
    agent: str
    ms_per_kb: float | None
    measured_ms: int
    round: int
    kind: str
    lines: int
    failed: int
    unreachable_since_ms: int | None


@frozen
class PairWanted:
    """Filter of pairs. reached: only reachable ones, or unreachable ones; None: all."""

    agent_id: int | None = None
    unit_ids: Collection[int] | None = None
    before_ms: int | None = None
    reached: bool | None = None


_COLUMNS: Final = (
    distances.c.unit_id,
    distances.c.agent_id,
    distances.c.ms_per_kb,
    distances.c.measured_ms,
    distances.c.round,
    distances.c.kind,
    distances.c.lines,
    distances.c.failed,
    distances.c.unreachable_since_ms,
)


def pairs_page(
    tx: Transaction, wanted: PairWanted, sort: str, limit: int, offset: int
) -> list[PairRow]:
    """Return a page of measured pairs. sort: age (oldest first) or distance, `-` reverses it.

    By distance: without unreachable pairs.
    """
    query = _matching(sa.select(*_COLUMNS), wanted, sort)
    return _named(tx, tx.execute(query.limit(limit).offset(offset)).all())


def pair_keys(tx: Transaction, wanted: PairWanted, sort: str) -> tuple[array[int], array[int]]:
    """Return units and agents of all pairs that match, in order: sixteen bytes a pair."""
    query = _matching(sa.select(distances.c.unit_id, distances.c.agent_id), wanted, sort)
    unit_ids, agent_ids = array("q"), array("q")
    part: Sequence[Any]
    for part in tx.execute(query.execution_options(yield_per=KEYS_AT_ONCE)).partitions():
        unit_ids.extend(row.unit_id for row in part)
        agent_ids.extend(row.agent_id for row in part)
    return unit_ids, agent_ids


def pairs_of(tx: Transaction, keys: Sequence[tuple[int, int]]) -> list[PairRow]:
    """Return pairs by (unit, agent), in that order; those that are gone are left out.

    keys: of one agent, or of a few units; of other crowds far more would be read than returned.
    """
    query = sa.select(*_COLUMNS).where(
        distances.c.unit_id.in_({unit for unit, _ in keys}),
        distances.c.agent_id.in_({agent for _, agent in keys}),
    )
    found = {(row.unit_id, row.agent_id): row for row in tx.execute(query)}
    return _named(tx, [found[key] for key in keys if key in found])


def _matching(query: sa.Select[Any], wanted: PairWanted, sort: str) -> sa.Select[Any]:
    if wanted.agent_id is not None:
        query = query.where(distances.c.agent_id == wanted.agent_id)
    if wanted.unit_ids is not None:
        query = query.where(distances.c.unit_id.in_(wanted.unit_ids))
    if wanted.before_ms is not None:
        query = query.where(distances.c.measured_ms < wanted.before_ms)
    if wanted.reached is not None:
        unknown = distances.c.ms_per_kb.is_(None)
        query = query.where(~unknown if wanted.reached else unknown)
    column = distances.c.measured_ms if sort.endswith("age") else distances.c.ms_per_kb
    if sort.endswith("distance"):
        query = query.where(distances.c.ms_per_kb.is_not(None))
    order = column.desc() if sort.startswith("-") else column
    return query.order_by(order, distances.c.unit_id, distances.c.agent_id)


def _named(tx: Transaction, found: Sequence[Any]) -> list[PairRow]:
    """Return rows with the names of hosts and agents, which are asked for of these only."""
    hosts = _texts(tx, units.c.key, {row.unit_id for row in found})
    names = _texts(tx, agents.c.name, {row.agent_id for row in found})
    return [PairRow(row[0], hosts[row.unit_id], names[row.agent_id], *row[2:]) for row in found]


def _texts(tx: Transaction, column: sa.Column[Any], ids: Collection[int]) -> dict[int, str]:
    """Return a column of some rows of its table by their numbers."""
    number = column.table.c.id
    return dict(tx.among(sa.select(number, column), number, ids))

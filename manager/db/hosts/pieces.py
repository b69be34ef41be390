"""The units of split hosts: directories that become units and stop being some, pieces at rest.

A host is split while it has a directory that is a unit. A unit that was merged keeps its row and
history, as an excluded one with a time. A piece rests (`quiet_ms`) when its agent said that nothing
of it is left; it is not finished before all pieces of its host rest. A plain agent cannot read what
others have of a host, so it has nothing of an address where a directory is a unit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Final

import sqlalchemy as sa

from manager.db.hosts.host_shares import news
from manager.db.tables import agents, assignments, hosts, unit_rounds, units
from manager.db.transaction import Transaction
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "IdlePieceRow",
    "add_units",
    "beside_pieces",
    "for_sync_agents",
    "hosts_of_units",
    "mark_idle",
    "merge_units",
    "of_plain_agents",
    "of_tops",
    "rested",
    "unit_ids",
    "wake",
]


def beside_pieces() -> sa.ColumnElement[bool]:
    """Return the condition that a directory at the same address is a unit (over `hosts`).

    A host that is shared is alone at its address, so it holds for its pieces and for nothing else.
    """
    piece, place = units.alias("piece"), hosts.alias("place")
    return hosts.c.group_id.in_(
        sa.select(place.c.group_id)
        .join(piece, piece.c.host_id == place.c.id)
        # Written out, as the index has it: no plan of a query knows what a parameter will be.
        .where(piece.c.path != sa.literal_column("'/'"), piece.c.state != "excluded")
    )


_OF_PLAIN_AGENTS: Final = (
    sa.select(assignments.c.agent_id, units.c.id)
    .join(assignments, assignments.c.unit_id == units.c.id)
    .join(agents, agents.c.id == assignments.c.agent_id)
    .join(hosts, hosts.c.id == units.c.host_id)
    .where(assignments.c.until_ms.is_(None), agents.c.kind == "plain", beside_pieces())
    .order_by(units.c.id)
)


@frozen
class IdlePieceRow:
    """A piece of which nothing is left. reason: as its agent said it, or ours."""

    unit_id: int
    agent_id: int
    pages: int
    size_bytes: int
    reason: Message | str | None


def of_tops(tx: Transaction) -> dict[int, list[int]]:
    """Return the pieces of each split host, by its unit `/`."""
    top = units.alias("top")
    rows = tx.execute(
        sa.select(top.c.id.label("top_id"), units.c.id)
        .join(top, sa.and_(top.c.host_id == units.c.host_id, top.c.path == "/"))
        .where(units.c.path != "/", units.c.merged_ms.is_(None))
        .order_by(units.c.id)
    )
    found: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        found[row.top_id].append(row.id)
    return dict(found)


def hosts_of_units(tx: Transaction, unit_ids: Collection[int]) -> dict[int, int]:
    """Return the host of each of some units that are pieces of a split host, `/` too."""
    other = units.alias("other")
    piece = sa.exists().where(
        other.c.host_id == units.c.host_id, other.c.path != "/", other.c.merged_ms.is_(None)
    )
    query = sa.select(units.c.id, units.c.host_id).where(piece)
    return dict(tx.among(query, units.c.id, unit_ids))


def of_plain_agents(tx: Transaction) -> dict[int, list[int]]:
    """Return what plain agents own and cannot have (`beside_pieces`), by agent."""
    found: dict[int, list[int]] = defaultdict(list)
    for row in tx.execute(_OF_PLAIN_AGENTS):
        found[row.agent_id].append(row.id)
    return dict(found)


def for_sync_agents(tx: Transaction, unit_ids: Collection[int]) -> set[int]:
    """Return those of some units that no plain agent can have (`beside_pieces`)."""
    query = sa.select(units.c.id).join(hosts, hosts.c.id == units.c.host_id)
    return set(tx.values_among(query.where(beside_pieces()), units.c.id, unit_ids))


def unit_ids(tx: Transaction, host_id: int) -> dict[str, int]:
    """Return the units that a host ever had, by path, merged ones too."""
    of_host = units.c.host_id == host_id
    return dict(tx.tuples(sa.select(units.c.path, units.c.id).where(of_host)))


def add_units(tx: Transaction, host_id: int, keys: Mapping[str, str], state: str) -> dict[str, int]:
    """Make directories units (path to key), new or again; return all units of the host by path."""
    tx.insert_new(
        units,
        [
            {"host_id": host_id, "path": path, "key": key, "state": state}
            for path, key in keys.items()
        ],
    )
    fresh = {"merged_ms": None, "volume_kb": None, "pages": None, "volume_round": None}
    again = units.update().where(units.c.host_id == host_id)
    again = again.values(state=state, scope_rule="", **fresh)
    tx.changed_among(again, units.c.path, keys)
    return unit_ids(tx, host_id)


def merge_units(tx: Transaction, merged: Collection[int], now_ms: int) -> None:
    """Make directories parts of `/` again, also those outside of the scope; history stays."""
    merging = units.update().values(state="excluded", scope_rule="", merged_ms=now_ms)
    tx.changed_among(merging, units.c.id, merged)


def wake(tx: Transaction, unit_ids: Collection[int]) -> None:
    """Record that pieces have pages to fetch again; their agents are notified."""
    waking = (
        unit_rounds.update()
        .where(
            unit_rounds.c.state == "granted",  # in rounds that are open or to come
        )
        .values(quiet_ms=None)
    )
    tx.changed_among(waking, unit_rounds.c.unit_id, unit_ids)
    news(tx, unit_ids)


def mark_idle(
    tx: Transaction, round_number: int, quiet: Collection[IdlePieceRow], now_ms: int
) -> None:
    """Note that nothing is left of some pieces, as far as their agents know."""
    rows = [
        {
            "unit_id": row.unit_id,
            "agent_id": row.agent_id,
            "pages": row.pages,
            "bytes": row.size_bytes,
            "reason": row.reason or "",
        }
        for row in quiet
    ]
    granted = unit_rounds.c.round == round_number, unit_rounds.c.state == "granted"
    tx.update_each(unit_rounds, ("unit_id", "agent_id"), rows, *granted, quiet_ms=now_ms)


def rested(tx: Transaction, round_number: int) -> list[IdlePieceRow]:
    """Return the quiet pieces of hosts of which nothing is left in any piece of the round."""
    other, of_other = units.alias("other"), unit_rounds.alias("of_other")
    busy = sa.exists().where(
        other.c.host_id == units.c.host_id,
        of_other.c.unit_id == other.c.id,
        of_other.c.round == round_number,
        sa.or_(
            of_other.c.state == "waiting",
            sa.and_(of_other.c.state == "granted", of_other.c.quiet_ms.is_(None)),
        ),
    )
    return tx.rows(
        IdlePieceRow,
        sa.select(
            unit_rounds.c.unit_id,
            unit_rounds.c.agent_id,
            unit_rounds.c.pages,
            unit_rounds.c.bytes.label("size_bytes"),
            unit_rounds.c.reason,
        )
        .join(units, units.c.id == unit_rounds.c.unit_id)
        .where(
            unit_rounds.c.round == round_number,
            # Quiet pieces are few, and have an index; in that of states are all units of a round.
            sa.func.coalesce(unit_rounds.c.state, "") == "granted",
            unit_rounds.c.quiet_ms.is_not(None),
            ~busy,
        ),
    )

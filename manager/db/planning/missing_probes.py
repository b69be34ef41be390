"""Missing probes: their orders, and the check whether any is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import sqlalchemy as sa

from manager.db.ownership.pins import any_pin_or_ban, not_banned
from manager.db.ownership.sole_takers import groups_of_sole_takers
from manager.db.ownership.work_orders import OPEN
from manager.db.planning import spare_probes
from manager.db.tables import agents, bans, distances, hosts, probe_orders, units
from manager.db.transaction import Transaction

__all__ = [
    "add",
    "banned_pairs",
    "count_everywhere",
    "count_whole_measured",
    "fresh_counts",
    "fresh_pairs",
    "order_everywhere",
    "ordered_of_units",
    "ordered_since",
    "settled_units",
    "whole_measured",
]


def order_everywhere(
    tx: Transaction, round_number: int, agent_ids: Collection[int], fresh_ms: int, now_ms: int
) -> int:
    """Order every agent to probe every unit to which it has no distance newer than `fresh_ms`.

    Units are those that a round takes: with an address, not excluded; of a split host `/`, which
    stands for all of it. Hosts that an agent never gets it does not probe, and hosts that one agent
    alone may have are not probed. Returns how many orders.
    """
    ordered = sa.exists().where(
        probe_orders.c.round == round_number,
        probe_orders.c.unit_id == units.c.id,
        probe_orders.c.agent_id == agents.c.id,
    )
    pairs = (
        sa.select(
            sa.literal(round_number, sa.BigInteger()),
            units.c.id,
            agents.c.id,
            sa.literal("waiting"),
            sa.literal(now_ms, sa.BigInteger()),
        )
        .select_from(units.join(agents, agents.c.id.in_(agent_ids)))
        .where(
            *_is_missing(("probing", "placed"), fresh_ms),
            *_has_choice(tx, agent_ids),
            ~ordered,
        )
    )
    # The paper's way: none of them is spare.
    columns = ["round", "unit_id", "agent_id", "state", "ordered_ms"]
    return tx.changed(probe_orders.insert().from_select(columns, pairs))


def count_everywhere(tx: Transaction, agent_ids: Collection[int], fresh_ms: int) -> dict[int, int]:
    """Return how many probes `order_everywhere` would order of each agent in a round to come."""
    query = (
        sa.select(agents.c.id, sa.func.count())
        .select_from(units.join(agents, agents.c.id.in_(agent_ids)))
        .where(*_is_missing(("idle", "probing", "placed"), fresh_ms), *_has_choice(tx, agent_ids))
        .group_by(agents.c.id)
    )
    return dict(tx.tuples(query))


def fresh_counts(tx: Transaction, fresh_ms: int, probe_pages: int) -> dict[int, int]:
    """Return how many distances of each agent are newer than a moment.

    Units of which a crawl found fewer pages than a probe has are left out.
    """
    query = (
        sa.select(distances.c.agent_id, sa.func.count())
        .join(units, units.c.id == distances.c.unit_id)
        .where(
            distances.c.measured_ms >= fresh_ms,
            sa.func.coalesce(units.c.pages, probe_pages) >= probe_pages,
        )
        .group_by(distances.c.agent_id)
    )
    return dict(tx.tuples(query))


def _is_missing(states: Collection[str], fresh_ms: int) -> tuple[sa.ColumnElement[bool], ...]:
    """Return the conditions that an agent has no fresh distance to a unit, and may probe it."""
    fresh = sa.exists().where(
        distances.c.unit_id == units.c.id,
        distances.c.agent_id == agents.c.id,
        distances.c.measured_ms >= fresh_ms,
    )
    return (
        units.c.state.in_(states),
        units.c.path == "/",
        ~fresh,
        not_banned(agents.c.id, units.c.host_id),
    )


def _has_choice(tx: Transaction, agent_ids: Collection[int]) -> tuple[sa.ColumnElement[bool], ...]:
    """Return the condition that more than one of some agents may have a unit; none if no rule is.

    Millions of units are compared, so the groups are found in one query behind it.
    """
    if not any_pin_or_ban(tx):
        return ()
    of_host = sa.select(hosts.c.id).where(hosts.c.group_id.in_(groups_of_sole_takers(agent_ids)))
    return (units.c.host_id.not_in(of_host),)


def add(
    tx: Transaction,
    round_number: int,
    pairs: Sequence[tuple[int, int]],
    now_ms: int,
    *,
    spare: bool = False,
) -> int:
    """Order (unit, agent) pairs; return how many are new, or not needed before.

    Those ordered in this round already stay as they are. spare: not needed where another probe of
    the round sees the unit whole. An order that is not spare reopens one that was not needed.
    """
    waiting = {"round": round_number, "state": "waiting", "ordered_ms": now_ms, "spare": spare}
    rows = [{"unit_id": unit, "agent_id": agent, **waiting} for unit, agent in pairs]
    again = 0 if spare else _order_again(tx, round_number, pairs, now_ms)
    return again + tx.insert_new(probe_orders, rows)


def _order_again(
    tx: Transaction, round_number: int, pairs: Sequence[tuple[int, int]], now_ms: int
) -> int:
    c = probe_orders.c
    query = sa.select(c.id, c.unit_id, c.agent_id).where(
        c.round == round_number, c.state == "not_needed"
    )
    wanted = set(pairs)
    found = tx.among(query, c.unit_id, {unit for unit, _ in wanted})
    ids = [number for number, unit, agent in found if (unit, agent) in wanted]
    return spare_probes.reopen(tx, ids, now_ms)


def fresh_pairs(tx: Transaction, unit_ids: Collection[int], fresh_ms: int) -> set[tuple[int, int]]:
    """Return the (unit, agent) pairs of some units whose distance is newer than a moment."""
    c = distances.c
    query = sa.select(c.unit_id, c.agent_id).where(c.measured_ms >= fresh_ms)
    return set(map(tuple, tx.among(query, c.unit_id, unit_ids)))


def whole_measured(
    tx: Transaction,
    unit_ids: Collection[int],
    agent_ids: Collection[int],
    fresh_ms: int,
    probe_pages: int,
) -> set[int]:
    """Return those of some units that an agent of some measured freshly, and saw whole.

    The last crawl of the unit found fewer pages than a probe has. Who is suspect does not count.
    """
    query = sa.select(units.c.id).join(hosts, hosts.c.id == units.c.host_id)
    measured = query.where(*_is_whole_measured(agent_ids, fresh_ms, probe_pages))
    return set(tx.values_among(measured, units.c.id, unit_ids))


def count_whole_measured(
    tx: Transaction,
    states: Collection[str],
    agent_ids: Collection[int],
    fresh_ms: int,
    probe_pages: int,
) -> int:
    """Return how many units in some states `whole_measured` would return."""
    query = (
        sa.select(sa.func.count())
        .select_from(units)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(units.c.state.in_(states), *_is_whole_measured(agent_ids, fresh_ms, probe_pages))
    )
    return int(tx.value(query))


def _is_whole_measured(
    agent_ids: Collection[int], fresh_ms: int, probe_pages: int
) -> tuple[sa.ColumnElement[bool], ...]:
    c = distances.c
    measured = sa.exists().where(
        c.unit_id == units.c.id,
        c.agent_id == agents.c.id,
        agents.c.id.in_(agent_ids),
        agents.c.suspect_since_ms.is_(None),
        c.measured_ms >= fresh_ms,
        c.ms_per_kb.is_not(None),
    )
    return units.c.pages < probe_pages, hosts.c.shared_interval_ms.is_(None), measured


def banned_pairs(tx: Transaction, unit_ids: Collection[int]) -> set[tuple[int, int]]:
    """Return the (unit, agent) pairs of some units whose host the agent never gets."""
    query = sa.select(units.c.id, bans.c.agent_id).join(bans, bans.c.host_id == units.c.host_id)
    return set(map(tuple, tx.among(query, units.c.id, unit_ids)))


def ordered_since(tx: Transaction, agent_ids: Collection[int], since_ms: int) -> dict[int, int]:
    """Return how many probes each agent has waiting, or was given since a moment."""
    c = probe_orders.c
    waiting, given = c.state == "waiting", c.granted_ms >= since_ms
    found = Counter(dict.fromkeys(agent_ids, 0))
    for which in (waiting, sa.and_(given, ~waiting)):
        found.update(tx.counts(c.agent_id, which, c.agent_id.in_(agent_ids)))
    return found


def ordered_of_units(tx: Transaction, since_ms: int) -> dict[int, int]:
    """Return to how many agents each unit was ordered since a moment."""
    c = probe_orders.c
    return tx.counts(c.unit_id, c.ordered_ms >= since_ms, c.state != "not_needed")


def settled_units(tx: Transaction, limit: int) -> list[tuple[int, int]]:
    """Return (unit, group) of units in state `probing` that no open order speaks of."""
    still = sa.exists().where(probe_orders.c.unit_id == units.c.id, probe_orders.c.state.in_(OPEN))
    query = sa.select(units.c.id, hosts.c.group_id).join(hosts, hosts.c.id == units.c.host_id)
    settled = query.where(units.c.state == "probing", ~still)
    return tx.tuples(settled.order_by(units.c.id).limit(limit))

"""Questions to the whole database that every state of it must answer with nothing.

Each finds a few examples, as texts, and has the name of its message in the catalogue
`consistency`. What they mean together is left to `operations.health.consistency_checks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import (
    agents,
    assignments,
    hosts,
    probe_orders,
    refetch_orders,
    reports,
    rights,
    rounds,
    unit_rounds,
    units,
)
from manager.db.transaction import Transaction

__all__ = ["contradictions", "report_files"]

EXAMPLES: Final = 10


def _units(*tables: sa.Table) -> sa.Select[tuple[str]]:
    """Return the query for the keys of units, joined with tables that name them and with hosts."""
    query = sa.select(units.c.key)
    for table in tables:
        of_host = table is hosts
        query = query.join(
            table, hosts.c.id == units.c.host_id if of_host else table.c.unit_id == units.c.id
        )
    return query


def _same(one: sa.Table, other: sa.Table, *names: str, **values: str) -> sa.Exists:
    """Return the condition that a row of one table has columns as the other, and some values."""
    equal = (one.c[name] == other.c[name] for name in names)
    return sa.exists().where(*equal, *(one.c[name] == value for name, value in values.items()))


@cache
def _questions() -> Mapping[str, sa.Select[Any]]:
    """Return the queries by the names of their messages; to build them takes a while."""
    is_open = assignments.c.until_ms.is_(None)
    owned = sa.exists().where(assignments.c.unit_id == units.c.id, is_open)
    pair = ("unit_id", "agent_id")
    not_shared = hosts.c.shared_interval_ms.is_(None)
    held = rights.c.withdrawn_generation.is_(None)
    holders = sa.func.count(rights.c.agent_id.distinct())
    before = assignments.alias("before")
    other = hosts.alias("other")
    return {
        "unit_with_many_owners": _units(assignments)
        .where(is_open)
        .group_by(units.c.id, units.c.key)
        .having(sa.func.count() > 1),
        "placed_without_owner": _units().where(units.c.state == "placed", ~owned),
        "owned_not_placed": _units().where(units.c.state.in_(("new", "idle", "excluded")), owned),
        "overlapping_owners": _units(assignments)
        .join(
            before,
            sa.and_(
                before.c.unit_id == assignments.c.unit_id,
                before.c.epoch == assignments.c.epoch - 1,
            ),
        )
        .where(before.c.until_ms.is_(None)),
        "address_with_many_owners": sa.select(sa.func.min(hosts.c.key))
        .join(units, units.c.host_id == hosts.c.id)
        .join(assignments, assignments.c.unit_id == units.c.id)
        .where(is_open, not_shared)
        .group_by(hosts.c.group_id)
        .having(sa.func.count(assignments.c.agent_id.distinct()) > 1),
        # Of several holders of a group, all but one must be giving it up.
        "address_with_many_holders": sa.select(sa.func.min(units.c.key))
        .join(rights, rights.c.unit_id == units.c.id)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(held, not_shared)
        .group_by(rights.c.group_id)
        .having(holders > 1),
        "split_host_over_shares": sa.select(sa.func.min(hosts.c.key))
        .join(rights, rights.c.group_id == hosts.c.group_id)
        .where(~not_shared, rights.c.kind == "crawl")
        .group_by(hosts.c.id, hosts.c.shares)
        .having(hosts.c.shares < holders),
        "split_host_shares_address": sa.select(hosts.c.key).where(
            ~not_shared,
            sa.exists().where(other.c.group_id == hosts.c.group_id, other.c.id != hosts.c.id),
        ),
        "right_in_other_group": _units(rights, hosts).where(
            sa.or_(hosts.c.group_id.is_(None), hosts.c.group_id != rights.c.group_id)
        ),
        "right_without_permit": _units(rights)
        .join(agents, agents.c.id == rights.c.agent_id)
        .where(agents.c.permit_until_ms <= 0),
        # A right stands in the present list or the next one; it is withdrawn after it was given.
        "future_right": _units(rights)
        .join(agents, agents.c.id == rights.c.agent_id)
        .where(
            sa.or_(
                rights.c.granted_generation > agents.c.generation + 1,
                rights.c.withdrawn_generation > agents.c.generation + 1,
                rights.c.withdrawn_generation <= rights.c.granted_generation,
            )
        ),
        # A right of the next list without the mark that makes it come.
        "unmarked_list_change": sa.select(agents.c.name)
        .distinct()
        .join(rights, rights.c.agent_id == agents.c.id)
        .where(
            ~agents.c.list_changed,
            sa.or_(
                rights.c.granted_generation > agents.c.generation,
                rights.c.withdrawn_generation > agents.c.generation,
            ),
        ),
        # An agent that left has no right, unless a machine still has its old key.
        "left_agent_with_right": sa.select(agents.c.name)
        .distinct()
        .join(rights, rights.c.agent_id == agents.c.id)
        .where(~agents.c.subscribed, ~agents.c.rejoined),
        "probe_without_right": _units(probe_orders).where(
            probe_orders.c.state == "granted", ~_same(rights, probe_orders, *pair, kind="probe")
        ),
        "probe_right_without_order": _units(rights).where(
            rights.c.kind == "probe",
            held,
            ~_same(probe_orders, rights, *pair, "round", state="granted"),
        ),
        "refetch_without_right": _units(refetch_orders)
        .where(
            refetch_orders.c.state == "granted",
            ~_same(rights, refetch_orders, *pair, kind="refetch"),
        )
        .distinct(),
        "old_probe_order": _units(probe_orders).where(
            probe_orders.c.state.in_(("waiting", "granted", "finished")),
            probe_orders.c.round.not_in(
                sa.select(rounds.c.number).where(rounds.c.open.is_not(None))
            ),
        ),
        "crawl_without_right": _units(unit_rounds).where(
            unit_rounds.c.state == "granted", ~_same(rights, unit_rounds, *pair, kind="crawl")
        ),
        "right_without_crawl": _units(rights).where(
            rights.c.kind == "crawl",
            held,
            ~_same(unit_rounds, rights, *pair, "round", state="granted"),
        ),
        # What is still to be crawled is to be crawled by its owner.
        "crawl_of_other": _units(unit_rounds).where(
            unit_rounds.c.state.in_(("waiting", "granted")),
            ~_same(assignments, unit_rounds, *pair).where(is_open),
        ),
        # Every unit with an owner takes part in a round that crawls.
        "owned_not_in_round": _units(assignments)
        .join(rounds, rounds.c.state == "crawling")
        .where(
            is_open,
            ~_same(unit_rounds, assignments, "unit_id").where(
                unit_rounds.c.round == rounds.c.number
            ),
        ),
        "host_without_unit": sa.select(hosts.c.key).where(
            ~sa.exists().where(units.c.host_id == hosts.c.id, units.c.path == "/")
        ),
        "work_without_address": _units(hosts).where(
            hosts.c.group_id.is_(None), units.c.state.in_(("idle", "probing", "placed"))
        ),
        "excluded_in_part": _units(hosts).where(
            units.c.merged_ms.is_(None),
            units.c.scope_rule == "",  # outside of the scope: excluded by itself
            (hosts.c.excluded_ms.is_not(None)) != (units.c.state == "excluded"),
        ),
    }


def contradictions(tx: Transaction) -> Iterator[tuple[str, str]]:
    """Yield (name of the message, subject) of contradictions between rows; a few of each."""
    for name, query in _questions().items():
        for subject in tx.values(query.limit(EXAMPLES)):
            yield name, subject


def report_files(tx: Transaction, after_id: int, limit: int) -> list[tuple[int, str]]:
    """Return (id, path) of reports whose rows lie in a file, after an id."""
    query = sa.select(reports.c.id, reports.c.path)
    kept = query.where(reports.c.id > after_id, reports.c.path != "")
    return tx.tuples(kept.order_by(reports.c.id).limit(limit))

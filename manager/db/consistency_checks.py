"""Questions to the whole database that every state of it must answer with nothing.

Each returns a few examples, as texts, and has the name of its message in the catalogue
`consistency`. What they mean together is left to `operations.health.consistency_checks`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import sqlalchemy as sa

from manager.db.engine import Transaction
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

__all__ = ["QUESTIONS", "report_files"]

EXAMPLES: Final = 10

_OWNED = sa.exists().where(assignments.c.unit_id == units.c.id, assignments.c.until_ms.is_(None))


def _units_with_many_owners(tx: Transaction) -> list[str]:
    query = (
        sa.select(units.c.key)
        .join(assignments, assignments.c.unit_id == units.c.id)
        .where(assignments.c.until_ms.is_(None))
        .group_by(units.c.id, units.c.key)
        .having(sa.func.count() > 1)
    )
    return tx.values(query.limit(EXAMPLES))


def _placed_without_owner(tx: Transaction) -> list[str]:
    return tx.values(
        sa.select(units.c.key).where(units.c.state == "placed", ~_OWNED).limit(EXAMPLES)
    )


def _owned_but_not_placed(tx: Transaction) -> list[str]:
    query = sa.select(units.c.key).where(units.c.state.in_(("new", "idle", "excluded")), _OWNED)
    return tx.values(query.limit(EXAMPLES))


def _overlaps_of_owners(tx: Transaction) -> list[str]:
    """An owner's interval begins before the one before it ended."""
    before = assignments.alias("before")
    query = (
        sa.select(units.c.key)
        .join(assignments, assignments.c.unit_id == units.c.id)
        .join(
            before,
            sa.and_(
                before.c.unit_id == assignments.c.unit_id,
                before.c.epoch == assignments.c.epoch - 1,
            ),
        )
        .where(before.c.until_ms.is_(None))
    )
    return tx.values(query.limit(EXAMPLES))


def _groups_with_many_owners(tx: Transaction) -> list[str]:
    query = (
        sa.select(sa.func.min(hosts.c.key))
        .join(units, units.c.host_id == hosts.c.id)
        .join(assignments, assignments.c.unit_id == units.c.id)
        .where(assignments.c.until_ms.is_(None), hosts.c.shared_interval_ms.is_(None))
        .group_by(hosts.c.group_id)
        .having(sa.func.count(assignments.c.agent_id.distinct()) > 1)
    )
    return tx.values(query.limit(EXAMPLES))


def _groups_with_many_holders(tx: Transaction) -> list[str]:
    """Of several holders of a group, all but one must be giving it up."""
    query = (
        sa.select(sa.func.min(units.c.key))
        .join(rights, rights.c.unit_id == units.c.id)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(rights.c.withdrawn_generation.is_(None), hosts.c.shared_interval_ms.is_(None))
        .group_by(rights.c.group_id)
        .having(sa.func.count(rights.c.agent_id.distinct()) > 1)
    )
    return tx.values(query.limit(EXAMPLES))


def _holders_without_a_share(tx: Transaction) -> list[str]:
    query = (
        sa.select(sa.func.min(hosts.c.key))
        .join(rights, rights.c.group_id == hosts.c.group_id)
        .where(hosts.c.shared_interval_ms.is_not(None), rights.c.kind == "crawl")
        .group_by(hosts.c.id, hosts.c.shares)
        .having(sa.func.count(rights.c.agent_id.distinct()) > hosts.c.shares)
    )
    return tx.values(query.limit(EXAMPLES))


def _shared_and_not_alone(tx: Transaction) -> list[str]:
    other = hosts.alias("other")
    beside = sa.exists().where(other.c.group_id == hosts.c.group_id, other.c.id != hosts.c.id)
    query = sa.select(hosts.c.key).where(hosts.c.shared_interval_ms.is_not(None), beside)
    return tx.values(query.limit(EXAMPLES))


def _rights_in_another_group(tx: Transaction) -> list[str]:
    query = (
        sa.select(units.c.key)
        .join(rights, rights.c.unit_id == units.c.id)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(
            sa.or_(hosts.c.group_id.is_(None), hosts.c.group_id != rights.c.group_id),
        )
    )
    return tx.values(query.limit(EXAMPLES))


def _rights_without_permit(tx: Transaction) -> list[str]:
    query = (
        sa.select(units.c.key)
        .join(rights, rights.c.unit_id == units.c.id)
        .join(agents, agents.c.id == rights.c.agent_id)
        .where(agents.c.permit_until_ms <= 0)
    )
    return tx.values(query.limit(EXAMPLES))


def _rights_from_the_future(tx: Transaction) -> list[str]:
    """A right stands in the present list or the next one; it is withdrawn after it was given."""
    query = (
        sa.select(units.c.key)
        .join(rights, rights.c.unit_id == units.c.id)
        .join(agents, agents.c.id == rights.c.agent_id)
        .where(
            sa.or_(
                rights.c.granted_generation > agents.c.generation + 1,
                rights.c.withdrawn_generation > agents.c.generation + 1,
                rights.c.withdrawn_generation <= rights.c.granted_generation,
            )
        )
    )
    return tx.values(query.limit(EXAMPLES))


def _silent_changes(tx: Transaction) -> list[str]:
    """A right of the next list without the mark that makes it come."""
    query = (
        sa.select(agents.c.name)
        .distinct()
        .join(rights, rights.c.agent_id == agents.c.id)
        .where(
            ~agents.c.list_changed,
            sa.or_(
                rights.c.granted_generation > agents.c.generation,
                rights.c.withdrawn_generation > agents.c.generation,
            ),
        )
    )
    return tx.values(query.limit(EXAMPLES))


def _orders_without_right(tx: Transaction) -> list[str]:
    right = sa.exists().where(
        rights.c.unit_id == probe_orders.c.unit_id,
        rights.c.agent_id == probe_orders.c.agent_id,
        rights.c.kind == "probe",
    )
    query = (
        sa.select(units.c.key)
        .join(probe_orders, probe_orders.c.unit_id == units.c.id)
        .where(probe_orders.c.state == "granted", ~right)
    )
    return tx.values(query.limit(EXAMPLES))


def _probes_without_order(tx: Transaction) -> list[str]:
    order = sa.exists().where(
        probe_orders.c.unit_id == rights.c.unit_id,
        probe_orders.c.agent_id == rights.c.agent_id,
        probe_orders.c.round == rights.c.round,
        probe_orders.c.state == "granted",
    )
    query = (
        sa.select(units.c.key)
        .join(rights, rights.c.unit_id == units.c.id)
        .where(rights.c.kind == "probe", rights.c.withdrawn_generation.is_(None), ~order)
    )
    return tx.values(query.limit(EXAMPLES))


def _refetches_without_right(tx: Transaction) -> list[str]:
    right = sa.exists().where(
        rights.c.unit_id == refetch_orders.c.unit_id,
        rights.c.agent_id == refetch_orders.c.agent_id,
        rights.c.kind == "refetch",
    )
    query = (
        sa.select(units.c.key)
        .join(refetch_orders, refetch_orders.c.unit_id == units.c.id)
        .where(refetch_orders.c.state == "granted", ~right)
        .distinct()
    )
    return tx.values(query.limit(EXAMPLES))


def _orders_of_old_rounds(tx: Transaction) -> list[str]:
    going_on = sa.select(rounds.c.number).where(rounds.c.open == 1)
    query = (
        sa.select(units.c.key)
        .join(probe_orders, probe_orders.c.unit_id == units.c.id)
        .where(
            probe_orders.c.state.in_(("waiting", "granted", "finished")),
            probe_orders.c.round.not_in(going_on),
        )
    )
    return tx.values(query.limit(EXAMPLES))


def _crawls_without_right(tx: Transaction) -> list[str]:
    right = sa.exists().where(
        rights.c.unit_id == unit_rounds.c.unit_id,
        rights.c.agent_id == unit_rounds.c.agent_id,
        rights.c.kind == "crawl",
    )
    query = (
        sa.select(units.c.key)
        .join(unit_rounds, unit_rounds.c.unit_id == units.c.id)
        .where(unit_rounds.c.state == "granted", ~right)
    )
    return tx.values(query.limit(EXAMPLES))


def _rights_without_crawl(tx: Transaction) -> list[str]:
    crawl = sa.exists().where(
        unit_rounds.c.unit_id == rights.c.unit_id,
        unit_rounds.c.agent_id == rights.c.agent_id,
        unit_rounds.c.round == rights.c.round,
        unit_rounds.c.state == "granted",
    )
    query = (
        sa.select(units.c.key)
        .join(rights, rights.c.unit_id == units.c.id)
        .where(rights.c.kind == "crawl", rights.c.withdrawn_generation.is_(None), ~crawl)
    )
    return tx.values(query.limit(EXAMPLES))


def _crawls_of_others(tx: Transaction) -> list[str]:
    """Check that what is still to be crawled is to be crawled by its owner."""
    owner = sa.exists().where(
        assignments.c.unit_id == unit_rounds.c.unit_id,
        assignments.c.agent_id == unit_rounds.c.agent_id,
        assignments.c.until_ms.is_(None),
    )
    query = (
        sa.select(units.c.key)
        .join(unit_rounds, unit_rounds.c.unit_id == units.c.id)
        .where(unit_rounds.c.state.in_(("waiting", "granted")), ~owner)
    )
    return tx.values(query.limit(EXAMPLES))


def _owned_but_not_in_round(tx: Transaction) -> list[str]:
    """Every unit with an owner takes part in a round that crawls."""
    takes_part = sa.exists().where(
        unit_rounds.c.unit_id == assignments.c.unit_id, unit_rounds.c.round == rounds.c.number
    )
    query = (
        sa.select(units.c.key)
        .join(assignments, assignments.c.unit_id == units.c.id)
        .join(rounds, rounds.c.state == "crawling")
        .where(assignments.c.until_ms.is_(None), ~takes_part)
    )
    return tx.values(query.limit(EXAMPLES))


def _hosts_without_unit(tx: Transaction) -> list[str]:
    unit = sa.exists().where(units.c.host_id == hosts.c.id, units.c.path == "/")
    return tx.values(sa.select(hosts.c.key).where(~unit).limit(EXAMPLES))


def _work_without_address(tx: Transaction) -> list[str]:
    query = (
        sa.select(units.c.key)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(hosts.c.group_id.is_(None), units.c.state.in_(("idle", "probing", "placed")))
    )
    return tx.values(query.limit(EXAMPLES))


def _excluded_but_not_out(tx: Transaction) -> list[str]:
    query = (
        sa.select(units.c.key)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(
            units.c.merged_ms.is_(None),
            (hosts.c.excluded_ms.is_not(None)) != (units.c.state == "excluded"),
        )
    )
    return tx.values(query.limit(EXAMPLES))


def _work_of_who_left(tx: Transaction) -> list[str]:
    """Check that an agent that left has no right, unless a machine still has its old key."""
    query = (
        sa.select(agents.c.name)
        .distinct()
        .join(rights, rights.c.agent_id == agents.c.id)
        .where(~agents.c.subscribed, ~agents.c.rejoined)
    )
    return tx.values(query.limit(EXAMPLES))


QUESTIONS: Final[dict[str, Callable[[Transaction], list[str]]]] = {
    "unit_with_many_owners": _units_with_many_owners,
    "placed_without_owner": _placed_without_owner,
    "owned_not_placed": _owned_but_not_placed,
    "overlapping_owners": _overlaps_of_owners,
    "address_with_many_owners": _groups_with_many_owners,
    "address_with_many_holders": _groups_with_many_holders,
    "split_host_over_shares": _holders_without_a_share,
    "split_host_shares_address": _shared_and_not_alone,
    "right_in_other_group": _rights_in_another_group,
    "right_without_permit": _rights_without_permit,
    "future_right": _rights_from_the_future,
    "unmarked_list_change": _silent_changes,
    "left_agent_with_right": _work_of_who_left,
    "probe_without_right": _orders_without_right,
    "probe_right_without_order": _probes_without_order,
    "refetch_without_right": _refetches_without_right,
    "old_probe_order": _orders_of_old_rounds,
    "crawl_without_right": _crawls_without_right,
    "right_without_crawl": _rights_without_crawl,
    "crawl_of_other": _crawls_of_others,
    "owned_not_in_round": _owned_but_not_in_round,
    "host_without_unit": _hosts_without_unit,
    "work_without_address": _work_without_address,
    "excluded_in_part": _excluded_but_not_out,
}


def report_files(tx: Transaction, after_id: int, limit: int) -> list[tuple[int, str]]:
    """Return (id, path) of reports whose rows lie in a file, after an id."""
    rows = tx.execute(
        sa.select(reports.c.id, reports.c.path)
        .where(reports.c.id > after_id, reports.c.path != "")
        .order_by(reports.c.id)
        .limit(limit)
    )
    return [(row.id, row.path) for row in rows]

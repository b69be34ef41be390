"""Hosts as people list and search them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from manager.db.engine import Transaction
from manager.db.tables import agents, assignments, hosts, units

__all__ = ["SORTS", "HostLine", "count_matching", "page"]

SORTS: Final[dict[str, Any]] = {
    "domain": hosts.c.reversed_key,
    "first_seen": hosts.c.first_seen_ms,
    "volume": sa.func.coalesce(units.c.volume_kb, 0.0),
    "pages": sa.func.coalesce(units.c.pages, 0),
    "owner": sa.func.coalesce(agents.c.name, ""),
    "state": units.c.state,
}


@dataclass(frozen=True, slots=True)
class HostLine:
    """A host as the table shows it, with the owner and size of its unit `/`."""

    id: int
    key: str
    state: str
    owner: str | None
    volume_kb: float | None
    pages: int | None
    first_seen_ms: int
    resolution: str
    resolve_problem: str
    excluded_reason: str
    group_id: int | None


def page(
    tx: Transaction,
    *,
    reversed_prefix: str,
    text: str,
    owner: str,
    state: str,
    sort: str,
    descending: bool,
    limit: int,
    offset: int,
) -> list[HostLine]:
    """Return one page of the hosts that match."""
    order = SORTS[sort].desc() if descending else SORTS[sort]
    query = (
        _matching(reversed_prefix, text, owner, state)
        .with_only_columns(
            hosts.c.id,
            hosts.c.key,
            units.c.state,
            agents.c.name.label("owner"),
            units.c.volume_kb,
            units.c.pages,
            hosts.c.first_seen_ms,
            hosts.c.resolution,
            hosts.c.resolve_problem,
            hosts.c.excluded_reason,
            hosts.c.group_id,
        )
        .order_by(order, hosts.c.id)
        .limit(limit)
        .offset(offset)
    )
    return tx.rows(HostLine, query)


def count_matching(
    tx: Transaction, *, reversed_prefix: str, text: str, owner: str, state: str, most: int
) -> int:
    """Return how many hosts match, counting up to `most`."""
    found = (
        _matching(reversed_prefix, text, owner, state)
        .with_only_columns(hosts.c.id)
        .limit(most)
        .subquery()
    )
    return int(tx.value(sa.select(sa.func.count()).select_from(found)))


def _matching(reversed_prefix: str, text: str, owner: str, state: str) -> sa.Select[Any]:
    query = sa.select(hosts.c.id).select_from(
        hosts.join(units, sa.and_(units.c.host_id == hosts.c.id, units.c.path == "/"))
        .outerjoin(
            assignments,
            sa.and_(assignments.c.unit_id == units.c.id, assignments.c.until_ms.is_(None)),
        )
        .outerjoin(agents, agents.c.id == assignments.c.agent_id)
    )
    if reversed_prefix:
        # A range, which an index on either database can use; in it, the domain and names below.
        end = reversed_prefix[:-1] + chr(ord(reversed_prefix[-1]) + 1)
        query = query.where(
            hosts.c.reversed_key >= reversed_prefix,
            hosts.c.reversed_key < end,
            sa.or_(
                *(
                    hosts.c.reversed_key.startswith(reversed_prefix + after, autoescape=True)
                    for after in ("),:")
                )
            ),
        )
    if text:
        query = query.where(hosts.c.key.contains(text, autoescape=True))
    if owner:
        query = query.where(agents.c.name == owner)
    if state:
        query = query.where(units.c.state == state)
    return query

"""Values common to the syncs of all agents at a moment, read by one query.

One query for each value would cost a fiftieth of a sync.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.tables import (
    address_rules,
    clock,
    crawl_scopes,
    release_policy,
    rounds,
    withdrawals,
)
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = ["SyncFacts", "sync_facts"]


@frozen
class SyncFacts:
    """Values common to all agents.

    last_tick_ms: None: there was no tick yet. minimum_version: below which agents get no permit;
    empty: none. scope_version, withdrawal, address_change: numbers of the newest; 0: there is none.
    round: the newest open one, or the last; 0: there was none.
    """

    last_tick_ms: int | None
    minimum_version: str
    scope_version: int
    withdrawal: int
    address_change: int
    round: int


def _newest(column: sa.ColumnElement[int]) -> sa.ColumnElement[int]:
    return sa.func.coalesce(sa.select(sa.func.max(column)).scalar_subquery(), 0)


_OPEN_ROUND: Final = sa.select(sa.func.max(rounds.c.number)).where(rounds.c.open.is_not(None))
_FACTS: Final = sa.select(
    sa.select(clock.c.last_tick_ms).scalar_subquery().label("last_tick_ms"),
    sa.func.coalesce(sa.select(release_policy.c.minimum).scalar_subquery(), "").label(
        "minimum_version"
    ),
    _newest(crawl_scopes.c.id).label("scope_version"),
    _newest(withdrawals.c.id).label("withdrawal"),
    _newest(address_rules.c.number).label("address_change"),
    sa.func.coalesce(_OPEN_ROUND.scalar_subquery(), _newest(rounds.c.number)).label("round"),
)


def sync_facts(tx: Transaction) -> SyncFacts:
    """Return the values as they are now."""
    found = tx.row(SyncFacts, _FACTS)
    assert found is not None  # a query without FROM has one row
    return found

"""By what one sees that something changed, without reading what: a mark a topic.

A mark is a text that differs after a change; nothing else of it means anything. Each is made of
the ends of indexes and of sums over the few rows that are open, so that asking every second or two
costs little. Whoever changed it, by whatever manager, is seen the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import (
    agents,
    alert_silences,
    alerts_told,
    archive_jobs,
    audit,
    collection_orders,
    downloads,
    hosts,
    plans,
    reports,
    transfers,
)
from manager.db.transaction import Transaction

__all__ = ["TOPICS", "marks"]


def _last(column: sa.ColumnElement[Any]) -> sa.ScalarSelect[Any]:
    return sa.select(sa.func.max(column)).scalar_subquery()


def _of(column: sa.ColumnElement[Any], *where: sa.ColumnElement[bool]) -> sa.ScalarSelect[Any]:
    return sa.select(column).where(*where).scalar_subquery()


_SIGNS: Final[Mapping[str, sa.ScalarSelect[Any]]] = {
    "audit": _last(audit.c.id),
    "agents": _of(sa.func.count(agents.c.id)),
    "contact": _last(agents.c.last_contact_ms),
    "hosts": _last(hosts.c.id),
    "reports": _last(reports.c.id),
    "plans": _last(plans.c.id),
    "transfers": _last(transfers.c.id),
    "begun": _of(sa.func.count(transfers.c.id), transfers.c.state == "receiving"),
    "coming": _of(sa.func.max(transfers.c.changed_ms), transfers.c.state == "receiving"),
    "accepted": _of(sa.func.max(transfers.c.changed_ms), transfers.c.state == "accepted"),
    "orders": _last(collection_orders.c.id),
    "downloads": _last(downloads.c.last_ms),
    "jobs": _last(archive_jobs.c.id),
    "making": _of(sa.func.sum(archive_jobs.c.done), archive_jobs.c.state == "running"),
    "told": _of(sa.func.max(alerts_told.c.told_ms)),
    "troubles": _of(sa.func.count(alerts_told.c.key)),
    "silences": _last(alert_silences.c.id),
}
"""What is looked at. What people, agents and the clock did beside it stands in the audit."""

TOPICS: Final[Mapping[str, tuple[str, ...]]] = {
    "agents": ("audit", "agents", "contact"),
    "hosts": ("audit", "hosts", "reports"),
    # What agents fetched and probed comes with their calls.
    "rounds": ("audit", "contact", "reports", "plans"),
    "plans": ("audit", "plans"),
    "reports": ("reports",),
    "collection": ("audit", "contact", "transfers", "begun", "coming", "accepted", "orders"),
    "data": ("audit", "downloads", "jobs", "making"),
    "releases": ("audit", "contact"),
    "alerts": ("audit", "told", "troubles", "silences"),
    "audit": ("audit",),
}
"""Which signs speak of which pages."""


def marks(tx: Transaction) -> dict[str, str]:
    """Return the mark of each topic, by one query."""
    found = (
        tx.execute(sa.select(*(sign.label(name) for name, sign in _SIGNS.items()))).mappings().one()
    )
    return {topic: " ".join(str(found[name]) for name in names) for topic, names in TOPICS.items()}

"""The audit: rows are only added. What they say is left to operations."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import sqlalchemy as sa

from manager.db.tables import audit
from manager.db.transaction import Transaction, newest_first
from shared.frozen import frozen

__all__ = ["TOLD", "AuditRow", "add", "alerts_after", "last_id_before", "newest", "rows_with_text"]

TOLD: Final = "alert."
"""Prefix of the actions that record sent alerts and their recipients; so have all their names."""

_IS_TOLD: Final = sa.text("substr(action, 1, 6) = 'alert.'")
"""As the index of these has it: a database uses it for the same words only."""


@frozen
class AuditRow:
    """One action: who did what to what, and when. `detail` is JSON or empty."""

    id: int
    at_ms: int
    actor_kind: str
    actor_name: str
    action: str
    subject: str
    detail: str
    request_id: str
    alert: bool
    address: str = ""
    browser: str = ""


def add(
    tx: Transaction,
    *,
    at_ms: int,
    actor_kind: str,
    actor_name: str,
    action: str,
    subject: str,
    detail: str,
    request_id: str,
    alert: bool,
    address: str = "",
    browser: str = "",
) -> None:
    """Add one row. address, browser: where a person was who did it."""
    tx.insert(
        audit,
        [
            {
                "at_ms": at_ms,
                "actor_kind": actor_kind,
                "actor_name": actor_name,
                "action": action,
                "subject": subject,
                "detail": detail,
                "request_id": request_id,
                "alert": alert,
                "address": address,
                "browser": browser,
            }
        ],
    )


def newest(
    tx: Transaction,
    *,
    limit: int,
    before_id: int | None = None,
    action: str = "",
    also: Collection[str] = (),
    subject: str = "",
    actor: str = "",
    alerts: bool = False,
    only: int | None = None,
) -> list[AuditRow]:
    """Return rows, newest first, before an id; `action` matches from the beginning.

    also: other names of the same actions. only: the row of this id.
    """
    query = sa.select(audit)
    if action.startswith(TOLD):
        query = query.where(_IS_TOLD)
    if action:
        begins = audit.c.action.startswith(action, autoescape=True)
        query = query.where(sa.or_(begins, audit.c.action.in_(also)) if also else begins)
    if alerts:
        query = query.where(audit.c.alert)
    wanted = (audit.c.id, only), (audit.c.subject, subject), (audit.c.actor_name, actor)
    return tx.rows(AuditRow, newest_first(query, audit.c.id, limit, before_id, *wanted))


def rows_with_text(tx: Transaction, text: str, *, among: int, limit: int) -> list[AuditRow]:
    """Return rows whose action, actor or subject contains a text, in upper or lower case.

    among: so many of the newest rows are looked at.
    """
    newest_id = tx.value(sa.select(sa.func.max(audit.c.id)))
    if newest_id is None:
        return []
    columns = (audit.c.action, audit.c.actor_name, audit.c.subject)
    low = text.lower()
    holds = [sa.func.lower(column).contains(low, autoescape=True) for column in columns]
    query = sa.select(audit).where(audit.c.id > newest_id - among, sa.or_(*holds))
    return tx.rows(AuditRow, query.order_by(audit.c.id.desc()).limit(limit))


def alerts_after(tx: Transaction, after_id: int, since_ms: int, limit: int) -> list[AuditRow]:
    """Return the rows behind a number and of a moment or later that a person should look at.

    The oldest first, at most `limit`.
    """
    c = audit.c
    query = sa.select(audit).where(c.alert, c.id > after_id, c.at_ms >= since_ms)
    return tx.rows(AuditRow, query.order_by(c.id).limit(limit))


def last_id_before(tx: Transaction, at_ms: int) -> int:
    """Return the number of the last row before a moment; 0: there is none."""
    query = sa.select(sa.func.coalesce(sa.func.max(audit.c.id), 0)).where(audit.c.at_ms < at_ms)
    return int(tx.value(query))

"""Read the audit."""

from __future__ import annotations

from manager.db.engine import Database
from manager.db.people import audit_log
from manager.db.people.audit_log import AuditRow
from manager.operations.audit_actions import other_names

__all__ = ["AuditRow", "audit_page"]


def audit_page(
    db: Database,
    *,
    limit: int = 100,
    before_id: int | None = None,
    action: str = "",
    subject: str = "",
    actor: str = "",
    alerts: bool = False,
) -> list[AuditRow]:
    """Return at most `limit` rows, newest first, before an id.

    action: the beginning of one of its names, as `agent.`; subject, actor: the whole name.
    alerts: only those.
    """
    with db.read() as tx:
        return audit_log.newest(
            tx,
            limit=max(1, min(limit, 1000)),
            before_id=before_id,
            action=action,
            also=other_names(action),
            subject=subject,
            actor=actor,
            alerts=alerts,
        )

"""What was told of alerts is found among all rows of the audit."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from manager.db import audit
from manager.db.engine import Database

ACTIONS = ("alert.begun", "report.accept", "alert.over", "alerts.test", "alertx", "alert.begun")


def test_what_was_told_is_found_in_its_index(database: Database) -> None:
    """All of it or one kind, newest first, and nothing that is only called alike."""
    with database.write() as tx:
        for number, action in enumerate(ACTIONS):
            audit.add(
                tx,
                at_ms=number,
                actor_kind="clock",
                actor_name="clock",
                action=action,
                subject="",
                detail="",
                request_id="",
                alert=False,
            )
    plans: list[str] = []
    word = "EXPLAIN QUERY PLAN" if database.is_sqlite else "EXPLAIN"
    with database.read() as tx:
        if not database.is_sqlite:  # of six rows it would rather look at all
            tx.execute(sa.text("SET LOCAL enable_seqscan = off"))
            tx.execute(sa.text("SET LOCAL enable_sort = off"))

        @sa.event.listens_for(tx.connection, "before_cursor_execute")
        def look(connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
            rows = connection.connection.cursor().execute(f"{word} {statement}", parameters)
            plans.append(str(list(rows)))

        told = audit.newest(tx, limit=10, action=audit.TOLD)
        begun = audit.newest(tx, limit=1, action="alert.begun")
        alike = audit.newest(tx, limit=10, action="alert")
    assert [row.at_ms for row in told] == [5, 2, 0]
    assert [row.at_ms for row in begun] == [5]
    assert [row.at_ms for row in alike] == [5, 4, 3, 2, 0]
    assert ["ix_audit_told" in plan for plan in plans] == [True, True, False]

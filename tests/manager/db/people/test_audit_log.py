"""What was told of alerts, and the last backup, are found among all rows of the audit."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from manager.db.engine import Database, Transaction
from manager.db.health import system_figures
from manager.db.people import audit_log
from manager.operations.audit_actions import other_names

ACTIONS = ("alert.begun", "log.accept", "alert.end", "alerts.test", "alertx", "alert.send")


def test_what_was_told_is_found_in_its_index(database: Database) -> None:
    """All of it or one kind, newest first, and nothing that is only called alike."""
    add(database, *ACTIONS)
    with database.read() as tx:
        plans = plans_of(database, tx)
        told = audit_log.newest(tx, limit=10, action=audit_log.TOLD)
        both = audit_log.newest(tx, limit=9, action="alert.send", also=other_names("alert.send"))
        alike = audit_log.newest(tx, limit=10, action="alert")
    assert [row.at_ms for row in told] == [5, 2, 0]
    assert [row.at_ms for row in both] == [5, 0]
    assert [row.at_ms for row in alike] == [5, 4, 3, 2, 0]
    assert ["ix_audit_told" in plan for plan in plans] == [True, True, False]


def test_the_last_whole_backup_is_found_in_its_index(database: Database) -> None:
    """One that lacks files is none; before the first there is none."""
    with database.read() as tx:
        assert system_figures.last_backup_ms(tx) == 0
    add(database, "login", "manager.backup", "manager.backup", "manager.backup-incomplete", "login")
    with database.read() as tx:
        plans = plans_of(database, tx)
        assert system_figures.last_backup_ms(tx) == 2
    assert ["ix_audit_backups" in plan for plan in plans] == [True]


def add(database: Database, *actions: str) -> None:
    """Add a row for each action, at 0, 1, 2, ... ms."""
    with database.write() as tx:
        for number, action in enumerate(actions):
            audit_log.add(
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


def plans_of(database: Database, tx: Transaction) -> list[str]:
    """Return a list that gets the plan of each statement of a transaction from here on."""
    plans: list[str] = []
    word = "EXPLAIN QUERY PLAN" if database.is_sqlite else "EXPLAIN"
    if not database.is_sqlite:  # of six rows it would rather look at all
        tx.execute(sa.text("SET LOCAL enable_seqscan = off"))
        tx.execute(sa.text("SET LOCAL enable_sort = off"))

    @sa.event.listens_for(tx.connection, "before_cursor_execute")
    def look(connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        rows = connection.connection.cursor().execute(f"{word} {statement}", parameters)
        plans.append(str(list(rows)))

    return plans

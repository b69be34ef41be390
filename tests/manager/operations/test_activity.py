"""What was fetched over time: each log is spread over its hours, and nothing is lost."""

from __future__ import annotations

import pytest

from manager.db import activity
from manager.db.engine import Database
from manager.operations.activity import HOUR_MS, KEPT_MS, add_activity, rates

NOW_MS = 500_000 * HOUR_MS + HOUR_MS // 2


def test_a_log_is_spread_over_its_hours(database: Database) -> None:
    """Hours add up to what the logs say; those that go on are reckoned over what has passed."""
    with database.write() as tx:
        add_activity(tx, NOW_MS - 2 * HOUR_MS, NOW_MS, NOW_MS, (101, 99, 7, 1_000_003))
        add_activity(tx, NOW_MS - 10, NOW_MS + HOUR_MS, NOW_MS, (1, 1, 0, 10))
        rows = activity.since(tx, 0)
    assert [row.hour_ms // HOUR_MS for row in rows] == [499_998, 499_999, 500_000]
    assert sum(row.pages for row in rows) == 100
    assert sum(row.requests for row in rows) == 102
    assert sum(row.bytes for row in rows) == 1_000_013
    assert [row.errors for row in rows] == [2, 3, 2] or sum(row.errors for row in rows) == 7
    seen = rates(database, NOW_MS, steps=3, hours=1)
    assert [one.from_ms for one in seen] == [row.hour_ms for row in rows]
    assert seen[1].pages_per_s == pytest.approx(rows[1].pages / 3600)
    assert seen[2].pages_per_s == pytest.approx(rows[2].pages / 1800)
    days = rates(database, NOW_MS, steps=30, hours=24)
    assert len(days) == 30
    assert sum(one.bytes_per_s > 0 for one in days) <= 2


def test_old_hours_are_forgotten_and_long_logs_are_of_their_end(database: Database) -> None:
    """A log of a year counts as of two days; what is older than all that is kept adds nothing."""
    with database.write() as tx:
        add_activity(tx, NOW_MS - KEPT_MS * 2, NOW_MS - KEPT_MS - 1, NOW_MS, (5, 5, 0, 5))
        assert activity.since(tx, 0) == []
        add_activity(tx, NOW_MS - KEPT_MS, NOW_MS - KEPT_MS + HOUR_MS, NOW_MS, (5, 5, 0, 5))
        assert activity.since(tx, 0)
        later_ms = NOW_MS + 3 * HOUR_MS
        add_activity(tx, 0, later_ms, later_ms, (9, 490, 0, 9))
        rows = activity.since(tx, 0)
    assert all(row.hour_ms > NOW_MS - KEPT_MS for row in rows)
    assert len(rows) == 49
    assert sum(row.pages for row in rows) == 490

"""What was fetched over time: each log is spread over its hours, and nothing is lost."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.db.logs import activity
from manager.operations.logs.activity import HOUR_MS, KEPT_MS, add_activity, rates

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
    assert sum((one.bytes_per_s or 0) > 0 for one in days) <= 2


def test_time_without_a_log_is_not_known(database: Database) -> None:
    """None, not 0: before the first log, and while the log of an hour is still to come."""
    with database.write() as tx:
        add_activity(tx, NOW_MS - 3 * HOUR_MS, NOW_MS - HOUR_MS, NOW_MS, (4, 4, 0, 40))
    seen = rates(database, NOW_MS, steps=6, hours=1)
    assert [one.pages_per_s is None for one in seen] == [True, True, False, False, False, True]
    assert [one.is_over for one in seen] == [True] * 5 + [False]
    assert seen[0].bytes_per_s is None
    assert seen[0].errors_per_s is None


def test_an_hour_of_a_log_in_which_nothing_was_fetched_is_known(database: Database) -> None:
    """It is 0 there: an agent that had nothing to do, or waited."""
    with database.write() as tx:
        add_activity(tx, NOW_MS - 3 * HOUR_MS, NOW_MS - HOUR_MS, NOW_MS, (0, 0, 0, 0))
        add_activity(tx, NOW_MS - 6 * HOUR_MS, NOW_MS - 4 * HOUR_MS, NOW_MS, (1, 1, 0, 10))
    seen = rates(database, NOW_MS, steps=7, hours=1)
    assert [one.pages_per_s for one in seen[4:6]] == [0, 0]
    assert sum((one.pages_per_s or 0) * 3600 for one in seen) == pytest.approx(1)


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

"""Activity over time: hourly sums of all logs, for four hundred days.

A log is of a stretch of time, and what it says is spread over the hours of it as if its agent had
worked evenly. Invariant: nothing is lost by that: the hours of a log add up to what it says. Hours
are known when their logs came, so the newest are still growing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.logs import activity
from manager.db.logs.activity import HourRow
from shared.frozen import frozen

__all__ = ["Rate", "add_activity", "rates"]

HOUR_MS: Final = 3_600_000
KEPT_MS: Final = 400 * 24 * HOUR_MS
LOG_MOST_MS: Final = 48 * HOUR_MS
"""A log of a longer time counts as of its last two days: its agent was away in between."""
STEPS_MOST: Final = 1000


@frozen
class Rate:
    """The rates of fetching, a second on average, from a moment for some hours.

    None: no log speaks of that time, which is not the same as that nothing was fetched. is_over:
    the time has passed; in an unfinished interval the average is over its elapsed part.
    """

    from_ms: int
    pages_per_s: float | None
    bytes_per_s: float | None
    errors_per_s: float | None
    is_over: bool = True


def add_activity(
    tx: Transaction,
    since_ms: int,
    until_ms: int,
    now_ms: int,
    numbers: tuple[int, int, int, int],
) -> None:
    """Add what a log says. numbers: requests, pages, errors, bytes, of the time between the two."""
    end_ms = min(until_ms, now_ms)
    if end_ms < now_ms - KEPT_MS:
        return
    begin_ms = min(max(since_ms, end_ms - LOG_MOST_MS), end_ms)
    activity.add(tx, _spread(begin_ms, end_ms, numbers))
    activity.forget(tx, now_ms - KEPT_MS)


def _spread(begin_ms: int, end_ms: int, numbers: tuple[int, int, int, int]) -> list[HourRow]:
    """Return the hours between two moments, each with its part; together they are all of it.

    An hour of the log in which nothing was fetched has a row, too: it is known to be 0.
    """
    first, last = begin_ms // HOUR_MS, end_ms // HOUR_MS
    length_ms = max(1, end_ms - begin_ms)
    rows = []
    given = [0, 0, 0, 0]
    for hour in range(first, last + 1):
        over_ms = min(end_ms, (hour + 1) * HOUR_MS) - begin_ms
        share = 1.0 if hour == last else over_ms / length_ms
        upto = [round(number * share) for number in numbers]
        part = [new - old for new, old in zip(upto, given, strict=True)]
        given = upto
        if any(part) or over_ms > max(0, hour * HOUR_MS - begin_ms):
            rows.append(HourRow(hour * HOUR_MS, part[0], part[1], part[2], part[3]))
    return rows


def rates(db: Database, now_ms: int, *, steps: int, hours: int) -> list[Rate]:
    """Return the rates of the last `steps` intervals of so many hours, oldest first.

    The last interval is the present one, averaged over its elapsed part.
    """
    steps = max(1, min(steps, STEPS_MOST))
    length_ms = max(1, hours) * HOUR_MS
    end = now_ms // length_ms + 1
    first_ms = (end - steps) * length_ms
    with db.read() as tx:
        found = activity.since(tx, first_ms)
    return [
        _rate(
            [row for row in found if at_ms <= row.hour_ms < at_ms + length_ms],
            at_ms,
            min(length_ms, now_ms - at_ms),
            is_over=at_ms + length_ms <= now_ms,
        )
        for at_ms in range(first_ms, end * length_ms, length_ms)
    ]


def _rate(rows: Sequence[HourRow], from_ms: int, passed_ms: int, *, is_over: bool) -> Rate:
    if not rows:
        return Rate(from_ms, None, None, None, is_over)
    seconds = max(1.0, passed_ms / 1000)
    return Rate(
        from_ms,
        sum(row.pages for row in rows) / seconds,
        sum(row.bytes for row in rows) / seconds,
        sum(row.errors for row in rows) / seconds,
        is_over,
    )

"""Moment at which a log was closed: the minute of its name, as far as its sender's clock is right.

A log that could not be sent in the morning comes hours or nights later, and its lines are of the
time before it was closed. Invariant: a log that may have been closed later is never taken for an
early one because of a clock that is behind: how late the sender's logs came so far puts it right.
"""

from __future__ import annotations

import calendar
import re
from typing import Final

from manager.assignment.right_history import SLACK_MS
from manager.db.engine import Transaction
from manager.db.logs import reports
from manager.db.logs.reports import ReportRow

__all__ = ["LOGS_READ", "closed_ms", "latest_close_ms"]

CLOCK_MS: Final = 7 * 24 * 3_600_000
"""A log that was closed longer ago has a name by a wrong clock."""
LOGS_READ: Final = 5
"""Newest logs of an agent that show how its clock goes."""

_MINUTE: Final = re.compile(r"\.([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})\Z")


def closed_ms(report: ReportRow) -> int:
    """Return when a log was closed, where the sender's clock can be right; else when it came."""
    came_ms = report.received_ms if report.until_ms is None else report.until_ms
    named_ms = _named_ms(report.name)
    if named_ms is None or came_ms - named_ms > CLOCK_MS:
        return came_ms
    return min(came_ms, named_ms)


def latest_close_ms(
    tx: Transaction, agent_id: int, name: str, now_ms: int, until_ms: int | None = None
) -> int:
    """Return the latest moment at which a log that comes now can have been closed.

    name: that of the log. until_ms: what it says of its lines itself, which may be wrong by the
    slack of all clocks; None: nothing. A sender whose clock is behind shows it by all of its logs:
    the one that came soonest after its minute says by how much at most.
    """
    said_ms = now_ms if until_ms is None else min(now_ms, until_ms + SLACK_MS)
    named_ms = _named_ms(name)
    if named_ms is None or now_ms - named_ms > CLOCK_MS:
        return said_ms
    behind_ms = now_ms - named_ms
    for report in reports.newest(tx, LOGS_READ, agent_id=agent_id):
        before_ms = _named_ms(report.name)
        if before_ms is not None:
            behind_ms = min(behind_ms, report.received_ms - before_ms)
    return min(said_ms, named_ms + max(0, behind_ms))


def _named_ms(name: str) -> int | None:
    """Return the end of the minute that names a log; None: it has none."""
    matched = _MINUTE.search(name)
    if matched is None:
        return None
    year, month, day, hour, minute = map(int, matched.groups())
    if not (year and 1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60):
        return None
    return calendar.timegm((year, month, day, hour, minute, 59)) * 1000 + 999

"""At which times cron starts an agent that has hours: each hour of them, and the one before.

A start where an agent works already does nothing, so the next hour mends whatever ended the last
one: a crash, a reboot, a hang, or a round that had nothing left to do. Outside the hours no process
is left that a person must end before he switches the machine off. Dates with their own hours have
their own lines, where the lines of the week do not start it.
Source: seed 004, 5.1.5 and 5.1.7 (started by cron at night, ended with the hours).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final

from shared.windows import Windows

__all__ = ["SAMPLES", "cron_times", "ranges"]

_DAY_HOURS: Final = 24
_NEVER_ALL: Final = 99  # days of a month are listed, also where they are all
SAMPLES: Final = (datetime(2026, 1, 12), datetime(2026, 7, 13))  # noqa: DTZ001  # a zone joins below
"""Two Mondays: in each half of the year a zone keeps its own time, and two zones may differ."""


def cron_times(windows: Windows, minute: int, machine: tzinfo) -> list[str]:
    """Return the five fields of each crontab line; minute: of the hour. No lines: always closed.

    machine: the zone in which cron reads them, which need not be that of the hours.
    """
    week = replace(windows, dates={})
    hours_of: dict[int, set[int]] = {day: set() for day in range(7)}  # cron's: 0 is Sunday
    for monday in SAMPLES:
        for start in _starts(week, monday, 7, minute, machine):
            hours_of[start.isoweekday() % 7].add(start.hour)
    days_of: dict[frozenset[int], list[int]] = {}
    for day, hours in hours_of.items():
        if hours:
            days_of.setdefault(frozenset(hours), []).append(day)
    return [
        f"{minute} {ranges(hours, _DAY_HOURS)} * * {ranges(days, 7)}"
        for hours, days in days_of.items()
    ] + [
        f"{minute} {ranges(hours, _DAY_HOURS)} {ranges(days, _NEVER_ALL)} {month} *"
        for (month, hours), days in _dated(windows, hours_of, minute, machine).items()
    ]


def _dated(
    windows: Windows, hours_of: Mapping[int, set[int]], minute: int, machine: tzinfo
) -> dict[tuple[int, frozenset[int]], list[int]]:
    """Return days of the month, by month and hours, that the lines of the week leave out."""
    found: dict[date, set[int]] = {}
    for day, hours in sorted(windows.dates.items()):
        if not hours:
            continue
        # The day before too: its last hour, and where cron's zone is another.
        before = datetime.combine(day - timedelta(days=1), time())
        for start in _starts(windows, before, 3, minute, machine):
            if start.hour not in hours_of[start.isoweekday() % 7]:
                found.setdefault(start.date(), set()).add(start.hour)
    days_of: dict[tuple[int, frozenset[int]], list[int]] = {}
    for day, hours_left in found.items():
        days_of.setdefault((day.month, frozenset(hours_left)), []).append(day.day)
    return days_of


def _starts(
    windows: Windows, midnight: datetime, days: int, minute: int, machine: tzinfo
) -> Iterator[datetime]:
    """Yield the starts, one an hour, from which on an hour of the site's begins or continues."""
    for number in range(days * _DAY_HOURS):
        start = (midnight + timedelta(hours=number, minutes=minute)).replace(tzinfo=machine)
        if any(windows.is_open(start + timedelta(minutes=one)) for one in range(60)):
            yield start


def ranges(numbers: Iterable[int], whole: int) -> str:
    """Return numbers as crontab writes them: `*`, `0,3-5`."""
    ordered = sorted(numbers)
    if len(ordered) == whole:
        return "*"
    runs: list[list[int]] = []
    for number in ordered:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)

"""Times at which cron starts an agent that has hours, and at which it looks for a release.

It is started in each of its hours, and in the one before. A start where an agent works already does
nothing, so the next hour mends whatever ended the last one: a crash, a reboot, a hang, or a round
that had nothing left to do. Outside the hours no process is left that a person must end before he
switches the machine off. Dates with their own hours have their own lines, where the lines of the
week do not start it.
Releases are looked for in the hours, once a day of them. A machine that is off outside its hours
would else never look, and one whose owner allows the night only would fetch and install by day.
Installations spread over the hours by the minute that each of them drew (`agent.link.link_memory`).
Source: seed 004, 5.1.5 and 5.1.7 (started by cron at night, ended with the hours).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final

from shared.frozen import frozen
from shared.windows import Windows

__all__ = ["SAMPLES", "UpdateTime", "cron_times", "update_time"]

_DAY_HOURS: Final = 24
_NEVER_ALL: Final = 99  # days of a month are listed, also where they are all
SAMPLES: Final = (datetime(2026, 1, 12), datetime(2026, 7, 13))  # noqa: DTZ001  # a zone joins below
"""Two Mondays: in each half of the year a zone keeps its own time, and two zones may differ."""

_WEEK: Final = tuple(range(7))
_ROOM: Final = timedelta(minutes=59)
"""For which the hours continue: a timer adds an hour at most, and a release wants to be fetched."""

_HALF_HOUR: Final = 30
_NAMES: Final = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")


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
        f"{minute} {_ranges(hours, _DAY_HOURS)} * * {_ranges(days, 7)}"
        for hours, days in days_of.items()
    ] + [
        f"{minute} {_ranges(hours, _DAY_HOURS)} {_ranges(days, _NEVER_ALL)} {month} *"
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


def _ranges(numbers: Iterable[int], whole: int) -> str:
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


@frozen
class UpdateTime:
    """By the clock of this machine. days: of the week, as cron counts them, 0 is Sunday."""

    hour: int
    minute: int
    days: tuple[int, ...] = _WEEK

    @property
    def of_cron(self) -> str:
        """Return the five fields of a crontab."""
        return f"{self.minute} {self.hour} * * {_ranges(self.days, len(_WEEK))}"

    @property
    def of_systemd(self) -> str:
        """Return it as OnCalendar= of a timer takes it."""
        days = "" if self.days == _WEEK else ",".join(_NAMES[day] for day in self.days) + " "
        return f"{days}*-*-* {self.hour:02}:{self.minute:02}:00"


def update_time(windows: Windows, spread_minute: int, machine: tzinfo) -> UpdateTime:
    """Return the time that is within the hours on most days, an hour before they end if it can be.

    spread_minute: the installation's own, 0 to 59. machine: the zone in which it is read. Dates
    with their own hours are passed over; hours on no day of the week: any time.
    """
    own = (spread_minute + _HALF_HOUR) % 60  # not together with the agent's start
    for minutes, room in (
        ((own,), _ROOM),
        (range(60), _ROOM),
        ((own,), timedelta()),
        (range(60), timedelta()),
    ):
        found = _best(windows, minutes, room, machine)
        if found:
            return found[spread_minute * len(found) // 60]
    return UpdateTime(spread_minute * 24 // 60, own)


def _best(
    windows: Windows, minutes: Iterable[int], room: timedelta, machine: tzinfo
) -> list[UpdateTime]:
    """Return the times that are open on most days of the week, summer and winter."""
    week = Windows(windows.zone, windows.weekday, windows.weekend, windows.days)
    found: list[UpdateTime] = []
    for hour in range(24):
        for minute in minutes:
            days = tuple(day for day in _WEEK if _is_open(week, day, hour, minute, room, machine))
            if days:
                found.append(UpdateTime(hour, minute, days))
    most = max((len(one.days) for one in found), default=0)
    return [one for one in found if len(one.days) == most]


def _is_open(
    week: Windows, day: int, hour: int, minute: int, room: timedelta, machine: tzinfo
) -> bool:
    """Return whether a time of a day, as cron counts it, is within the hours, and for how long."""
    for monday in SAMPLES:
        wall = monday + timedelta(days=(day - 1) % len(_WEEK), hours=hour, minutes=minute)
        start = wall.replace(tzinfo=machine)
        if not all(week.is_open(start + late) for late in (timedelta(), room)):
            return False
    return True

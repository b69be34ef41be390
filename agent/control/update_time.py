"""Weekly times of update checks: in the site's hours, once a day of them.

A machine that is off outside its hours would else never look, and one whose owner allows the night
only would fetch and install by day. Installations spread over the hours by the minute that each of
them drew (`agent.link.link_memory`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta, tzinfo
from typing import Final

from agent.control.cron_times import SAMPLES, ranges
from shared.frozen import frozen
from shared.windows import Windows

__all__ = ["UpdateTime", "update_time"]

_WEEK: Final = tuple(range(7))
_ROOM: Final = timedelta(minutes=59)
"""For which the hours continue: a timer adds an hour at most, and a release wants to be fetched."""

_HALF_HOUR: Final = 30
_NAMES: Final = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")


@frozen
class UpdateTime:
    """By the clock of this machine. days: of the week, as cron counts them, 0 is Sunday."""

    hour: int
    minute: int
    days: tuple[int, ...] = _WEEK

    @property
    def of_cron(self) -> str:
        """Return the five fields of a crontab."""
        return f"{self.minute} {self.hour} * * {ranges(self.days, len(_WEEK))}"

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

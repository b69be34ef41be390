"""Crontab lines as cron reads them: minute, hour, day of month, month, day of week; in a time zone.

Names of months and days, lists, ranges, steps and `@daily` are understood. 0 and 7 are Sunday, and
where both days are restricted either suffices, as crontab(5) says; APScheduler's own reading of a
crontab line differs in both, so it is given whole sets and only finds the next time.
A run at an hour that the clock skips comes when it has skipped; one at an hour that comes twice
comes once, unless the line names every hour.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apscheduler.triggers.cron import CronTrigger

from shared.errors import FormatError
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Crontab", "ScheduleError"]

_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_ALIASES: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_LEAP_YEAR: Final = 2028
TEXT_MOST: Final = 200


class ScheduleError(FormatError):
    """A line that no cron would run: which field, what is wrong, what would be right."""


@frozen
class _Field:
    """name: the code of its name."""

    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()
    first_name: int = 0

    @property
    def message(self) -> Message:
        """Return its name."""
        return Message(self.name)


_FIELDS: Final = (
    _Field("schedules.minute", 0, 59),
    _Field("schedules.hour", 0, 23),
    _Field("schedules.day", 1, 31),
    _Field("schedules.month", 1, 12, _MONTHS, 1),
    _Field("schedules.weekday", 0, 7, _DAYS, 0),
)


class Crontab:
    """One crontab line in one time zone."""

    def __init__(self, text: str, zone: str = "UTC") -> None:
        """Read a line; raises ScheduleError."""
        self.text = " ".join(text[: TEXT_MOST + 1].split())
        self.zone = _zone(zone)
        if len(text) > TEXT_MOST:
            raise ScheduleError("schedules.too_long", length=len(text), most=TEXT_MOST)
        parts = _ALIASES.get(self.text.lower(), self.text).split()
        if len(parts) != len(_FIELDS):
            raise ScheduleError("schedules.five_fields", text=self.text)
        minute, hour, day, month, weekday = (
            _values(part, field) for part, field in zip(parts, _FIELDS, strict=True)
        )
        weekday = {number % 7 for number in weekday}
        self._every_hour = len(hour) == 24
        # As cron has it: a day field that begins with a star restricts nothing.
        by_day, by_weekday = not parts[2].startswith("*"), not parts[4].startswith("*")
        every_day, every_weekday = set(range(1, 32)), set(range(7))
        if by_day and by_weekday:
            pairs = [(day, every_weekday), (every_day, weekday)]
        else:
            pairs = [(day, weekday)]
        if not (by_day and by_weekday) and not _exists(day, month):
            raise ScheduleError("schedules.no_such_day", text=self.text)
        self._triggers = [
            CronTrigger(
                minute=_written(minute),
                hour=_written(hour),
                day=_written(days),
                month=_written(month),
                day_of_week=",".join(_DAYS[number] for number in sorted(weekdays)),
                timezone=self.zone,
            )
            for days, weekdays in pairs
            if _exists(days, month)
        ]

    def next_after(self, moment: datetime) -> datetime:
        """Return the first run after a moment, in UTC."""
        return next(self._runs(moment))

    def next_runs(self, moment: datetime, count: int) -> list[datetime]:
        """Return the next runs after a moment, in the schedule's zone."""
        runs = self._runs(moment)
        return [next(runs).astimezone(self.zone) for _ in range(count)]

    def _runs(self, moment: datetime) -> Iterator[datetime]:
        now = moment.astimezone(UTC)
        while True:
            after = now + timedelta(microseconds=1)
            found = [trigger.get_next_fire_time(None, after) for trigger in self._triggers]
            run = min(one for one in found if one is not None)
            now = run.astimezone(UTC)
            if not run.fold or self._every_hour:
                yield now


def _values(text: str, field: _Field) -> set[int]:
    """Return the numbers that a field names."""
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step_text = part.partition("/")
        step = 1
        if slash:
            if not step_text.isascii() or not step_text.isdigit() or not 0 < int(step_text) < 100:
                raise ScheduleError("schedules.bad_step", field=field.message, value=part)
            step = int(step_text)
        if span == "*":
            first, last = field.least, field.most
        else:
            first_text, dash, last_text = span.partition("-")
            first = _number(first_text, field)
            last = _number(last_text, field) if dash else (field.most if slash else first)
        if last < first:
            raise ScheduleError("schedules.bad_range", field=field.message, value=part)
        found.update(range(first, last + 1, step))
    return found


def _number(text: str, field: _Field) -> int:
    lowered = text.lower()
    if lowered in field.names:
        return field.names.index(lowered) + field.first_name
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else -1
    if not field.least <= number <= field.most:
        about = {"field": field.message, "value": text, "least": field.least, "most": field.most}
        if field.names:
            first, last = field.names[0], field.names[-1]
            raise ScheduleError("schedules.bad_value_or_name", **about, first=first, last=last)
        raise ScheduleError("schedules.bad_value", **about)
    return number


def _exists(days: set[int], months: set[int]) -> bool:
    return min(days) <= max(monthrange(_LEAP_YEAR, month)[1] for month in months)


def _written(numbers: set[int]) -> str:
    return ",".join(str(number) for number in sorted(numbers))


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise ScheduleError("times.unknown_zone", zone=name[:64]).about("zone") from None

"""Hours in which requests may be sent: on the site's clock, by the kind of day.

Monday to Friday and the weekend have hours; single days of the week may have others (`days`), and
so may dates, as holidays do (`dates`). A date goes before a day, a day before its part of the week.

A moment is inside when the clock on the site's wall shows an hour of the window. So it is at both
changes of daylight saving: an hour that is skipped is not waited for, one that comes twice is
inside, or outside, both times; and by the clock on the wall no request is outside.
A window that ends before it begins goes over midnight and belongs to the day it begins on.
Pure: zones and instants in, instants out. All instants are UTC.
Source: seed 004, 5.1.4 (weekdays 02:00-08:00, weekends 02:00-22:00).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from shared.frozen import frozen

__all__ = ["ALWAYS", "Window", "Windows"]

Window = tuple[int, int]
"""First minute of the day, and the one behind the last; a smaller one is after midnight."""

ALWAYS: Final[Window] = (0, 24 * 60)
_HORIZON_DAYS: Final = 15  # two week-ends, even where a change of the clock swallows a window
_CHANGES_FOLLOWED: Final = 60  # a month of nights; behind it, an hour more or less is nothing
_SATURDAY: Final = 5
_DAY_MINUTES: Final = 24 * 60


@frozen
class Windows:
    """The hours of one site. days: by day of the week, 0 is Monday."""

    zone: tzinfo
    weekday: Sequence[Window] = (ALWAYS,)
    weekend: Sequence[Window] = (ALWAYS,)
    days: Mapping[int, Sequence[Window]] = field(default_factory=dict)
    dates: Mapping[date, Sequence[Window]] = field(default_factory=dict)

    def is_open(self, now: datetime) -> bool:
        """Return whether a request may be sent at an instant."""
        local = now.astimezone(self.zone)
        seconds = local.hour * 3600 + local.minute * 60 + local.second
        today = local.date()
        for first, end in self._of(today):
            last = end if end > first else _DAY_MINUTES
            if first * 60 <= seconds < last * 60:
                return True
        before = today - timedelta(days=1)
        return any(seconds < end * 60 for first, end in self._of(before) if end <= first)

    def next_change(self, now: datetime) -> datetime | None:
        """Return when the window opens or closes next; None: never."""
        state = self.is_open(now)
        today = now.astimezone(self.zone).date()
        first, end = -1, _HORIZON_DAYS
        while first < end:
            for instant in sorted(set(self._candidates(today, range(first, end)))):
                if instant > now and self.is_open(instant) != state:
                    return instant
            # A holiday of weeks: what is listed ends some day.
            last = max(((day - today).days for day in self.dates), default=0)
            first, end = end, min(end + _HORIZON_DAYS, last + _HORIZON_DAYS)
        return None

    def open_share(self) -> float:
        """Return the part of a week that is open, 0 to 1; no dates, no changes of the clock."""
        week = 7 * _DAY_MINUTES
        spans = []
        for day in range(7):
            for first, end in self._on(day):
                start = day * _DAY_MINUTES + first
                stop = start + (end - first if end > first else end + _DAY_MINUTES - first)
                spans += [(start, min(stop, week)), (0, max(0, stop - week))]
        opened = reached = 0
        for start, stop in sorted(spans):
            opened += max(0, stop - max(start, reached))
            reached = max(reached, stop)
        return opened / week

    def worked_off(self, start: datetime, work: timedelta) -> datetime | None:
        """Return when work that continues only while open is over; None: never.

        Exact for the first weeks; what is left after them takes its share of the week.
        """
        share = self.open_share()
        if share >= 1:
            return start + work
        if share <= 0:
            return start if work <= timedelta(0) else None
        now, left = start, work
        for _ in range(_CHANGES_FOLLOWED):
            change = self.next_change(now)
            if change is None:
                break
            if self.is_open(now):
                if left <= change - now:
                    return now + left
                left -= change - now
            now = change
        return now + left / share

    def _of(self, day: date) -> Sequence[Window]:
        found = self.dates.get(day)
        return self._on(day.weekday()) if found is None else found

    def _on(self, day: int) -> Sequence[Window]:
        """Return the hours of a day of the week."""
        found = self.days.get(day)
        if found is not None:
            return found
        return self.weekend if day >= _SATURDAY else self.weekday

    def _candidates(self, today: date, numbers: Iterable[int]) -> Iterator[datetime]:
        """Yield every instant of days, counted from today, at which the answer may change."""
        for number in numbers:
            day = today + timedelta(days=number)
            for edge in {0, *(minute for window in self._of(day) for minute in window)}:
                local = datetime.combine(day, time()) + timedelta(minutes=edge)
                for shifted in (local, local + timedelta(days=1)):
                    for fold in (0, 1):
                        yield shifted.replace(tzinfo=self.zone, fold=fold).astimezone(UTC)
            yield from self._clock_changes(day)

    def _clock_changes(self, day: date) -> Iterator[datetime]:
        """Yield the instants of a day at which the site's clock jumps."""
        first = datetime.combine(day, time(), self.zone).astimezone(UTC)
        end = datetime.combine(day + timedelta(days=1), time(), self.zone).astimezone(UTC)
        if self._offset(first) == self._offset(end):
            return
        while end - first > timedelta(seconds=1):
            middle = (first + (end - first) / 2).replace(microsecond=0)
            if self._offset(middle) == self._offset(first):
                first = middle
            else:
                end = middle
        yield end

    def _offset(self, instant: datetime) -> timedelta | None:
        return instant.astimezone(self.zone).utcoffset()

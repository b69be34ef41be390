"""Hours of single days as people write them: `sat,sun 00:00-24:00`, `2026-12-29..2027-01-03 never`.

A line is the days, one blank, and their hours: windows with commas between, `always` or `never`.
Days are names of the week (`mon`, `mon-thu`, `sat,sun`) or dates (`2026-12-25`, from..to). Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Final, TypeVar

from shared.day_times import window_minutes
from shared.errors import FormatError
from shared.windows import ALWAYS, Window

__all__ = ["DATES_MOST", "DAY_NAMES", "Dates", "Days", "day_hours"]

DAY_NAMES: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DATES_MOST: Final = 400  # of all lines: a year, and what is known of the next

_Key = TypeVar("_Key", int, date)

Days = dict[int, tuple[Window, ...]]
Dates = dict[date, tuple[Window, ...]]


def day_hours(lines: Iterable[str], name: str = "days") -> tuple[Days, Dates]:
    """Return the hours by day of the week (0 is Monday), and by date. Raises FormatError."""
    days: Days = {}
    dates: Dates = {}
    for line in lines:
        words = line.split()
        if len(words) != 2:
            raise FormatError("times.days_form", name=name, text=line[:60])
        hours = _hours(words[1], name)
        for part in words[0].lower().split(","):
            for day in _named(part):
                _enter(days, day, hours, name)
            if not _named(part):
                for moment in _dated(part, name):
                    _enter(dates, moment, hours, name)
    if len(dates) > DATES_MOST:
        raise FormatError("times.too_many_dates", name=name, number=len(dates), most=DATES_MOST)
    return days, dates


def _enter(
    table: dict[_Key, tuple[Window, ...]], key: _Key, hours: tuple[Window, ...], name: str
) -> None:
    if key in table:
        day = DAY_NAMES[key] if isinstance(key, int) else str(key)
        raise FormatError("times.day_twice", name=name, day=day)
    table[key] = hours


def _hours(text: str, name: str) -> tuple[Window, ...]:
    if text in ("never", "always"):
        return () if text == "never" else (ALWAYS,)
    return tuple(window_minutes(part, name) for part in text.split(","))


def _named(text: str) -> list[int]:
    """Return the days of `mon` or `mon-thu`, in the order of the week; none: it is no name."""
    first, dash, last = text.partition("-")
    if first not in DAY_NAMES or (dash and last not in DAY_NAMES):
        return []
    begin, end = DAY_NAMES.index(first), DAY_NAMES.index(last or first)
    return [(begin + number) % 7 for number in range((end - begin) % 7 + 1)]


def _dated(text: str, name: str) -> list[date]:
    """Return the dates of `2026-12-25`, or of two with `..` between. Raises FormatError."""
    first, dots, last = text.partition("..")
    try:
        begin = date.fromisoformat(first)
        end = date.fromisoformat(last) if dots else begin
    except ValueError as error:
        raise FormatError("times.not_a_day", name=name, text=text[:40]) from error
    number = (end - begin).days
    if not 0 <= number < DATES_MOST:
        raise FormatError("times.range_of_dates", name=name, text=text[:40], most=DATES_MOST - 1)
    return [begin + timedelta(days=one) for one in range(number + 1)]

"""Times of a day as people write them: `08:30`, and windows, `02:00-08:00`. Pure."""

from __future__ import annotations

import re
from typing import Final

from shared.errors import FormatError
from shared.windows import Window

__all__ = ["day_minutes", "window_minutes", "window_text"]

_TIME: Final = re.compile(r"([0-9]{1,2}):([0-9]{2})")


def window_minutes(text: str, name: str = "window") -> Window:
    """Return (first, end) of `02:00-08:00` in minutes of the day; 22:00-06:00 gives end < first.

    Raises FormatError.
    """
    first, dash, end = text.partition("-")
    if not dash:
        raise FormatError("times.window_form", name=name, text=text[:40])
    begin, stop = day_minutes(first.strip(), name), day_minutes(end.strip(), name)
    if begin == stop or begin == 24 * 60:
        raise FormatError("times.window_empty", name=name, text=text[:40])
    return begin, stop


def day_minutes(text: str, name: str) -> int:
    """Return the minutes of the day of `08:30`, up to 24:00; raises FormatError."""
    match = _TIME.fullmatch(text)
    minutes = int(match[1]) * 60 + int(match[2]) if match and int(match[2]) < 60 else -1
    if not 0 <= minutes <= 24 * 60:
        raise FormatError("times.time_of_day", name=name, text=text[:40])
    return minutes


def window_text(window: Window) -> str:
    """Return a window as `window_minutes` reads it."""
    return "-".join(f"{minutes // 60:02}:{minutes % 60:02}" for minutes in window)

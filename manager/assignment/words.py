"""Times and durations as sentences say them. Absolute times are UTC; the console shows its own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

__all__ = ["clock_time", "spoken_duration"]

_LAST_MS: Final = 253_402_300_799_000  # the end of the year 9999, where datetime ends
_PARTS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))


def spoken_duration(duration_ms: int) -> str:
    """Return a duration in its two largest parts: `3 h 20 min`, `45 s`, `2 d`; never negative."""
    left_ms = max(0, duration_ms)
    if left_ms < 1_000:
        return "less than 1 s"
    for place, (size_ms, name) in enumerate(_PARTS):
        if left_ms < size_ms:
            continue
        words = f"{left_ms // size_ms} {name}"
        if place + 1 < len(_PARTS):
            small_ms, small_name = _PARTS[place + 1]
            rest = left_ms % size_ms // small_ms
            words += f" {rest} {small_name}" if rest else ""
        return words
    raise AssertionError("a duration of a second or more has a part")


def clock_time(at_ms: int) -> str:
    """Return a moment as `2026-11-21 06:30 UTC`; times beyond what a calendar holds are cut."""
    moment = datetime.fromtimestamp(min(max(0, at_ms), _LAST_MS) / 1000, UTC)
    return f"{moment:%Y-%m-%d %H:%M} UTC"

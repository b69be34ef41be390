"""Numbers and times as the console shows them: short, with units, the same everywhere.

Nothing known is an en dash. A number and its unit do not part at the end of a line. Signs of
numbers, units of time and the order of a date are the language's of the request.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from manager.console.language import _, pgettext
from manager.console.language import number as written
from manager.console.messages.sentences import word
from shared.ratios import MOST_TIMES, PERCENTS_END, change_of

__all__ = [
    "NOTHING",
    "ago",
    "amount",
    "capitalized",
    "change",
    "count",
    "duration",
    "figure",
    "iso",
    "kbytes",
    "minute",
    "moment",
    "rate",
    "skew",
    "speed",
]

NOTHING: Final = "–"
GAP: Final = "\u00a0"
_LAST_MS: Final = 253_402_300_799_000  # the end of the year 9999, where datetime ends
_LESSER_PARTS: Final = ((86_400_000, 3_600_000), (3_600_000, 60_000), (0, 1000))
"""From which length on how long the lesser of its two parts is, in ms."""

_SIZES: Final = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"))


def count(number: float | None) -> str:
    """Return a whole number in groups of three digits."""
    return NOTHING if number is None else written(number)


def amount(size_bytes: float | None) -> str:
    """Return bytes in decimal units, three digits: `1.23 MB`."""
    if size_bytes is None:
        return NOTHING
    for least, unit in _SIZES:
        if abs(size_bytes) >= least:
            return f"{_three_digits(size_bytes / least)}{GAP}{unit}"
    return f"{written(size_bytes)}{GAP}B"


def kbytes(volume_kb: float | None) -> str:
    """Return a volume, which is kept in KBytes."""
    return NOTHING if volume_kb is None else amount(volume_kb * 1000)


def rate(per_s: float | None, unit: str = "/s") -> str:
    """Return a number a second."""
    return NOTHING if per_s is None else f"{_three_digits(per_s)}{GAP}{unit}"


def speed(bytes_per_s: float | None) -> str:
    """Return bytes a second: `51.9 KB/s`."""
    if bytes_per_s is None:
        return NOTHING
    return f"{amount(bytes_per_s)}/{word('s')}"


def figure(number: float | None) -> str:
    """Return a number in three digits, without a unit; a heading says it."""
    return NOTHING if number is None else _three_digits(number)


def change(number: float | None, before: float | None) -> str:
    """Return by how much a number is more (+) or less (−) than another; than none it is nothing.

    A ratio of ten or more is written as "times", without all its digits.
    """
    ratio = change_of(number, before)
    if ratio is None:
        return NOTHING
    if ratio > MOST_TIMES:
        return _("more than %(number)s times", number=written(MOST_TIMES))
    if ratio >= PERCENTS_END:
        return _("%(number)s times", number=written(ratio))
    share = 100 * (ratio - 1)
    return f"{'+' if share >= 0 else '−'}{written(abs(share), 1)}%"


def duration(length_ms: float | None) -> str:
    """Return a length of time in its two largest parts; finer where it is short."""
    if length_ms is None:
        return NOTHING
    whole_ms = max(0, round(length_ms))
    if whole_ms < 1000:
        return GAP.join((str(whole_ms), word("ms")))
    tenths = (whole_ms + 50) // 100
    if tenths < 100:
        return GAP.join((written(tenths / 10, 1), word("s")))
    # The lesser part is rounded; how long `ago` something was is cut, as ages are.
    part_ms = next(part for least, part in _LESSER_PARTS if whole_ms >= least)
    return _spoken((whole_ms + part_ms // 2) // part_ms * part_ms)


def capitalized(text: str) -> str:
    """Return a text with a capital at its beginning."""
    return f"{text[:1].upper()}{text[1:]}"


def skew(difference_ms: int) -> str:
    """Return how far a clock is ahead (+) or behind (-)."""
    if not difference_ms:
        return GAP.join(("0", word("ms")))
    sign = "+" if difference_ms > 0 else "−"
    return f"{sign}{duration(abs(difference_ms))}"


def ago(at_ms: int, now_ms: int) -> str:
    """Return how long ago a moment was, or in how long it will be."""
    if abs(now_ms - at_ms) < 1000:
        return pgettext("future", "now") if at_ms > now_ms else pgettext("time", "now")
    if at_ms > now_ms:
        return _("in %(time)s", time=_spoken(at_ms - now_ms)).replace(" ", GAP)
    return _("%(time)s ago", time=_spoken(now_ms - at_ms)).replace(" ", GAP)


def moment(at_ms: int) -> str:
    """Return a moment in UTC, to the second: `2026-11-21 06:30:05 UTC`."""
    said = _utc(at_ms).strftime(pgettext("date", "%Y-%m-%d %H:%M:%S"))
    return f"{said}{GAP}UTC"


def minute(at_ms: int) -> str:
    """Return a moment in UTC, to the minute: `2026-11-21 06:30 UTC`."""
    said = _utc(at_ms).strftime(pgettext("date", "%Y-%m-%d %H:%M"))
    return f"{said}{GAP}UTC"


def iso(at_ms: int) -> str:
    """Return a moment as machines read it."""
    return f"{_utc(at_ms):%Y-%m-%dT%H:%M:%S}Z"


def _spoken(length_ms: int) -> str:
    """Return a length of a second or more in its two largest parts: `3 h 20 min`."""
    units = (
        (86_400_000, word("d")),
        (3_600_000, word("h")),
        (60_000, word("min")),
        (1000, word("s")),
    )
    place = next((n for n, (size_ms, _name) in enumerate(units) if length_ms >= size_ms), 3)
    parts: list[str] = []
    for size_ms, name in units[place : place + 2]:
        many, length_ms = divmod(length_ms, size_ms)
        if many or not parts:
            parts.append(f"{many}{GAP}{name}")
    return GAP.join(parts)


def _utc(at_ms: int) -> datetime:
    return datetime.fromtimestamp(min(max(0, at_ms), _LAST_MS) / 1000, UTC)


def _three_digits(number: float) -> str:
    if not number:
        return "0"
    if abs(number) >= 100:
        return written(number)
    return written(number, 1 if abs(number) >= 10 else 2)

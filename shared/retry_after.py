"""Retry-After: for how long a server asks to be left alone.

A number of seconds or a date, by the field's grammar; what servers send besides is read to their
favour: a fraction is rounded up, of several fields the longest wait counts. A date is a moment of
the server's own clock, so it is measured from the answer's Date. Source: RFC 9110, 10.2.3.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import UTC
from typing import Final

__all__ = ["LONGEST_S", "date_s", "retry_after_s"]

LONGEST_S: Final = 999_999_999.0
MOST_CHARACTERS: Final = 64
_SECONDS: Final = re.compile(
    r"""["']?\+?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(?:s|secs?|seconds?)?["']?(?:\s*;.*)?""",
    re.IGNORECASE,
)


def retry_after_s(values: Iterable[str], date: str | None, now_s: float) -> float | None:
    """Return how many seconds a server asks for, at most `LONGEST_S`; None where it does not.

    values: of its fields. date: its Date, if any. now_s: since 1970, where that cannot be read.
    """
    texts = [text for value in values for text in _each(value)]
    waits = [wait for text in texts if (wait := _wait_s(text, date, now_s)) is not None]
    return max(waits, default=None)


def _each(value: str) -> list[str]:
    """Return the values of a field, of which a proxy may have joined several."""
    parts = [part.strip() for part in value.split(",")]
    return parts if all(map(_SECONDS.fullmatch, parts)) else [value.strip()]


def date_s(text: str) -> float | None:
    """Return the seconds since 1970 of a date of HTTP, None where the text is none."""
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  # brings half of `email`

    if not 1 <= len(text) <= MOST_CHARACTERS or not text.isascii():
        return None
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _wait_s(text: str, date: str | None, now_s: float) -> float | None:
    if not 1 <= len(text) <= MOST_CHARACTERS:
        return None
    seconds = _SECONDS.fullmatch(text)
    if seconds is not None:
        return min(float(math.ceil(float(seconds[1]))), LONGEST_S)
    until_s = date_s(text)
    if until_s is None:
        return None
    here_s = None if date is None else date_s(date.strip())
    return min(max(0.0, until_s - (now_s if here_s is None else here_s)), LONGEST_S)

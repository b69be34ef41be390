"""Times of lines of a crawl log, which the protocol's log lines do not carry.

The answer's own `Date` field, plus its `Age` where a cache gave it, says when a page was sent. It
counts where it lies within the report's time; else, and where there was no answer, the time is
estimated from the line's place between the report's two moments, for logs are written in order.
"""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import Final

from shared.frozen import frozen

__all__ = ["LineTime", "line_time"]

SLACK_MS: Final = 120_000
"""How far a server's clock may lie outside the report's time."""
_DATE: Final = re.compile(rb"^date:[ \t]*([^\r\n]{10,60})", re.IGNORECASE | re.MULTILINE)
_AGE: Final = re.compile(rb"^age:[ \t]*([0-9]{1,9})", re.IGNORECASE | re.MULTILINE)


@frozen
class LineTime:
    """A moment (epoch ms; None: its report has no time either). is_exact: by the answer's `Date`.

    Else it is an estimate.
    """

    at_ms: int | None
    is_exact: bool = False


def line_time(
    headers: bytes, line: int, lines: int, since_ms: int | None, until_ms: int | None
) -> LineTime:
    """Return when a line was fetched. line: its number, of so many of a report of that time."""
    sent_ms = _sent_ms(headers)
    if since_ms is None or until_ms is None:
        known_ms = until_ms if since_ms is None else since_ms
        return (
            LineTime(known_ms) if known_ms is not None else LineTime(sent_ms, sent_ms is not None)
        )
    if sent_ms is not None and since_ms - SLACK_MS <= sent_ms <= until_ms + SLACK_MS:
        return LineTime(min(max(sent_ms, since_ms), until_ms), True)
    share = min(1.0, max(0.0, line / max(1, lines)))
    return LineTime(since_ms + round((until_ms - since_ms) * share))


def _sent_ms(headers: bytes) -> int | None:
    found = _DATE.search(headers)
    if found is None:
        return None
    try:
        moment = parsedate_to_datetime(found[1].decode("latin-1"))
        age = _AGE.search(headers)
        return round(moment.timestamp() * 1000) + (int(age[1]) * 1000 if age else 0)
    except (ValueError, OverflowError):
        return None

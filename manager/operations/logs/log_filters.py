"""Filters of crawl logs, as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, get_args

from manager.store.logs.log_search import LineFilter
from shared.errors import FormatError, check_choice
from shared.frozen import frozen

__all__ = ["KINDS", "Wanted", "line_filter", "read_moment"]

Kind = Literal["probe", "crawl", "refetch"]
KINDS: Final[tuple[str, ...]] = get_args(Kind)

_STATUS: Final = re.compile(r"([0-9])xx|[0-9]{3}")
_DAY: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([+-][0-9]{2}:[0-9]{2}|Z)?")
_NAME: Final = re.compile(r"(\*\.)?([a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])")


@frozen
class Wanted:
    """Filter of log lines, as people write it; empty: anything.

    host: a name, or `*.` and a name for all below it. status: `404`, `5xx`, `none` (no answer), or
    `bad` (none, or 400 and above). url: a part of it. since_ms, until_ms: a line may be of that
    time if its report is.
    """

    host: str = ""
    url: str = ""
    status: str = ""
    kind: str = ""
    agent: str = ""
    since_ms: int | None = None
    until_ms: int | None = None
    quarantined: bool = False


def read_moment(text: str, name: str, *, is_end: bool) -> int | None:
    """Return the moment (epoch ms) that a text says, in UTC where it says no zone; empty: None.

    A day alone, or with a zone (`2026-11-21+09:00`), is its beginning, or with is_end its end.
    Raises FormatError.
    """
    text = text.strip()
    if not text:
        return None
    day = _DAY.fullmatch(text)
    try:
        moment = datetime.fromisoformat(f"{day[1]}T00:00{day[2] or ''}" if day else text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        if day and is_end:
            moment += timedelta(days=1)
        return int(moment.timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise FormatError("logs.bad_moment", name=name, value=text[:40]) from error


def line_filter(wanted: Wanted) -> LineFilter:
    """Return the filter of log lines. Raises FormatError."""
    name, below = _host(wanted.host.strip())
    low, high, no_answer = _status(wanted.status.strip().lower())
    if wanted.kind:
        check_choice("kind", wanted.kind, KINDS)
    return LineFilter(
        name=name,
        below=below,
        text=wanted.url.strip(),
        low=low,
        high=high,
        no_answer=no_answer,
        kind=wanted.kind,
        only_strange=wanted.quarantined,
    )


def _host(text: str) -> tuple[str, bool]:
    if not text:
        return "", False
    try:
        ascii_text = text.lower().rstrip(".").encode("idna" if not text.isascii() else "ascii")
    except UnicodeError:
        ascii_text = b""
    match = _NAME.fullmatch(ascii_text.decode("ascii"))
    if match is None:
        raise FormatError("logs.bad_host", value=text[:80])
    return match[2], bool(match[1])


def _status(text: str) -> tuple[int, int, bool]:
    """Return the least and the greatest status, and whether lines without one are meant, too."""
    if not text:
        return 0, 999, True
    if text == "none":
        return 1, 0, True
    if text == "bad":
        return 400, 999, True
    match = _STATUS.fullmatch(text)
    if match is None:
        raise FormatError("logs.bad_status", value=text[:40])
    low = int(match[1]) * 100 if match[1] else int(text)
    return low, low + 99 if match[1] else low, False

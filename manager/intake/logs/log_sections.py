"""Section of a log: round, kind and times of its lines, from comments or inferred.

Our agents write `#Round=3`, `#MaxTransfer=50`, `#Refetch=1`, `#Since=<ms>` and `#Until=<ms>`;
each holds for the lines after it, until the next of its name. A plain agent writes none: the
right that a line belongs to says round and kind, the log before says since when. `#Finished=URL`
and `#Probed=URL` tell of a unit (`log_reader`). Any other comment means nothing. A comment with an
unusable number is refused (`SectionCheck`): a moment of another century, an end before its
beginning, a round that no manager began, or text that is no number: lines would be counted for
another round or time than their sender means. Invariant: the reported line number is that of the
wrong comment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from manager.assignment.right_history import LogKind
from shared.errors import Fault, LineError
from shared.frozen import frozen
from shared.messages import Message
from shared.wire.crawl_log import LogName

__all__ = ["LogKind", "Section", "SectionCheck", "check_closed"]

MOST_DIGITS: Final = 15  # milliseconds until the year 33658
EARLIEST_MS: Final = 946_684_800_000  # 2000-01-01: before the first crawl of any agent
AHEAD_MOST_MS: Final = 24 * 3_600_000
"""How far a line may be ahead of the manager's clock: as for captures, which a day is allowed."""
NAME_AHEAD_MOST_MS: Final = 366 * AHEAD_MOST_MS
"""The same for the name of a log, which is not used for counts: an agent whose clock is set back
counts on from the previous name, so that no two logs share one."""

SINCE: Final = "Since"
UNTIL: Final = "Until"
ROUND: Final = "Round"
SHOWN: Final = 40


@frozen
class Section:
    """Round, kind and times of a line. None: the log does not say. Epoch milliseconds."""

    since_ms: int
    until_ms: int
    round: int | None = None
    kind: LogKind | None = None

    def after(self, comment: str) -> Section:
        """Return the section after a comment (its text without the `#`)."""
        name, _, value = comment.partition("=")
        set_value, number = _NAMED.get(name), _number(value)
        return self if set_value is None or number is None else set_value(self, number)


def _number(value: str) -> int | None:
    """Return the number that a comment gives; None: it is none, or has too many digits."""
    if not (value.isascii() and value.isdigit()):
        return None
    digits = value.lstrip("0") or "0"
    return int(digits) if len(digits) <= MOST_DIGITS else None


def _with_limit(section: Section, pages: int) -> Section:
    return replace(section, kind="probe" if pages else "crawl")


_NAMED: Final[dict[str, Callable[[Section, int], Section]]] = {
    "Round": lambda section, number: replace(section, round=number),
    "MaxTransfer": _with_limit,
    # Behind its `#MaxTransfer=`: its lines were fetched again to be compared, and measure nothing.
    "Refetch": lambda section, yes: replace(section, kind="refetch") if yes else section,
    "Since": lambda section, time_ms: replace(section, since_ms=time_ms),
    "Until": lambda section, time_ms: replace(section, until_ms=time_ms),
}


def check_closed(name: LogName, now_ms: int) -> None:
    """Raise LineError where a log cannot have been closed in the minute that names it."""
    written = Message("uploads.log_time", minute=name.minute)
    _check_moment(1, written, name.closed_ms, now_ms, NAME_AHEAD_MOST_MS)


class SectionCheck:
    """The numbers of one log's comments."""

    def __init__(self, now_ms: int, last_round: int | None) -> None:
        """last_round: the newest round, None: not known."""
        self._now_ms = now_ms
        self._last_round = last_round
        self._said: dict[str, tuple[int, int]] = {}  # Since, Until: line and value
        self._fresh: set[str] = set()  # Since, Until: said since the last line

    def take(self, line: int, comment: str) -> None:
        """Check a comment (its text without the `#`). Raises LineError."""
        name, equals, value = comment.partition("=")
        if not equals or name not in _NAMED:
            return
        number = _number(value)
        if number is None:
            raise LineError(
                line,
                "uploads.comment_number",
                Fault.MALFORMED_LINE,
                name=name,
                value=value[:SHOWN],
            )
        if name in (SINCE, UNTIL):
            written = Message("uploads.comment", name=name, value=value)
            _check_moment(line, written, number, self._now_ms, AHEAD_MOST_MS)
            self._said[name] = line, number
            self._fresh.add(name)
        elif name == ROUND and self._last_round is not None and number > self._last_round:
            raise LineError(
                line,
                "uploads.unknown_round",
                Fault.UNKNOWN_ROUND,
                round=number,
                newest=self._last_round,
            )

    def check_end(self) -> None:
        """Check `#Since` and `#Until` at the end, if both stand behind the last line."""
        if self._fresh >= {SINCE, UNTIL}:
            self.check_order()

    def check_order(self) -> None:
        """Raise LineError where the lines that come are of a time that ends before it begins."""
        if not self._fresh:
            return
        self._fresh.clear()
        if len(self._said) < len((SINCE, UNTIL)):
            return
        (since_line, since_ms), (until_line, until_ms) = self._said[SINCE], self._said[UNTIL]
        if until_ms < since_ms:
            is_until = since_line < until_line
            raise LineError(
                max(since_line, until_line),
                "uploads.until_before_since" if is_until else "uploads.since_after_until",
                Fault.TIMES_REVERSED,
                since=since_ms,
                until=until_ms,
                line=min(since_line, until_line),
            )


def _check_moment(line: int, written: Message, at_ms: int, now_ms: int, ahead_most_ms: int) -> None:
    if at_ms < EARLIEST_MS:
        raise LineError(line, "uploads.time_before_2000", Fault.TIME, written=written)
    if at_ms > now_ms + ahead_most_ms:
        raise LineError(
            line,
            "uploads.time_ahead",
            Fault.TIME_AHEAD,
            written=written,
            most_ms=ahead_most_ms,
            now_ms=now_ms,
        )

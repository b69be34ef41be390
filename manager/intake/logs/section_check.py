"""Check of the comments of a log: possible times, and a round that existed.

A refused comment has an unusable number: a moment of another century, an end before its beginning,
a round that no manager began, or text that is no number: lines would be counted for another round
or time than their sender means. Comments of other names mean nothing (`log_sections`). Invariant:
the reported line number is that of the wrong comment.
"""

from __future__ import annotations

from typing import Final

from manager.intake.logs.log_sections import NAMES, number_of
from shared.errors import Fault, LineError
from shared.messages import Message
from shared.wire.crawl_log import LogName

__all__ = ["AHEAD_MOST_MS", "EARLIEST_MS", "SectionCheck", "check_closed"]

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
        if not equals or name not in NAMES:
            return
        number = number_of(value)
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

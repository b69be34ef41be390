"""Section of a log: round, kind and times of its lines, from comments or inferred.

Our agents write `#Round=3`, `#MaxTransfer=50`, `#Refetch=1`, `#Since=<ms>` and `#Until=<ms>`;
each holds for the lines after it, until the next of its name. A plain agent writes none: the
right that a line belongs to says round and kind, the log before says since when. Any other
comment means nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from manager.assignment.right_history import LogKind
from shared.frozen import frozen

__all__ = ["NAMES", "LogKind", "Section", "number_of"]

MOST_DIGITS: Final = 15  # milliseconds until the year 33658


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
        set_value, number = _NAMED.get(name), number_of(value)
        return self if set_value is None or number is None else set_value(self, number)


def number_of(value: str) -> int | None:
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

NAMES: Final = frozenset(_NAMED)
"""Names of the comments that say something of the lines after them."""

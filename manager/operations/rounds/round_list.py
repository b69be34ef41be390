"""The list of rounds, of which a year of hourly ones has 8,760: filtered, sorted, paged.

Also rounds over time: what each was planned to cost, could have cost at best, and did.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from manager.db.engine import Database
from manager.db.rounds import round_history, round_list
from manager.db.rounds.round_history import PastRound
from manager.db.rounds.round_list import STATES
from manager.db.rounds.rounds import RoundRow
from manager.operations.rounds.carried_work import CarriedWork, carried_work
from shared.errors import FormatError, check_choice
from shared.frozen import frozen

__all__ = [
    "SORTS",
    "STATES",
    "PastRound",
    "RoundFilter",
    "RoundPage",
    "every_round",
    "past_rounds",
    "round_page",
]

PAGE_MOST: Final = 1000

SORTS: Final = tuple(round_list.ROWS.sorts)


@frozen
class RoundFilter:
    """Filter of rounds; empty is any. state: one of STATES."""

    method: str = ""
    state: str = ""


@frozen
class RoundPage:
    """total: how many rounds match; there are more where it is beyond offset and these.

    carried: what agents do for a round that has not begun; None: nothing.
    """

    total: int
    rounds: list[RoundRow]
    carried: CarriedWork | None = None


def round_page(
    db: Database,
    where: RoundFilter,
    *,
    sort: str = "-number",
    limit: int = 50,
    offset: int = 0,
) -> RoundPage:
    """Return a page of the rounds that match.

    sort: one of SORTS; with `-` before it, descending; unknown values come last, and of equal ones
    the newest first. Raises FormatError for another sort or state.
    """
    _check(where, sort)
    with db.read() as tx:
        asked = round_list.wanted(where.method, where.state)
        limit, offset = max(1, min(limit, PAGE_MOST)), max(0, offset)
        total, found = round_list.ROWS.page(tx, asked, sort, limit, offset)
    return RoundPage(total, found, carried_work(db))


def every_round(db: Database, where: RoundFilter, *, sort: str = "-number") -> Iterator[RoundRow]:
    """Yield all rounds that match, however many. Raises FormatError as `round_page`, at once."""
    _check(where, sort)
    return round_list.ROWS.every(db, round_list.wanted(where.method, where.state), sort)


def _check(where: RoundFilter, sort: str) -> None:
    if where.state:
        check_choice("state", where.state, STATES)
    if sort.removeprefix("-") not in SORTS:
        raise FormatError("general.unknown_choice", name="sort", value=sort[:40], known=SORTS)


def past_rounds(db: Database, limit: int = 60, before: int | None = None) -> list[PastRound]:
    """Return the newest rounds (before: those of lesser numbers), the oldest of them first."""
    with db.read() as tx:
        return round_history.newest(tx, max(1, min(limit, PAGE_MOST)), before)[::-1]

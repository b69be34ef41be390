"""Sources of a table's rows: in memory, by a cursor, or by SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

from manager.console.listing import Cut, Listing, is_whole
from manager.console.requests.visit import Visit
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["BEFORE", "ByCursor", "InMemory", "InSql", "Older", "OwnPage", "Source", "before_of"]

BEFORE: Final = "before"
"""The parameter of lists by a cursor."""

ROWS_AT_ONCE: Final = 1000
R = TypeVar("R")


@frozen
class Older:
    """A page of a list that is read from the newest row on.

    before: the cursor in the address; older: that of the next page, None on the last.
    """

    rows: Sequence[Any]
    before: int | None
    older: int | None


@frozen
class InMemory(Generic[R]):
    """Rows that are all loaded. Those of a list are then filtered and sorted by its declaration."""

    rows: Callable[[Visit], Iterable[R]]


@frozen
class ByCursor(Generic[R]):
    """Rows from the newest on. rows: at most so many before a cursor, the id of a row."""

    rows: Callable[[Visit, Listing, int | None, int], Sequence[R]]

    def page(self, visit: Visit, listing: Listing) -> Older:
        """Return the rows behind the cursor in the address."""
        before = before_of(visit)
        rows = self.rows(visit, listing, before, listing.size + 1)
        shown = rows[: listing.size]
        return Older(shown, before, _id(shown[-1]) if len(rows) > len(shown) else None)

    def every(self, visit: Visit, listing: Listing) -> Iterator[R]:
        """Yield all rows, some of them at once in memory."""
        before: int | None = None
        while rows := self.rows(visit, listing, before, ROWS_AT_ONCE):
            yield from rows
            before = _id(rows[-1])


@frozen
class InSql(Generic[R]):
    """Rows that the database sorts. load: the total and the rows of (limit, offset)."""

    load: Callable[[Visit, Listing, int, int], tuple[int, Sequence[R]]]
    every: Callable[[Visit, Listing], Iterable[R]]

    def page(self, visit: Visit, listing: Listing) -> Cut:
        """Return a page of the rows; beyond the last it is the last."""
        return listing.load(lambda limit, offset: self.load(visit, listing, limit, offset))


@frozen
class OwnPage(Generic[R]):
    """Rows of a list whose page hands its rows to `Table.page`. every: those that match."""

    every: Callable[[Visit, Listing], Iterable[R]]


Source = InMemory[R] | ByCursor[R] | InSql[R] | OwnPage[R]


def _id(row: Any) -> int:
    number: int = row.id
    return number


def before_of(visit: Visit) -> int | None:
    """Return the id before which a list continues. Raises FormatError."""
    text = visit.query.get(BEFORE, "")
    if not text:
        return None
    if not (is_whole(text, 19) and 0 < int(text) < 2**63):
        raise FormatError("console.before", value=text[:40])
    return int(text)

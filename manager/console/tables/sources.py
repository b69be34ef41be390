"""Sources of a table's rows: in memory, by a cursor, or by SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Generic, Protocol, TypeVar

from manager.console.listing import Cut, Listing
from manager.console.requests.visit import Visit
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = [
    "BEFORE",
    "ByCursor",
    "InMemory",
    "InSql",
    "Older",
    "OwnPage",
    "Source",
    "Whole",
    "before_of",
]

BEFORE: Final = "before"
"""The parameter of lists by a cursor."""

ROWS_AT_ONCE: Final = 1000
R = TypeVar("R")
Keys = dict[str, Callable[[R], Any]]


@frozen
class Older:
    """A page of a list that is read from the newest row on.

    before: the cursor in the address; older: that of the next page, None on the last.
    """

    rows: Sequence[Any]
    before: int | None
    older: int | None


class Source(Protocol[R]):
    """Rows of a table: those of a page of it, and all that match for a file."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the parameters of its pages."""

    def page(self, visit: Visit, listing: Listing, keys: Keys[R]) -> Cut | Older:
        """Return a page of the rows."""

    def every(self, visit: Visit, listing: Listing, keys: Keys[R]) -> Iterable[R]:
        """Return all rows that match."""


@frozen
class InMemory(Generic[R]):
    """Rows that are all loaded, then sorted by their columns. shown: changes those of one page."""

    rows: Callable[[Visit, Listing], Iterable[R]]
    parameters: tuple[str, ...] = ()

    def page(self, visit: Visit, listing: Listing, keys: Keys[R]) -> Cut:
        """Return a page of the sorted rows."""
        return listing.cut(self.every(visit, listing, keys))

    def every(self, visit: Visit, listing: Listing, keys: Keys[R]) -> Sequence[R]:
        """Return the sorted rows."""
        return listing.sorted(self.rows(visit, listing), keys)


@frozen
class ByCursor(Generic[R]):
    """Rows from the newest on. rows: at most so many before a cursor, the id of a row."""

    rows: Callable[[Visit, Listing, int | None, int], Sequence[R]]
    parameters: tuple[str, ...] = (BEFORE,)

    def page(self, visit: Visit, listing: Listing, keys: Keys[R]) -> Older:
        """Return the rows behind the cursor in the address."""
        before = before_of(visit)
        rows = self.rows(visit, listing, before, listing.size + 1)
        shown = rows[: listing.size]
        return Older(shown, before, _id(shown[-1]) if len(rows) > len(shown) else None)

    def every(self, visit: Visit, listing: Listing, keys: Keys[R]) -> Iterator[R]:
        """Yield all rows, some of them at once in memory."""
        before: int | None = None
        while rows := self.rows(visit, listing, before, ROWS_AT_ONCE):
            yield from rows
            before = _id(rows[-1])


@frozen
class InSql(Generic[R]):
    """Rows that the database sorts. load: the total and the rows of (limit, offset)."""

    load: Callable[[Visit, Listing, int, int], tuple[int, Sequence[R]]]
    all: Callable[[Visit, Listing], Iterable[R]]
    parameters: tuple[str, ...] = ()

    def page(self, visit: Visit, listing: Listing, keys: Keys[R]) -> Cut:
        """Return a page of the rows; beyond the last it is the last."""
        return listing.load(lambda limit, offset: self.load(visit, listing, limit, offset))

    def every(self, visit: Visit, listing: Listing, keys: Keys[R]) -> Iterable[R]:
        """Return all rows."""
        return self.all(visit, listing)


@frozen
class OwnPage(Generic[R]):
    """Rows of a list whose page loads them by itself. all: those that match, for files."""

    all: Callable[[Visit, Listing], Iterable[R]]
    parameters: tuple[str, ...] = ()

    def page(self, visit: Visit, listing: Listing, keys: Keys[R]) -> Cut:
        """Raise AssertionError: the page hands its rows to `Table.page`."""
        raise AssertionError("this list's page loads its rows by itself")

    def every(self, visit: Visit, listing: Listing, keys: Keys[R]) -> Iterable[R]:
        """Return all rows."""
        return self.all(visit, listing)


@frozen
class Whole(Generic[R]):
    """Rows of a table inside of a page, which has neither pages nor orders."""

    rows: Callable[[Visit], Iterable[R]]
    parameters: tuple[str, ...] = ()

    def page(self, visit: Visit, listing: Listing, keys: Keys[R]) -> Cut:
        """Return all rows."""
        rows = list(self.rows(visit))
        return Cut(rows, len(rows), 1 if rows else 0, len(rows), has_next=False)

    def every(self, visit: Visit, listing: Listing, keys: Keys[R]) -> Iterable[R]:
        """Return all rows."""
        return self.rows(visit)


def _id(row: Any) -> int:
    number: int = row.id
    return number


def before_of(visit: Visit) -> int | None:
    """Return the id before which a list continues. Raises FormatError."""
    text = visit.query.get(BEFORE, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text[:19]) < 2**63):
        raise FormatError("console.before", value=text[:40])
    return int(text)

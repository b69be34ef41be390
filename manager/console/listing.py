"""Filters, sort order and page of a list, all kept in the URL.

Invariant: `url()` of a listing that was read from a URL shows the same again; defaults are left
out, so a plain list has a plain address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["LISTED", "SIZES", "Cut", "Listing", "is_whole", "read_listing", "whole"]

LISTED: Final = ("sort", "size", "page")
"""Parameters of every list beside its filters."""

SIZES: Final = (25, 50, 100, 200)
DEFAULT_SIZE: Final = 50
T = TypeVar("T")


@frozen
class Cut:
    """One page of rows. first, last: their numbers, counted from 1; 0 of an empty list.

    total: None where matching rows are not counted; is_cut: there are more than were counted.
    """

    rows: Sequence[Any]
    total: int | None
    first: int
    last: int
    has_next: bool
    is_cut: bool = False


@frozen
class Listing:
    """The state of one list. sort: a column, `-` before it for descending. page: from 1."""

    path: str
    filters: Mapping[str, str]
    sorts: Sequence[str]
    sort: str
    default_sort: str
    page: int = 1
    size: int = DEFAULT_SIZE
    sizes: Sequence[int] = SIZES

    def url(self, path: str = "", **changes: str | int) -> str:
        """Return the address of this list with some of it changed; any change but that of the
        page goes to the first page."""
        given: dict[str, str | int] = {**self.filters, "sort": self.sort, "size": self.size}
        given |= {"page": self.page if not changes else 1} | changes
        plain = {"sort": self.default_sort, "size": DEFAULT_SIZE, "page": 1}
        kept = {name: value for name, value in given.items() if value != plain.get(name, "")}
        target = path or self.path
        return f"{target}?{urlencode(kept)}" if kept else target

    @property
    def csv_url(self) -> str:
        """Return the address of all rows of this list, not only of this page, as CSV."""
        return self.url(f"{self.path}.csv", page=1, size=DEFAULT_SIZE)

    def sort_url(self, column: str) -> str:
        """Return where a column's heading leads: sort by it, or turn its order round."""
        return self.url(sort=f"-{column}" if self.sort == column else column)

    def order_of(self, column: str) -> str:
        """Return a column's order as `aria-sort` names it."""
        if self.sort == column:
            return "ascending"
        return "descending" if self.sort == f"-{column}" else "none"

    @property
    def is_filtered(self) -> bool:
        """Return whether a filter hides rows."""
        return any(self.filters.values())

    def sorted(self, rows: Iterable[T], keys: Mapping[str, Callable[[T], Any]]) -> list[T]:
        """Sort rows by a key a column; what a key does not know (None) comes last either way."""
        key = keys[self.sort.removeprefix("-")]
        known: list[tuple[Any, T]] = []
        unknown: list[T] = []
        for row in rows:
            value = key(row)
            if value is None:
                unknown.append(row)
            else:
                known.append((value, row))
        known.sort(key=lambda pair: pair[0], reverse=self.sort.startswith("-"))
        return [row for _, row in known] + unknown

    def cut(self, rows: Sequence[Any]) -> Cut:
        """Return the page of rows that were all loaded; a page beyond the last is the last."""
        pages = max(1, -(-len(rows) // self.size))
        here = replace(self, page=min(self.page, pages))
        start = (here.page - 1) * self.size
        part = rows[start : start + self.size]
        return Cut(part, len(rows), start + 1 if part else 0, start + len(part), here.page < pages)

    def slice(self, rows: Sequence[Any], total: int | None, *, is_cut: bool = False) -> Cut:
        """Return the page of rows that were loaded for it, perhaps one more than it has."""
        start, part = (self.page - 1) * self.size, rows[: self.size]
        end = start + len(part)
        has_next = len(rows) > len(part) or (total is not None and end < total)
        return Cut(part, total, start + 1 if part else 0, end, has_next, is_cut)

    def load(self, page: Callable[[int, int], tuple[int, Sequence[Any]]]) -> Cut:
        """Return the page of rows that `page` loads by (limit, offset) beside their total number;
        a page beyond the last is the last."""
        start = (self.page - 1) * self.size
        total, rows = page(self.size, start)
        if total and not rows:
            start = (total - 1) // self.size * self.size
            total, rows = page(self.size, start)
        end = start + len(rows)
        return Cut(rows, total, start + 1 if rows else 0, end, end < total)


def read_listing(
    path: str,
    query: Mapping[str, str],
    *,
    filters: Sequence[str],
    sorts: Sequence[str],
    default_sort: str,
) -> Listing:
    """Read the state of a list from a URL's query. Raises FormatError: an unknown sort or size."""
    sort = query.get("sort") or default_sort
    if sort.removeprefix("-") not in sorts:
        raise FormatError(
            "general.unknown_choice", name="sort", value=sort[:40], known=tuple(sorts)
        )
    size = whole(query.get("size") or str(DEFAULT_SIZE), "size")
    if size not in SIZES:
        raise FormatError("general.unknown_choice", name="size", value=str(size), known=SIZES)
    return Listing(
        path,
        {name: query.get(name, "").strip()[:500] for name in filters},
        sorts,
        sort,
        default_sort,
        max(1, whole(query.get("page") or "1", "page")),
        size,
    )


def whole(text: str, name: str, digits: int = 12) -> int:
    """Return a number of at most so many digits. Raises FormatError with the name."""
    if not is_whole(text, digits):
        raise FormatError("console.whole_number", name=name, value=text[:40])
    return int(text)


def is_whole(text: str, digits: int) -> bool:
    """Return whether a text is a number of at most so many digits, without a sign."""
    return text.isascii() and text.isdigit() and len(text) <= digits

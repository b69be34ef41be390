"""Rows of one table as people list them: filtered and sorted by the database, a page at a time.

All of them are read by their numbers, in the order of one moment: rows that come meanwhile shift
nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, Generic, TypeVar

import sqlalchemy as sa

from manager.db.engine import Database
from manager.db.transaction import Transaction, chunks
from shared.errors import check_choice
from shared.frozen import frozen

__all__ = ["SortedRows", "check_sort"]

PAGE_MOST: Final = 1000
ROWS_AT_ONCE: Final = 500
T = TypeVar("T")


@frozen
class SortedRows(Generic[T]):
    """Columns and order of a list of rows.

    kind: a dataclass whose fields are columns of the table. number: its key, by which the newest
    comes first among those that are alike. sorts: what it may be sorted by; unknown (NULL) is last.
    """

    kind: type[T]
    number: sa.Column[int]
    sorts: Mapping[str, sa.ColumnElement[Any]]

    def page(
        self,
        tx: Transaction,
        where: Sequence[sa.ColumnElement[bool]],
        sort: str,
        limit: int,
        offset: int,
    ) -> tuple[int, list[T]]:
        """Return how many rows match, and a page of them, at most 1,000.

        sort: a key of `sorts`, perhaps `-` before it for descending. Raises FormatError.
        """
        query = self._rows().where(*where).order_by(*self._order(sort))
        query = query.limit(max(1, min(limit, PAGE_MOST))).offset(max(0, offset))
        return tx.count(self.number.table, *where), tx.rows(self.kind, query)

    def every(
        self, db: Database, where: Sequence[sa.ColumnElement[bool]], sort: str
    ) -> Iterator[T]:
        """Yield all rows that match, each in its state at its turn; rows deleted before that are
        left out. Only their numbers are held, so a reader may be slow. Raises FormatError, at once.
        """
        return self._every(db, sa.select(self.number).where(*where).order_by(*self._order(sort)))

    def _every(self, db: Database, query: sa.Select[Any]) -> Iterator[T]:
        with db.read() as tx:
            numbers = tx.values(query)
        for part in chunks(numbers, ROWS_AT_ONCE):
            with db.read() as tx:
                rows = tx.rows(self.kind, self._rows().where(self.number.in_(part)))
            found = {getattr(row, self.number.name): row for row in rows}
            yield from (found[number] for number in part if number in found)

    def _rows(self) -> sa.Select[Any]:
        return sa.select(*(self.number.table.c[field.name] for field in fields(self.kind)))  # type: ignore[arg-type]

    def _order(self, sort: str) -> tuple[sa.ColumnElement[Any], ...]:
        check_sort(sort, self.sorts)
        column = self.sorts[sort.removeprefix("-")]
        ordered = column.desc() if sort.startswith("-") else column.asc()
        return column.is_(None), ordered, self.number.desc()


def check_sort(sort: str, known: Collection[str]) -> None:
    """Raise FormatError unless rows can be sorted so; `-` before a name: descending."""
    if sort.removeprefix("-") not in known:
        check_choice("sort", sort, known)

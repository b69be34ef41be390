"""Rows of one table as people list them: filtered and sorted by the database, a page at a time.

All of them are read by their numbers, in the order of one moment: rows that come meanwhile shift
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, Generic, TypeVar

import sqlalchemy as sa

from manager.db.engine import Database
from manager.db.transaction import Transaction, chunks
from shared.frozen import frozen

__all__ = ["SortedRows"]

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
        """Return how many rows match, and a page of them. sort: a key of `sorts`, perhaps `-`
        before it for descending."""
        query = self._rows().where(*where).order_by(*self._order(sort))
        page = tx.rows(self.kind, query.limit(limit).offset(offset))
        return tx.count(self.number.table, *where), page

    def every(
        self, db: Database, where: Sequence[sa.ColumnElement[bool]], sort: str
    ) -> Iterator[T]:
        """Yield all rows that match, each in its state at its turn; rows deleted before that are
        left out. Only their numbers are held, so a reader may be slow."""
        with db.read() as tx:
            numbers = tx.values(sa.select(self.number).where(*where).order_by(*self._order(sort)))
        for part in chunks(numbers, ROWS_AT_ONCE):
            with db.read() as tx:
                rows = tx.rows(self.kind, self._rows().where(self.number.in_(part)))
            found = {getattr(row, self.number.name): row for row in rows}
            yield from (found[number] for number in part if number in found)

    def _rows(self) -> sa.Select[Any]:
        return sa.select(*(self.number.table.c[field.name] for field in fields(self.kind)))  # type: ignore[arg-type]

    def _order(self, sort: str) -> tuple[sa.ColumnElement[Any], ...]:
        column = self.sorts[sort.removeprefix("-")]
        ordered = column.desc() if sort.startswith("-") else column.asc()
        return column.is_(None), ordered, self.number.desc()

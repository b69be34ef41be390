"""One transaction and its shapes of queries: records, values, counts, parts of long lists.

A query that each sync or tick asks is a constant in its module: to build it takes longer than to
run it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from shared.frozen import record_maker

__all__ = ["Transaction", "any_of", "chunks", "newest_first"]

ROWS_AT_ONCE: Final = 500
"""Values in one IN list: SQLite allows 32,766 parameters, PostgreSQL 65,535."""

ROWS_READ_AT_ONCE: Final = 5_000

T = TypeVar("T")
Parameters = Mapping[str, Any] | Sequence[Mapping[str, Any]]


class Transaction:
    """One transaction, open until the `with` block that made it ends."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    @property
    def dialect(self) -> str:
        """Return `sqlite` or `postgresql`."""
        return self._connection.dialect.name

    @property
    def connection(self) -> sa.Connection:
        """Return the connection underneath, for migrations."""
        return self._connection

    def execute(
        self, statement: sa.Executable, parameters: Parameters | None = None
    ) -> sa.CursorResult[Any]:
        """Run a statement; with a sequence of parameters once for each."""
        result = self._connection.execute(statement, parameters)
        assert isinstance(result, sa.CursorResult)
        return result

    def changed(self, statement: sa.Executable, parameters: Parameters | None = None) -> int:
        """Run an update or delete and return how many rows it changed."""
        counted = statement.execution_options(preserve_rowcount=True)
        return self.execute(counted, parameters).rowcount

    def rows(
        self, kind: type[T], statement: sa.Select[Any], parameters: Parameters | None = None
    ) -> list[T]:
        """Run a query and return each row as a dataclass with the same fields."""
        result = self.execute(statement, parameters)
        return list(map(record_maker(kind, tuple(result.keys())), result.all()))

    def row(
        self, kind: type[T], statement: sa.Select[Any], parameters: Parameters | None = None
    ) -> T | None:
        """Return the first row as a dataclass, or None; a query that finds many has a limit."""
        found = self.rows(kind, statement, parameters)
        return found[0] if found else None

    def values(self, statement: sa.Executable, parameters: Parameters | None = None) -> list[Any]:
        """Return the first column of a query."""
        return list(self.execute(statement, parameters).scalars())

    def value(self, statement: sa.Executable, parameters: Parameters | None = None) -> Any:
        """Return the first column of the first row, or None."""
        return self.execute(statement, parameters).scalar()

    def tuples(self, statement: sa.Select[Any]) -> list[Any]:
        """Run a query and return each row as a tuple."""
        return list(map(tuple, self.execute(statement)))

    def each(self, statement: sa.Select[Any]) -> Iterator[Any]:
        """Yield each row of a query as a tuple, without all of them in memory."""
        found = self.execute(statement.execution_options(yield_per=ROWS_READ_AT_ONCE))
        yield from map(tuple, found)

    def count(self, rows: sa.FromClause, *where: sa.ColumnElement[bool]) -> int:
        """Return how many rows of a table or a join fit all conditions."""
        return int(self.value(sa.select(sa.func.count()).select_from(rows).where(*where)))

    def counts(
        self, column: sa.ColumnElement[Any], *where: sa.ColumnElement[bool]
    ) -> dict[Any, int]:
        """Return how many rows that fit all conditions have each value of a column."""
        query = sa.select(column, sa.func.count()).where(*where).group_by(column)
        return dict(self.tuples(query))

    def exists(self, *where: sa.ColumnElement[bool]) -> bool:
        """Return whether there is a row that fits all conditions."""
        return bool(self.value(sa.select(sa.exists().where(*where))))

    def among(
        self, statement: sa.Select[Any], column: sa.ColumnElement[Any], values: Iterable[Any]
    ) -> Iterator[Any]:
        """Yield the rows of a query where a column has one of some values, however many.

        The values are asked about in parts, and rows are in the query's order in each part only.
        """
        for part in chunks(values):
            yield from self.execute(statement.where(column.in_(part)))

    def is_among(self, column: sa.ColumnElement[Any], values: Iterable[Any]) -> Any:
        """Return the condition that a column has one of some values, sent as one parameter.

        With one parameter a value, a statement of 500 takes longer to render than to run.
        """
        if self.dialect == "sqlite":
            each = sa.func.json_each(json.dumps(list(values))).table_valued("value")
            return column.in_(sa.select(each.c.value))
        array = sa.bindparam(None, list(values), postgresql.ARRAY(column.type))
        return column == sa.func.any(array)

    def rows_among(
        self,
        kind: type[T],
        statement: sa.Select[Any],
        column: sa.ColumnElement[Any],
        values: Iterable[Any],
    ) -> list[T]:
        """Return rows as `among` finds them, each as a dataclass with the same fields."""
        found: list[T] = []
        for part in chunks(values):
            found += self.rows(kind, statement.where(column.in_(part)))
        return found

    def values_among(
        self, statement: sa.Select[Any], column: sa.ColumnElement[Any], values: Iterable[Any]
    ) -> list[Any]:
        """Return the first column of rows as `among` finds them."""
        return [row[0] for row in self.among(statement, column, values)]

    def changed_among(
        self,
        statement: sa.Update | sa.Delete,
        column: sa.ColumnElement[Any],
        values: Iterable[Any],
    ) -> int:
        """Run an update or delete of the rows where a column has one of some values, however many.

        Returns how many rows it changed.
        """
        return sum(self.changed(statement.where(column.in_(part))) for part in chunks(values))

    def update_each(
        self,
        table: sa.Table,
        key: Sequence[str],
        rows: Sequence[Mapping[str, Any]],
        *where: sa.ColumnElement[bool],
        **values: Any,
    ) -> None:
        """Set columns of rows, each to its own values; the columns of `key` say which row it is.

        where: more that the rows must fit. values: set in all of them.
        """
        if not rows:
            return
        statement = _update_statement(table, tuple(key), tuple(rows[0]))
        if where or values:
            statement = statement.where(*where).values(values)
        names = [(name, f"new_{name}") for name in rows[0]]
        self.execute(statement, [{new: row[name] for name, new in names} for row in rows])

    def add(self, table: sa.Table, **values: Any) -> int:
        """Insert a row and return the number that the database gave it."""
        return int(self.value(table.insert().values(**values).returning(table.c.id)))

    def insert(self, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert rows; none is allowed."""
        if rows:
            self.execute(table.insert(), list(rows))

    def insert_new(self, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> int:
        """Insert the rows whose unique keys are not there yet; return how many were new."""
        if not rows:
            return 0
        return self.changed(self._insert(table).on_conflict_do_nothing(), rows)

    def upsert(
        self,
        table: sa.Table,
        rows: Sequence[Mapping[str, Any]],
        key: Sequence[str],
        add: Sequence[str] = (),
    ) -> None:
        """Insert rows, or overwrite those with the same key; columns in `add` are summed up."""
        if not rows:
            return
        insert = self._insert(table)
        new = insert.excluded
        given = {
            name: table.c[name] + new[name] if name in add else new[name]
            for name in rows[0]
            if name not in key
        }
        self.execute(insert.on_conflict_do_update(index_elements=list(key), set_=given), rows)

    def _insert(self, table: sa.Table) -> Any:
        # The same calls in two modules: SQLAlchemy has no common type for ON CONFLICT.
        return (sqlite if self.dialect == "sqlite" else postgresql).insert(table)


def chunks(items: Iterable[T], size: int = ROWS_AT_ONCE) -> Iterator[list[T]]:
    """Yield lists of at most `size` items, in order; nothing for nothing."""
    part: list[T] = []
    for item in items:
        part.append(item)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def newest_first(
    query: sa.Select[Any],
    number: sa.ColumnElement[int],
    limit: int,
    before: int | None,
    *equal: tuple[sa.ColumnElement[Any], str | int | None],
) -> sa.Select[Any]:
    """Return a query of the rows with the greatest numbers, those below `before` if it is given.

    equal: columns and what each must be; an empty text or None: anything.
    """
    if before is not None:
        query = query.where(number < before)
    wanted = (column == value for column, value in equal if value is not None and value != "")
    return query.where(*wanted).order_by(number.desc()).limit(limit)


def any_of(column: sa.ColumnElement[Any], *values: Any) -> sa.ColumnElement[bool]:
    """Return `column IN values` in a form that a statement run many times may have."""
    return sa.or_(*(column == value for value in values))


@cache
def _update_statement(table: sa.Table, key: tuple[str, ...], names: tuple[str, ...]) -> sa.Update:
    """Return the statement that sets columns of one row. Few sets of columns are ever asked."""
    values: dict[str, Any] = {name: sa.bindparam(f"new_{name}") for name in names}
    same = [table.c[name] == values.pop(name) for name in key]
    return table.update().where(*same).values(values)

"""All rows as lines of JSON, from either database and into either: the tables of a backup.

A table is its name, a line with its columns, and a line a row. Invariant: a dump in one transaction
is one state of the database; loading gives the same rows, and the numbers that the database then
generates continue after the greatest.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import metadata
from manager.db.tables.columns import MessageText
from manager.db.transaction import Transaction, chunks
from shared.errors import FormatError

__all__ = ["dump", "is_empty", "load", "table_names"]

LEFT_OUT: Final = {"managers", "lease_stamps"}
"""What is true of processes only, or of this database and of no copy."""

ROWS: Final = 2000


def table_names() -> list[str]:
    """Return the tables that are kept, each after those that it refers to."""
    return [table.name for table in metadata.sorted_tables if table.name not in LEFT_OUT]


def dump(tx: Transaction, name: str) -> Iterator[bytes]:
    """Yield the lines of a table, in the order of its key; memory is that of some rows."""
    table = metadata.tables[name]
    yield _line([column.name for column in table.columns])
    query = sa.select(*map(_as_kept, table.columns)).order_by(*table.primary_key.columns)
    rows = tx.connection.execution_options(stream_results=True).execute(query)
    for part in rows.partitions(ROWS):
        for row in part:
            yield _line([_plain(value) for value in row])


def load(tx: Transaction, name: str, lines: Iterable[bytes]) -> int:
    """Insert the lines of a table into a database of the schema that they are of; return how many.

    Additional columns of the schema get their defaults. Raises FormatError.
    """
    table = sa.Table(name, sa.MetaData(), autoload_with=tx.connection)
    binary = {column.name for column in table.columns if isinstance(column.type, sa.LargeBinary)}
    truths = (
        {
            column.name
            for column in metadata.tables[name].columns
            if isinstance(column.type, sa.Boolean)
        }
        if name in metadata.tables
        else set[str]()
    )
    given = iter(lines)
    columns = _parsed(name, next(given, b"null"))
    if not all(isinstance(column, str) and column in table.columns for column in columns):
        raise FormatError("identity.backup_columns", table=name)
    tx.execute(table.delete())
    count = 0
    for part in chunks(given, ROWS):
        rows = []
        for line in part:
            values = _parsed(name, line)
            if len(values) != len(columns):
                raise FormatError("identity.backup_row_length", table=name, count=len(values))
            row = dict(zip(columns, values, strict=True))
            for column in binary & row.keys():
                row[column] = None if row[column] is None else base64.b64decode(row[column])
            for column in truths & row.keys():
                row[column] = None if row[column] is None else bool(row[column])
            rows.append(row)
        tx.insert(table, rows)
        count += len(rows)
    _go_on_counting(tx, table)
    return count


def is_empty(tx: Transaction) -> bool:
    """Return whether the database has no table at all."""
    return not sa.inspect(tx.connection).get_table_names()


def _go_on_counting(tx: Transaction, table: sa.Table) -> None:
    """Set PostgreSQL's sequences behind the restored rows."""
    if tx.dialect == "sqlite" or "id" not in table.columns:
        return
    sequence = tx.value(sa.select(sa.func.pg_get_serial_sequence(table.name, "id")))
    if sequence is not None:
        last = tx.value(sa.select(sa.func.max(table.c.id)))
        tx.execute(sa.select(sa.func.setval(sequence, last or 1, last is not None)))


def _as_kept(column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    """Return a column as the row has it: of a message its text."""
    return sa.type_coerce(column, sa.Text()) if isinstance(column.type, MessageText) else column


def _plain(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes | memoryview) else value


def _line(values: list[Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _parsed(name: str, line: bytes) -> list[Any]:
    try:
        values = json.loads(line)
    except ValueError as error:
        raise FormatError("identity.backup_line_not_json", table=name) from error
    if not isinstance(values, list):
        raise FormatError("identity.backup_line_not_list", table=name)
    return values

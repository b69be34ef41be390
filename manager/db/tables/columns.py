"""Column types that both databases understand, and the names of constraints."""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa

from shared.messages import Message, message_of_row, row_of_message

__all__ = [
    "Key",
    "Whole",
    "count",
    "flag",
    "identity",
    "message",
    "metadata",
    "moment",
    "one_of",
    "only_row",
    "partial_index",
    "retired",
    "text",
]

metadata: Final = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Whole: Final = sa.BigInteger()
Key: Final = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""SQLite numbers rows by itself only where the type is written INTEGER."""


def identity() -> sa.Column[int]:
    """Return a column `id` that the database numbers."""
    return sa.Column("id", Key, primary_key=True)


def moment(name: str, *, required: bool = False) -> sa.Column[int]:
    """Return a column of epoch milliseconds; NULL means that it did not happen."""
    return sa.Column(name, Whole, nullable=not required)


def count(name: str, *, start: int = 0) -> sa.Column[int]:
    """Return a column that is never NULL and begins at a number."""
    return sa.Column(name, Whole, nullable=False, default=start, server_default=str(start))


def retired(name: str, kind: sa.types.TypeEngine[Any] = Whole) -> sa.Column[Any]:
    """Return a column that no code uses: versions before write it, so it is dropped later.

    It has no default in Python, so that no INSERT names it (docs/adr/0196).
    """
    start = "" if isinstance(kind, sa.Text) else "0"
    return sa.Column(name, kind, nullable=False, server_default=start)


def flag(name: str, *, start: bool = False) -> sa.Column[bool]:
    """Return a column that is true or false."""
    return sa.Column(
        name,
        sa.Boolean(create_constraint=False),
        nullable=False,
        default=start,
        server_default="1" if start else "0",
    )


def text(name: str, *, required: bool = True, **options: Any) -> sa.Column[str]:
    """Return a text column; a required one begins empty."""
    if required:
        options = {"default": "", "server_default": "", **options}
    return sa.Column(name, sa.Text(), nullable=not required, **options)


class MessageText(sa.types.TypeDecorator[Message]):
    """A message in a text column: its code and parameters (`shared.messages.message`)."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Message | str | None, dialect: sa.Dialect) -> str | None:
        """Return the text of the row; a text that is given has the form of a row already."""
        return value if isinstance(value, str) else row_of_message(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> Message | None:
        """Return the message; None for an empty text."""
        return message_of_row(value)


def message(name: str, **options: Any) -> sa.Column[Message]:
    """Return a column that holds a message; an empty text for none."""
    return sa.Column(name, MessageText(), nullable=False, default="", server_default="", **options)


def one_of(name: str, *values: str) -> sa.CheckConstraint:
    """Return the constraint that a text column holds one of some words."""
    words = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{name} IN ({words})", name=name)


def only_row() -> tuple[sa.Column[int], sa.CheckConstraint]:
    """Return the key of a table that has one row at most: 1."""
    one = sa.CheckConstraint("id = 1", name="one_row")
    return sa.Column("id", sa.Integer(), primary_key=True), one


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> sa.Index:
    """Return an index of those rows for which a condition in SQL holds, on either database."""
    condition = sa.text(where)
    return sa.Index(
        name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition
    )

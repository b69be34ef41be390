"""Sentences in rows become codes with parameters; text that no pattern matches stays unchanged.

The rows of a column are read in the order of their key. Where a column has few different sentences,
each is rewritten by one statement, whatever the number of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from migrations.old_sentences import COLUMNS
from migrations.sentence_codes import code_of, sentence_of

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

FEW = 1_000
BATCH = 5_000


def upgrade() -> None:
    """Go to this schema."""
    _rewrite(code_of)


def downgrade() -> None:
    """Go back: each code that stands for an old sentence is written as that."""
    _rewrite(sentence_of)


def _rewrite(changed: Callable[[str, tuple[str, ...]], str | None]) -> None:
    bind = op.get_bind()
    there = sa.inspect(bind)
    for name, column, groups in COLUMNS:
        keys = there.get_pk_constraint(name)["constrained_columns"]
        table = sa.table(name, *(sa.column(key) for key in keys), sa.column(column))
        value = table.c[column]
        different = (
            bind.execute(sa.select(value).where(value != "").distinct().limit(FEW + 1))
            .scalars()
            .all()
        )
        if len(different) <= FEW:
            for old in different:
                new = changed(old, groups)
                if new is not None:
                    bind.execute(sa.update(table).where(value == old).values({column: new}))
            continue
        update = (
            sa.update(table)
            .where(*(table.c[key] == sa.bindparam(f"key_{key}") for key in keys))
            .values({column: sa.bindparam("new")})
        )
        for rows in _batches(bind, table, keys, value):
            found = [(row, changed(row[-1], groups)) for row in rows]
            values = [
                {**{f"key_{key}": one for key, one in zip(keys, row, strict=False)}, "new": new}
                for row, new in found
                if new is not None
            ]
            if values:
                bind.execute(update, values)


def _batches(
    bind: sa.Connection, table: sa.TableClause, keys: list[str], value: sa.ColumnElement[str]
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows with a sentence, by their keys, some thousand at a time."""
    columns = [table.c[key] for key in keys]
    query = sa.select(*columns, value).where(value != "").order_by(*columns).limit(BATCH)
    last: tuple[Any, ...] | None = None
    while True:
        behind = query if last is None else query.where(sa.tuple_(*columns) > sa.tuple_(*last))
        rows = [tuple(row) for row in bind.execute(behind)]
        if not rows:
            return
        last = rows[-1][:-1]
        yield rows

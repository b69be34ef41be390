"""Statements are compiled once per process and kind of database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from manager.db.compiled_statements import share_compiled
from manager.db.engine import Database, Transaction
from manager.db.tables import clock, login_failures

HIT, MISS = "CACHE_HIT", "CACHE_MISS"


@contextmanager
def opened_again(database: Database) -> Iterator[Database]:
    """Open the same database a second time."""
    url = database.engine.url.render_as_string(hide_password=False)
    second = Database(url.replace("postgresql+psycopg", "postgresql"))
    try:
        yield second
    finally:
        second.close()


def hit(tx: Transaction, statement: sa.Executable, parameters: Any = None) -> str:
    """Run a statement and return whether its compiled form was found."""
    result = tx.connection.execute(statement, parameters)
    context: Any = result.context
    return str(context.cache_hit.name)


def test_a_database_takes_what_another_of_its_kind_compiled(database: Database) -> None:
    """Values are each one's own, and so are the rows."""

    def query(epoch: int) -> sa.Select[Any]:
        return sa.select(clock.c.id.label("only_here")).where(clock.c.epoch == epoch)

    with database.write() as tx:
        tx.insert(clock, [{"id": 1, "ticks": 7, "epoch": 3}])
    with database.read() as tx:
        assert hit(tx, query(3)) == MISS
    with opened_again(database) as second, second.read() as tx:
        assert hit(tx, query(4)) == HIT
        assert tx.values(query(4)) == []
        assert tx.values(query(3)) == [1]


def test_many_rows_and_lists_of_any_length_are_right_with_a_shared_statement(
    database: Database,
) -> None:
    """An insert of many rows is another statement than that of one; a list is written each time."""
    kept = login_failures
    with opened_again(database) as second:
        for number, db in enumerate((database, second)):
            names = [f"{number}-{extra}" for extra in range(number + 2)]
            with db.write() as tx:
                tx.insert(kept, [{"name": name, "failures": 1, "last_ms": 5} for name in names])
            found = sa.select(kept.c.name).where(kept.c.name.in_(names)).order_by(kept.c.name)
            with db.read() as tx:
                assert tx.values(found) == names
                assert tx.values(found.where(kept.c.name.in_(names[:1]))) == names[:1]


def test_a_literal_value_is_part_of_the_statement(database: Database) -> None:
    """Two literals are two statements, whoever compiled one of them first."""
    with opened_again(database) as second:
        for number, db in enumerate((database, second)):
            with db.read() as tx:
                assert tx.value(sa.select(sa.literal_column(str(number)))) == number
                assert tx.value(sa.select(sa.literal(number, literal_execute=True))) == number


def test_dialects_that_know_other_things_share_nothing(tmp_path: Path) -> None:
    """A server of another version may need other text."""
    query = sa.select(clock.c.id.label("of_two_versions"))
    hits = []
    for version in ((3, 40, 1), (3, 35, 0), (3, 40, 1)):
        engine = sa.create_engine(f"sqlite:///{tmp_path / 'clock.sqlite'}")
        share_compiled(engine)
        with engine.connect() as connection:
            clock.create(connection, checkfirst=True)
            assert isinstance(engine.dialect, sqlite.dialect)
            engine.dialect.server_version_info = version
            hits.append(hit(Transaction(connection), query))
        engine.dispose()
    assert hits == [MISS, MISS, HIT]


def test_a_cache_refuses_the_statement_of_another_engine(tmp_path: Path) -> None:
    """Else an engine would run what was compiled for another kind."""
    engine = sa.create_engine("sqlite://")
    share_compiled(engine)
    cache = engine.get_execution_options()["compiled_cache"]
    with pytest.raises(AssertionError, match="another engine"):
        cache.get((sqlite.dialect(), "key", (), False, False))

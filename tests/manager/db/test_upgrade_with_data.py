"""A database of the first schema, in the midst of a crawl, comes to today's with all its rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command

from manager.db.engine import Database, Transaction
from manager.db.migrate import _config, is_current, migrate
from manager.db.tables import metadata
from manager.db.tables.columns import MessageText
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.hosts import exclude_host
from manager.operations.rounds.rounds import current_round, round_detail, start_round
from tests.manager.operations.world import ADMIN, World

HOSTS = tuple(f"h{number}.jp" for number in range(12))
SYNCING = ("a", "b", "c")
ODD = {"alembic_version"}


def test_a_crawl_goes_on_after_the_upgrade(database: Database, tmp_path: Path) -> None:
    """No row and no value is lost; nothing contradicts; the round ends, and another begins."""
    source = Database(f"sqlite:///{tmp_path / 'source.sqlite'}")
    migrate(source)
    world = half_a_round(source)
    with source.read() as tx:
        kept = first_schema(database, tx)
    assert not is_current(database)
    migrate(database)
    assert is_current(database)
    with database.read() as tx:
        for name, (columns, rows) in kept.items():
            assert read(tx, name, columns) == rows, name
    source.close()
    assert check(database) == []
    world.db = database
    world.run(names=SYNCING)
    assert current_round(database) is None
    assert round_detail(database, 2).round.state == "finished"
    start_round(database, "default", ADMIN, world.now_ms, policy=world.policy)
    world.run(names=SYNCING)
    assert round_detail(database, 3).round.state == "finished"
    assert check(database) == []


def half_a_round(source: Database) -> World:
    """Return a world with a finished round, and another of which some units are crawled."""
    world = World(source)
    world.join(*SYNCING)
    world.join("plain", kind="plain")  # it has not called yet
    world.hosts(*HOSTS)
    world.hosts("x1.jp", "x2.jp", address="192.0.2.9")
    start_round(source, "random", ADMIN, world.now_ms, policy=world.policy)
    world.run(names=SYNCING)
    exclude_host(source, "h3.jp", "asked for", ADMIN, world.now_ms)
    start_round(source, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    for _ in range(3):
        world.wait(world.policy.tick_s)
        world.tick()
        for name in SYNCING:
            world.call(name)
            world.work(name, most=1)
    assert round_detail(source, 2).units.keys() >= {"granted", "finished"}
    return world


def first_schema(database: Database, source: Transaction) -> dict[str, tuple[list[str], list[Any]]]:
    """Make the first schema, with what it has room for of another database; return that."""
    config = _config()
    kept: dict[str, tuple[list[str], list[Any]]] = {}
    with database.write() as tx:
        metadata.drop_all(tx.connection)
        tx.execute(sa.text("DROP TABLE alembic_version"))
        config.attributes["connection"] = tx.connection
        command.upgrade(config, "0001")
        old = sa.MetaData()
        old.reflect(tx.connection)
        for table in old.sorted_tables:
            if table.name in ODD:
                continue
            columns = [column.name for column in table.columns]
            rows = read(source, table.name, columns)
            kept[table.name] = columns, rows
            if rows:
                tx.execute(table.insert(), [dict(zip(columns, row, strict=True)) for row in rows])
            if not database.is_sqlite and "id" in columns and table.name != "clock":
                tx.execute(
                    sa.text(
                        f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "
                        f"coalesce(max(id), 1)) FROM {table.name}"
                    )
                )
    empty = [name for name, (_, rows) in kept.items() if not rows]
    assert set(empty) <= {"sessions", "login_failures", "users", "directory_sums", "start_pages"}
    return kept


def _as_kept(column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    return sa.type_coerce(column, sa.Text()) if isinstance(column.type, MessageText) else column


def read(tx: Transaction, name: str, columns: list[str]) -> list[Any]:
    """Return the rows of a table of today, as far as it had these columns, in any one order."""
    table = metadata.tables[name]
    query = sa.select(*(_as_kept(table.c[column]) for column in columns))
    return sorted((tuple(row) for row in tx.execute(query)), key=repr)

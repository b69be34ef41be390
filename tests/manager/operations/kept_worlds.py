"""Worlds that many tests begin with: each is made once a process and kind of database, then copied.

A round of a dozen hosts takes a second; a copy of what it leaves takes milliseconds.
"""

from __future__ import annotations

import copy
import functools
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg

from manager.db.engine import Database
from tests.manager.operations.world import World

__all__ = ["kept_world"]

W = TypeVar("W", bound=World)


def kept_world(make: Callable[..., W]) -> Callable[..., W]:
    """Call a function that fills an empty database for the first test; copy its world for others.

    make: takes the database first, and words, numbers or dictionaries of them.
    """
    made: dict[str, tuple[Copy, W]] = {}

    @functools.wraps(make)
    def world_of(database: Database, *args: Any, **named: Any) -> W:
        key = repr((database.is_sqlite, args, sorted(named.items())))
        if key not in made:
            world = make(database, *args, **named)
            made[key] = Copy(database), _with_database(world, object())
            return world
        kept, world = made[key]
        kept.put_into(database)
        return _with_database(world, database)

    return world_of


def _with_database(world: W, database: object) -> W:
    """Return a world like another, whose agents are its own. database: or what stands for it."""
    return copy.deepcopy(world, {id(world.db): database})


class Copy:
    """All that a database holds; put into another one of its kind, it takes that one's place."""

    def __init__(self, database: Database) -> None:
        if database.is_sqlite:
            self.memory = sqlite3.connect(":memory:", check_same_thread=False)
            with sqlite3.connect(_name(database)) as file:
                file.backup(self.memory)
            file.close()
        else:
            self.template = f"{_name(database)}_kept"
            _copy_postgres(database, _name(database), self.template)

    def put_into(self, database: Database) -> None:
        """Replace all that a database holds; nobody may be using it."""
        if database.is_sqlite:
            with sqlite3.connect(_name(database)) as file:
                self.memory.backup(file)
            file.close()
        else:
            _copy_postgres(database, self.template, _name(database))


def _name(database: Database) -> str:
    name = database.engine.url.database
    assert name is not None
    return name


def _copy_postgres(database: Database, source: str, target: str) -> None:
    """Copy a whole database; none of the two may have a connection."""
    database.engine.dispose()
    url = database.engine.url.set(drivername="postgresql", database="postgres")
    with psycopg.connect(url.render_as_string(hide_password=False), autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {target} WITH (FORCE)".encode())
        server.execute(f"CREATE DATABASE {target} TEMPLATE {source} STRATEGY FILE_COPY".encode())

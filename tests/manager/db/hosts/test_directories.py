"""Sums of directories add up over logs, and a host cannot fill the table with them."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.hosts import directories
from manager.db.hosts.directories import DirectoryRow
from manager.operations.hosts.host_views import host_detail
from tests.manager.operations.world import World


@pytest.fixture
def known(database: Database) -> tuple[int, int]:
    """Return the numbers of an agent and of a host."""
    world = World(database)
    world.join("a")
    world.hosts("h.jp")
    with database.read() as tx:
        row = agents.by_name(tx, "a")
    assert row is not None
    return row.id, host_detail(database, "h.jp").host.id


def add(database: Database, known: tuple[int, int], *paths: str) -> None:
    agent_id, host_id = known
    with database.write() as tx:
        directories.add(
            tx,
            agent_id,
            [
                DirectoryRow(
                    agent_id,
                    host_id,
                    path=path,
                    round=1,
                    kind="crawl",
                    requests=2,
                    pages=1,
                    errors=0,
                    request_bytes=0,
                    response_bytes=10,
                    ms=5,
                )
                for path in paths
            ],
        )


def requests(database: Database, known: tuple[int, int]) -> dict[str, int]:
    with database.read() as tx:
        return {row.path: row.requests for row in directories.crawled_in(tx, known[1], 1)}


def test_logs_add_up(database: Database, known: tuple[int, int]) -> None:
    """A directory of two logs has the sum of both."""
    add(database, known, "/", "/a/")
    add(database, known, "/a/", "/a/b/")
    assert requests(database, known) == {"/": 2, "/a/": 4, "/a/b/": 2}


def test_what_is_too_much_counts_for_the_directory_around_it(
    database: Database, known: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost, and there are never more rows than the limit and `/`."""
    monkeypatch.setattr(directories, "MOST", 3)
    add(database, known, "/", "/a/", "/a/b/")
    add(database, known, "/a/b/c/", "/a/x/", "/z/", "/y/")
    assert requests(database, known) == {"/": 6, "/a/": 4, "/a/b/": 4}

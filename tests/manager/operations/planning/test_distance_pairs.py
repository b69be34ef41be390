"""Lists of pairs and the matrix, whole: each pair once, however they are cut into parts."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from manager.db.engine import Database
from manager.db.tables import distances
from manager.errors import NotFoundError
from manager.operations.hosts import probe_matrix
from manager.operations.hosts.host_views import HostFilter
from manager.operations.hosts.probe_matrix import every_matrix_row, matrix
from manager.operations.planning import distance_pairs
from manager.operations.planning.distance_pairs import PairFilter, PairRow, every_pair, pairs
from shared.errors import FormatError
from tests.manager.operations.planning.test_plans import measured
from tests.manager.operations.world import World

PAIRS = 36


@pytest.fixture
def world(database: Database) -> World:
    """A dozen hosts that three agents measured, each half in the same millisecond."""
    world = measured(database)
    with database.write() as tx:
        tx.execute(sa.update(distances).values(measured_ms=world.now_ms - distances.c.unit_id % 2))
    return world


def _named(rows: list[PairRow]) -> list[tuple[str, str]]:
    return [(row.agent, row.host) for row in rows]


@pytest.mark.parametrize("sort", ["age", "-age"])
def test_pages_of_pairs_that_are_as_old_have_each_once(world: World, sort: str) -> None:
    """What is alike would come in any order otherwise, and in another one for each page."""
    database, where, found = world.db, PairFilter(), []
    for offset in range(0, PAIRS, 5):
        found += pairs(database, where, world.now_ms, sort=sort, limit=5, offset=offset)
    assert found == pairs(database, where, world.now_ms, sort=sort, limit=100)
    assert len(set(_named(found))) == len(found) == PAIRS


@pytest.mark.parametrize("rows_at_once", [1, 5, 500])
def test_all_pairs_come_once_in_parts_of_any_size(
    world: World, rows_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Agent by agent, each in the order of the list; those of a host or an agent as listed."""
    monkeypatch.setattr(distance_pairs, "ROWS_AT_ONCE", rows_at_once)
    database, now_ms = world.db, world.now_ms
    found = _named(list(every_pair(database, PairFilter(), now_ms)))
    assert len(set(found)) == len(found) == PAIRS
    assert [agent for agent, _ in found] == sorted(agent for agent, _ in found)
    for where in (PairFilter(agent="b"), PairFilter(host="h1.jp"), PairFilter("b", "h1.jp")):
        for sort in ("age", "-distance"):
            listed = pairs(database, where, now_ms, sort=sort, limit=100)
            assert listed
            assert list(every_pair(database, where, now_ms, sort=sort)) == listed


def test_what_is_measured_meanwhile_is_neither_lost_nor_there_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list turns round while it is read; what goes away is left out."""
    monkeypatch.setattr(distance_pairs, "ROWS_AT_ONCE", 4)
    database = world.db
    reader = every_pair(database, PairFilter(agent="a"), world.now_ms)
    found = [next(reader), next(reader)]
    first = distances.c.unit_id == found[0].unit_id
    with database.write() as tx:
        newer = world.now_ms + distances.c.unit_id
        tx.execute(sa.update(distances).values(measured_ms=newer))
        last = sa.select(sa.func.max(distances.c.unit_id)).scalar_subquery()
        tx.execute(sa.delete(distances).where(distances.c.unit_id == last, ~first))
    found += reader
    assert len(set(_named(found))) == len(found) == PAIRS // 3 - 1
    assert found[-1].measured_ms > world.now_ms


def test_what_is_asked_wrongly_is_refused_before_the_first(world: World) -> None:
    """A file that has begun could not say so."""
    database = world.db
    with pytest.raises(FormatError, match="sort by distance"):
        every_pair(database, PairFilter(), world.now_ms, sort="distance")
    with pytest.raises(NotFoundError, match="agent nobody"):
        every_pair(database, PairFilter(agent="nobody"), world.now_ms)
    with pytest.raises(NotFoundError, match="agent nobody"):
        every_matrix_row(database, ["a", "nobody"], policy=world.policy)
    with pytest.raises(FormatError, match="domain"):
        every_matrix_row(database, ["a"], HostFilter(domain="?"), policy=world.policy)


@pytest.mark.parametrize("cells_at_once", [1, 10, 1_000_000])
def test_the_whole_matrix_is_its_pages_one_behind_the_other(
    world: World, cells_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few cells are held at a time."""
    monkeypatch.setattr(probe_matrix, "CELLS_AT_ONCE", cells_at_once)
    database, names = world.db, ["c", "a"]
    for descending in (False, True):
        page = matrix(database, names, descending=descending, policy=world.policy)
        rows = every_matrix_row(database, names, descending=descending, policy=world.policy)
        assert list(rows) == page.rows
        assert len(page.rows) == PAIRS // 3

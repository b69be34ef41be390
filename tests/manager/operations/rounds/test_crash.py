"""Kill the manager at any statement: no assignment is lost or doubled, no report either."""

from __future__ import annotations

import multiprocessing
import random
import shutil
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest
import sqlalchemy as sa

from manager.db.tables import assignments, host_sums, reports, unit_rounds
from manager.operations.health.consistency_checks import check
from manager.operations.rounds.rounds import list_rounds
from tests.examples import examples
from tests.manager.operations.crash_scenario import (
    KILLED,
    LastingWorld,
    child,
    count_statements,
    tell,
)


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Children come from a server that has everything imported already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.manager.operations.crash_scenario"])
    return context


@pytest.fixture(scope="module")
def whole(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many statements and commits the story has when nothing happens to it."""
    world = _world(sqlite_template, tmp_path_factory.mktemp("whole"))
    counted = count_statements(world.db.engine)
    tell(world)
    statements = counted[0]
    _told(world)
    world.db.close()
    return statements


def _world(template: Path, folder: Path) -> LastingWorld:
    shutil.copyfile(template, folder / "db")
    return LastingWorld(folder)


def _told(world: LastingWorld) -> None:
    """Refuse an end of the story that is not the one it has without a kill."""
    assert check(world.db) == []
    assert [row.state for row in list_rounds(world.db)] == ["finished"] * 3
    with world.db.read() as tx:
        owned = tx.value(sa.select(sa.func.count()).where(assignments.c.until_ms.is_(None)))
        assert owned == 4, "h1, h2, h4 and new have an owner, h3 is excluded"
        crawled = tx.execute(
            sa.select(unit_rounds.c.round, sa.func.count())
            .where(unit_rounds.c.state == "finished")
            .group_by(unit_rounds.c.round)
            .order_by(unit_rounds.c.round)
        ).all()
        assert [tuple(row) for row in crawled] == [(1, 4), (2, 4), (3, 4)]
        accepted = tx.value(sa.select(sa.func.count()).select_from(reports))
        requests = tx.value(sa.select(sa.func.sum(host_sums.c.requests)))
    assert accepted == sum(agent.reports for agent in world.agents.values())
    assert requests == sum(agent.requests for agent in world.agents.values())


def _kill_and_tell_on(
    context: ForkServerContext, template: Path, folder: Path, kill_at: int
) -> None:
    shutil.copyfile(template, folder / "db")
    process = context.Process(target=child, args=(str(folder), kill_at))
    process.start()
    process.join(120)
    assert process.exitcode == KILLED, f"statement {kill_at}: exit code {process.exitcode}"
    world = LastingWorld(folder)
    try:
        assert check(world.db) == [], f"after a kill at statement {kill_at}"
        tell(world)
        _told(world)
    finally:
        world.db.close()


def _sample(whole: int, count: int, seed: int) -> list[int]:
    return sorted(random.Random(seed).sample(range(1, whole), min(count, whole - 1)))


def test_a_kill_anywhere_loses_and_doubles_nothing(
    processes: ForkServerContext, sqlite_template: Path, whole: int, tmp_path: Path
) -> None:
    """After a kill at any statement the database is consistent and the story ends as ever."""
    for kill_at in _sample(whole, examples(12), 20260101):
        folder = tmp_path / str(kill_at)
        folder.mkdir()
        _kill_and_tell_on(processes, sqlite_template, folder, kill_at)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_kill_at_many_statements(
    processes: ForkServerContext, sqlite_template: Path, whole: int, tmp_path: Path
) -> None:
    """The same at several hundred statements."""
    for kill_at in _sample(whole, 300, 7):
        folder = tmp_path / str(kill_at)
        folder.mkdir()
        _kill_and_tell_on(processes, sqlite_template, folder, kill_at)
        shutil.rmtree(folder)

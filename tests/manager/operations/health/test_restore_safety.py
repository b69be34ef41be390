"""A backup that is older than what agents hold: never two at one unit, and the crawl goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from manager.db.engine import Database
from manager.db.migrate import migrate
from manager.db.row_dumps import load
from manager.operations.health.consistency_checks import check
from manager.operations.health.restore_safety import longest_permit_ms
from manager.operations.rounds.rounds import current_round, round_detail, start_round
from tests.manager.operations.restored import restored, rows_of
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario

HOSTS = tuple(f"h{number}.jp" for number in range(12))


@dataclass
class Moved:
    """A world in which other agents hold what a backup says of some units. caller: had one."""

    world: World
    kept: dict[str, list[bytes]]
    caller: str


def holders(world: World) -> dict[str, str]:
    return {
        unit: name
        for name, agent in world.agents.items()
        for unit in agent.fetchable(world.true_ms)
    }


def moved_since_backup(database: Database) -> Moved:
    """Run rounds, keep the rows in the midst of one, and go on until units have moved."""
    world = World(database)
    world.join("a", "b", "c")
    world.hosts(*HOSTS)
    start_round(database, "random", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.tick()
    for name in world.agents:
        world.call(name)
    kept, before = rows_of(database), holders(world)
    world.run()
    start_round(database, "prices", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.tick()
    for _ in range(3):
        world.wait(world.policy.tick_s)
        for name in world.agents:
            world.call(name)
        world.tick()
    after = holders(world)
    assert len(before) == len(after) == 12
    moved = [unit for unit in before if before[unit] != after[unit]]
    assert moved
    return Moved(world, kept, before[moved[0]])


def test_after_an_old_backup_no_unit_has_two_fetchers(database: Database) -> None:
    """One agent calls at once, the others hold on to their permits: nothing is given out twice."""
    moved = moved_since_backup(database)
    world, kept = moved.world, moved.kept
    until_ms = restored(world, kept)
    while world.now_ms + 40_000 < until_ms:
        world.wait(40)
        world.tick()
        world.call(moved.caller)
        world.check_exclusive()
        assert not world.agents[moved.caller].fetchable(world.true_ms)
    assert not any(agent.fetchable(world.true_ms) for agent in world.agents.values())
    world.wait(41)
    world.run()
    assert current_round(database) is None
    assert round_detail(database, 1002).round.state == "finished"
    assert round_detail(database, 1002).units == {"finished": 12}
    assert check(database) == []
    start_round(database, "tree", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.run()
    assert round_detail(database, 1003).round.state == "finished"


def test_without_waiting_two_would_fetch(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This is what the waiting is for."""
    moved = moved_since_backup(database)
    world, kept = moved.world, moved.kept
    restored(world, kept)
    monkeypatch.setattr("manager.db.rounds.tick_clock.held_until", lambda _: 0)
    with pytest.raises(AssertionError, match="may both fetch"):
        for _ in range(10):
            world.wait(world.policy.tick_s)
            world.tick()
            world.call(moved.caller)
            world.check_exclusive()


def test_who_was_away_long_enough_waits_no_more(database: Database) -> None:
    """The old manager ended before the longest permit: all are over, and work begins at once."""
    moved = moved_since_backup(database)
    world, kept = moved.world, moved.kept
    longest_s = world.policy.permit_s + 2 * world.policy.max_tick_gap_s
    world.wait(longest_s)
    restored(world, kept, down_s=longest_s)
    for _ in range(3):
        world.wait(world.policy.tick_s)
        world.tick()
        world.call(moved.caller)
        world.check_exclusive()
    assert world.agents[moved.caller].fetchable(world.true_ms)


def test_lists_and_permits_never_go_back(database: Database) -> None:
    """An agent's number of list and permit is beyond any that it may have been given since."""
    moved = moved_since_backup(database)
    world, kept = moved.world, moved.kept
    before = {name: (agent.held, agent.epoch) for name, agent in world.agents.items()}
    restored(world, kept)
    for name, agent in world.agents.items():
        answer = world.sync(name)
        assert answer.permit is None, "it holds a list from before"
        world.call(name)
        assert agent.held > before[name][0]
        assert agent.epoch > before[name][1]


def test_plain_agents_are_waited_for(database: Database) -> None:
    """They call once a night, and are believed to fetch until then."""
    world = World(database)
    world.join("a")
    with database.read() as tx:
        assert longest_permit_ms(tx, world.policy) == 720_000
    world.join("p", kind="plain")
    with database.read() as tx:
        assert longest_permit_ms(tx, world.policy) == 7_320_000


def test_a_dump_is_the_same_on_both_databases(database: Database, tmp_path: Path) -> None:
    """Rows of one kind of database go into the other and out again, as they were."""
    kept = moved_since_backup(database).kept
    other = Database(f"sqlite:///{tmp_path / 'other.sqlite'}")
    migrate(other)
    with other.write() as tx:
        for name, lines in kept.items():
            assert load(tx, name, lines) == len(lines) - 1
    assert rows_of(other) == kept
    assert check(other) == []
    other.close()

"""What is exported, on either database: unreachable hosts, split hosts, thousands of rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.db.engine import Database
from manager.db.hosts import hosts
from manager.db.ownership import assignments
from manager.db.tables import units
from manager.operations.logs.log_scratch import LogWorkspace
from manager.operations.logs.source_files import export
from manager.operations.measurement.distances import note_unreachable
from manager.operations.rounds.rounds import start_round
from shared.messages import Message
from tests.manager.operations.world import ADMIN, World

BY_HAND = Message("ownership.moved_by_hand")


def exported(database: Database, kind: str, folder: Path) -> dict[str, list[str]]:
    """Return the lines of the files of an export by name."""
    folder.mkdir()
    files = export(database, kind, LogWorkspace(folder, folder, 64 * 1000**2), ADMIN, 0)
    return {file.name: file.path.read_text().splitlines() for file in files}


def test_a_round_comes_out_as_it_was_measured(database: Database, tmp_path: Path) -> None:
    """Distance x volume is the cost; the lists name each unit once, and the totals agree."""
    world = World(database)
    world.join("a", "b", speed=2.0)
    names = [f"h{number}.jp" for number in range(9)]
    world.hosts(*names)
    start_round(database, "random", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    distance = exported(database, "distances", tmp_path / "1")
    for agent in ("a", "b"):
        written = dict(line.split(" ") for line in distance[f"distance/{agent}"])
        assert list(written) == names
        for name, ms_per_kb in written.items():
            # A log has whole milliseconds, of 100 KBytes here.
            wanted = world.distance(agent, f"http://{name}:80/")
            assert float(ms_per_kb) == pytest.approx(wanted, abs=0.02)
    assert exported(database, "volumes", tmp_path / "2") == {
        "document.txt": [f"{name} 100.000" for name in names]
    }
    cost = exported(database, "costs", tmp_path / "3")
    lists = exported(database, "lists", tmp_path / "4")
    assert sorted(lists["random/a"] + lists["random/b"]) == names
    for agent in ("a", "b"):
        costs = dict(line.split(" ") for line in cost[f"cost/{agent}"])
        mine = lists[f"random/{agent}"]
        total = sum(float(costs[name]) for name in mine)
        assert f"{agent}:{total:.3f}:{len(mine)}" in cost["agents.txt"]
    assert cost["agents.txt"] == lists["agents.txt"]


def test_unreachable_is_infinitely_far(database: Database, tmp_path: Path) -> None:
    """It has a line, so that it is told from what was never measured; it owns it at no cost.

    What is no unit any more, since its host was merged again, has none.
    """
    world = World(database)
    world.join("a", "b")
    world.hosts("one.jp", "two.jp")
    with database.write() as tx:
        ids = hosts.ids_of_units(tx, ["http://one.jp:80/", "http://two.jp:80/"])
        one = ids["http://one.jp:80/"]
        agent = world.agents["a"].identity.id
        note_unreachable(tx, agent, [one], 1, 0)
        tx.execute(units.update().where(units.c.id == one).values(volume_kb=2.5))
        assignments.place(tx, {one: agent}, 0, BY_HAND)
    assert exported(database, "distances", tmp_path / "1") == {
        "distance/a": ["one.jp inf"],
        "distance/b": [],
    }
    assert exported(database, "costs", tmp_path / "2") == {
        "cost/a": ["one.jp inf"],
        "cost/b": [],
        "agents.txt": ["a:0.000:1", "b:0.000:0"],
    }
    assert exported(database, "volumes", tmp_path / "3") == {"document.txt": ["one.jp 2.500"]}
    with database.write() as tx:
        tx.execute(units.update().where(units.c.id == one).values(merged_ms=1))
    assert exported(database, "volumes", tmp_path / "4") == {"document.txt": []}
    assert exported(database, "distances", tmp_path / "5")["distance/a"] == []


@pytest.mark.parametrize("count", [5_000])
def test_rows_come_in_the_order_of_keys(database: Database, tmp_path: Path, count: int) -> None:
    """More than one page of them, sorted by bytes on either database."""
    world = World(database)
    world.join("a")
    world.hosts(*(f"{'AbCd'[number % 4]}-{number}.jp" for number in range(count)))
    with database.write() as tx:
        keys = [f"http://{'abcd'[number % 4]}-{number}.jp:80/" for number in range(count)]
        agent = world.agents["a"].identity.id
        owned = hosts.ids_of_units(tx, keys)
        assignments.place(tx, dict.fromkeys(owned.values(), agent), 0, BY_HAND)
    names = exported(database, "lists", tmp_path / "1")["random/a"]
    assert names == [key.removeprefix("http://").removesuffix(":80/") for key in sorted(keys)]

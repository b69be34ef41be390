"""One lying agent, through the manager's intake to its plan: what the plan costs in truth."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from benchmarks.lying.__main__ import GOAL
from benchmarks.lying.fleet import Fleet, draw_truth
from benchmarks.lying.lies import LIES, Seen
from manager.db.engine import Database
from tests.empty_database import empty_database

LIAR = "agent0"
HOSTS = 60
"""Of fewer, single hosts make plans differ by more than the goal."""
SEED = 1


def fleet(
    folder: Path, *, slow: float = 1.0, seed: int = SEED, slots: int = 200, rest_ms: int = 0
) -> Fleet:
    """Return a fleet that has fetched nothing yet."""
    (folder / "db").write_bytes(empty_database())
    truth = draw_truth(3, HOSTS, seed).with_slow(0, slow)
    db = Database(f"sqlite:///{folder / 'db'}")
    found = Fleet(db, folder, truth, seed, slots=slots, rest_ms=rest_ms)
    found.begin()
    return found


@cache
def honest_makespans(rounds: int, slow: float = 1.0) -> tuple[float, ...]:
    """Return the true makespans of the plans that an honest fleet makes after each round."""
    with TemporaryDirectory() as place:
        honest = fleet(Path(place), slow=slow)
        found = []
        for _ in range(rounds):
            honest.crawl_round()
            found.append(honest.planned())
        assert not any(honest.suspicion(name) for name in honest.truth.agents)
    return tuple(found)


@pytest.mark.slow
@pytest.mark.parametrize("lie", ["one line", "times x 10", "half x 10", "half bytes x 10"])
def test_a_plan_after_a_lie_is_as_good_as_without_it(tmp_path: Path, lie: str) -> None:
    """Its true makespan hardly differs from that of an honest fleet, at once and a round later."""
    liar = fleet(tmp_path)
    liar.crawl_round()
    liar.lies[LIAR] = LIES[lie]
    for honest_ms in honest_makespans(3)[1:]:
        liar.crawl_round()
        assert liar.planned() <= GOAL * honest_ms
    assert liar.suspicion(LIAR)


@pytest.mark.slow
@pytest.mark.parametrize("slow", [1.0, 8.0])
@pytest.mark.parametrize("lie", ["no time", "half x 10", "times x 3"])
def test_a_lie_from_the_first_log_on_costs_hardly_anything(
    tmp_path: Path, lie: str, slow: float
) -> None:
    """The manager has no history of the agent, and goes by its own clock."""
    liar = fleet(tmp_path, slow=slow)
    liar.lies[LIAR] = LIES[lie]
    liar.crawl_round()
    assert liar.planned() <= GOAL * honest_makespans(1, slow)[0]
    assert liar.suspicion(LIAR)


@pytest.mark.slow
@pytest.mark.parametrize(("slots", "rest_ms"), [(200, 2_000), (1, 0)], ids=["rests", "in turn"])
def test_short_times_of_half_of_the_hosts_gain_nothing(
    tmp_path: Path, slots: int, rest_ms: int
) -> None:
    """Also where rests hide much, or units are fetched one by one, and a round later."""
    makespans: dict[str, list[float]] = {}
    for name, lie in (("honest", "honest"), ("liar", "half / 10")):
        (tmp_path / name).mkdir()
        one = fleet(tmp_path / name, seed=0, slots=slots, rest_ms=rest_ms)
        one.lies[LIAR] = LIES[lie]
        makespans[name] = []
        for _ in range(2):
            one.crawl_round()
            makespans[name].append(one.planned())
        assert bool(one.suspicion(LIAR)) == (name == "liar")
    for honest_ms, liar_ms in zip(makespans["honest"], makespans["liar"], strict=True):
        assert liar_ms <= GOAL * honest_ms


def test_lies_are_what_they_are_called() -> None:
    """The first line of each unit brings the line of the observation; a tenth is a tenth."""
    seen = Seen("http://h1.jp:80/", 0, 5000, 40)
    assert LIES["one line"](seen)[1:] == [Seen("http://h1.jp:80/", 0, 10**12, 1)]
    assert LIES["all / 10"](seen) == [Seen("http://h1.jp:80/", 0, 500, 4)]
    assert LIES["half / 10"](seen) in ([seen], [Seen("http://h1.jp:80/", 0, 5000, 4)])
    assert LIES["probes x 10"](seen) == [seen]
    assert LIES["drift x 1.6"](Seen("http://h1.jp:80/", 0, 5000, 100, round=2))[0].ms == 256

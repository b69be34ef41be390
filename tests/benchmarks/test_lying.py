"""The line of a terabyte in 1 ms, through the manager's intake to its plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.lying.fleet import Fleet, draw_truth
from benchmarks.lying.lies import LIES, Seen
from manager.db.engine import Database
from tests.empty_database import empty_database

LIAR = "agent0"


@pytest.mark.slow
@pytest.mark.parametrize("lie", ["one line", "times x 10", "half bytes x 10"])
def test_a_plan_after_a_lie_is_as_good_as_before(tmp_path: Path, lie: str) -> None:
    """Its true makespan hardly differs, at once and a round later."""
    (tmp_path / "db").write_bytes(empty_database())
    fleet = Fleet(Database(f"sqlite:///{tmp_path / 'db'}"), tmp_path, draw_truth(3, 24, 1), 1)
    fleet.begin()
    fleet.crawl_round()
    honest = fleet.planned()
    fleet.lies[LIAR] = LIES[lie]
    for _ in range(2):
        fleet.crawl_round()
        assert fleet.planned() <= 1.1 * honest


def test_lies_are_what_they_are_called() -> None:
    """The first line of each unit brings the line of the observation; a tenth is a tenth."""
    seen = Seen("http://h1.jp:80/", 0, 5000, 40)
    assert LIES["one line"](seen)[1:] == [Seen("http://h1.jp:80/", 0, 10**12, 1)]
    assert LIES["all / 10"](seen) == [Seen("http://h1.jp:80/", 0, 500, 4)]

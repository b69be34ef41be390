"""Lists of more rounds and plans than are shown at once."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.db.planning.plans import PlanHead
from manager.db.rounds.rounds import RoundRow
from manager.operations.planning.plan_list import SORTS as PLAN_SORTS
from manager.operations.planning.plan_list import PlanFilter, every_plan, plan_page
from manager.operations.rounds.round_list import SORTS, RoundFilter, every_round, round_page
from shared.errors import FormatError
from tests.manager.many_rounds import add_plans, add_rounds

MANY = 1300


def _rounds(database: Database, where: RoundFilter, sort: str) -> list[RoundRow]:
    """Return all rounds by their pages, and compare them with those that are yielded at once."""
    found: list[RoundRow] = []
    while True:
        page = round_page(database, where, sort=sort, limit=400, offset=len(found))
        if not page.rounds:
            break
        found += page.rounds
    assert len(found) == page.total
    assert list(every_round(database, where, sort=sort)) == found
    return found


def _plans(database: Database, where: PlanFilter, sort: str) -> list[PlanHead]:
    found: list[PlanHead] = []
    while True:
        page = plan_page(database, where, sort=sort, limit=400, offset=len(found))
        if not page.plans:
            break
        found += page.plans
    assert len(found) == page.total
    assert list(every_plan(database, where, sort=sort)) == found
    return found


def test_all_rounds_are_listed_in_any_order(database: Database) -> None:
    """None is left out or twice; what is not known comes last; among equals the newest first."""
    add_rounds(database, 1, MANY)
    numbers = list(range(MANY, 0, -1))
    for column in SORTS:
        for sort in (column, f"-{column}"):
            found = [row.number for row in _rounds(database, RoundFilter(), sort)]
            assert sorted(found, reverse=True) == numbers
    assert [row.number for row in _rounds(database, RoundFilter(), "-number")] == numbers
    unknown = [number for number in numbers if number % 4 == 0]
    by_makespan = [row.number for row in _rounds(database, RoundFilter(), "makespan")]
    assert by_makespan == [number for number in numbers if number % 4] + unknown
    reversed_known = [number for number in reversed(numbers) if number % 4]
    by_most = [row.number for row in _rounds(database, RoundFilter(), "-makespan")]
    assert by_most == reversed_known + unknown
    states = [row.state for row in _rounds(database, RoundFilter(), "state")]
    assert states == ["finished"] * (MANY // 2) + ["cancelled"] * (MANY // 2)


def test_rounds_and_plans_are_filtered(database: Database) -> None:
    """Filters count in the database; what is no state or sort is refused with those there are."""
    add_rounds(database, 1, MANY)
    add_plans(database, 1, MANY)
    some = _rounds(database, RoundFilter(method="tree", state="cancelled"), "number")
    assert [row.number for row in some] == [n for n in range(1, MANY + 1) if n % 6 == 1]
    assert _rounds(database, RoundFilter(method="luck"), "number") == []
    kept = _plans(database, PlanFilter(method="keep", applied=True), "made")
    assert [row.id for row in kept] == [n for n in range(1, MANY + 1) if n % 3 == 0]
    assert _plans(database, PlanFilter(method="keep", applied=False), "made") == []
    for wrong in ("colour", "--number", ""):
        with pytest.raises(FormatError, match="must be one of number, method"):
            round_page(database, RoundFilter(), sort=wrong)
        with pytest.raises(FormatError, match="must be one of number, method"):
            every_plan(database, PlanFilter(), sort=wrong)
    with pytest.raises(FormatError, match="must be one of probing, crawling"):
        every_round(database, RoundFilter(state="asleep"))


def test_all_plans_are_listed_in_any_order(database: Database) -> None:
    """As rounds are."""
    add_plans(database, 1, MANY)
    numbers = list(range(MANY, 0, -1))
    for column in PLAN_SORTS:
        for sort in (column, f"-{column}"):
            found = [row.id for row in _plans(database, PlanFilter(), sort)]
            assert sorted(found, reverse=True) == numbers
    best = [row.id for row in _plans(database, PlanFilter(), "makespan")]
    assert best == sorted(numbers, key=lambda number: (number % 4 == 0, -number))

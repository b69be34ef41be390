"""What changed since a plan was made is said, in words and figures; nobody is surprised."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.errors import ConflictError, StalePlanError
from manager.operations.planning.plan_application import apply_plan, undo_plan, undoable
from manager.operations.planning.plan_changes import changes_since
from manager.operations.planning.plan_tree import plan_tree
from manager.operations.planning.plans import make_plan, plan_detail
from manager.operations.rounds.rounds import cancel_round, start_round
from tests.manager.operations.planning.test_plans import measured, owners
from tests.manager.operations.world import ADMIN


def test_what_changed_is_counted_and_two_people_do_not_cross(database: Database) -> None:
    """A second administrator's plan, hosts and agents that came: each with its number."""
    world = measured(database)
    first = make_plan(database, "prices", ADMIN, world.now_ms)
    second = make_plan(database, "random", ADMIN, world.now_ms, seed=9)
    assert changes_since(database, second) == []
    world.wait(60)
    world.hosts("new1.jp", "new2.jp")
    world.join("d")
    missed = {one.kind: one for one in changes_since(database, second)}
    assert missed["hosts-added"].number == 2
    assert [str(one) for one in missed["agents-joined"].examples] == ["d"]
    assert not any(one.stops for one in missed.values())

    stood = undoable(database)  # of the round
    assert stood is not None
    with pytest.raises(ConflictError, match=f"names none .*, but it is plan {stood}"):
        apply_plan(database, first, ADMIN, world.now_ms, standing=0)
    moved = apply_plan(database, first, ADMIN, world.now_ms, standing=stood)
    assert moved
    assert changes_since(database, first) == []
    now = {one.kind: one for one in changes_since(database, second)}
    assert now["units-elsewhere"].stops
    assert 0 < now["units-elsewhere"].number <= moved
    assert [str(one) for one in now["plans-applied"].examples] == [str(first)]
    assert now["owners-changed"].number == moved
    before = owners(database)
    said = r"belongs to . now.*1 other plan was applied.*2 hosts were added, 1 agent joined"
    with pytest.raises(StalePlanError, match=said):
        apply_plan(database, second, ADMIN, world.now_ms)
    with pytest.raises(ConflictError, match=f"names plan {second} .*, but it is plan {first}"):
        undo_plan(database, ADMIN, world.now_ms, standing=second)
    assert owners(database) == before
    assert undoable(database) == first
    undo_plan(database, ADMIN, world.now_ms, standing=first)

    number = start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    with pytest.raises(ConflictError, match=f"round {number} is open and was not cancelled"):
        cancel_round(database, ADMIN, world.now_ms, meant=number - 1)
    assert cancel_round(database, ADMIN, world.now_ms, meant=number) == number


def test_the_tree_says_what_neighbours_want_and_what_the_plan_moves(database: Database) -> None:
    """Every move is in a flow; Move is one number an edge; a step keeps the sum of the costs."""
    world = measured(database)
    number = make_plan(database, "prices", ADMIN, world.now_ms)
    detail, tree = plan_detail(database, number), plan_tree(database, number)
    assert tree.basis == "before"
    assert len(tree.edges) == len(tree.agents) - 1 == 2
    assert sum(flow.units for flow in tree.flows) == len(detail.moves)
    along = sum(edge.units + edge.units_back for edge in tree.edges)
    assert along == sum(flow.units for flow in tree.flows if flow.neighbours)
    costs = sum(one.cost_ms for one in tree.agents)
    assert sum(one.step_ms for one in tree.agents) == pytest.approx(costs)
    by_name = {one.name: one for one in tree.agents}
    for edge in tree.edges:
        if edge.give_ms > 0 > edge.give_back_ms:
            assert edge.move_ms == pytest.approx(min(edge.give_ms, -edge.give_back_ms))
    assert {one["name"]: one["before_ms"] for one in detail.agents} == {
        name: one.cost_ms for name, one in by_name.items()
    }

"""The spanning tree of a plan's agents with Give and Move on its edges, and what the plan moves.

What the source's formula wants of one step (`manager.balancing.give_and_move`) stands beside what
the plan really does: plans of other methods also move units between agents that are no neighbours.
Times are ms of cost as the plan counts it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from manager.balancing.give_and_move import explain
from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.planning import plan_changes
from manager.db.planning.plan_changes import FlowRow
from manager.operations.planning.plan_facts import plan_of
from shared.frozen import frozen

__all__ = ["Flow", "PlanTree", "TreeAgent", "TreeEdge", "plan_tree"]

NO_FLOW: Final = FlowRow(0, 0, 0, 0.0, 0.0)


@frozen
class TreeAgent:
    """An agent. cost_ms: what Give and Move are reckoned from; step_ms: after that one step.

    before_ms, after_ms: of the plan.
    """

    name: str
    cost_ms: float
    step_ms: float
    before_ms: float
    after_ms: float


@frozen
class TreeEdge:
    """Two neighbours. length: their distance, ms/KByte.

    give_ms, give_back_ms: Give(first, second) and Give(second, first); move_ms: Move(first,
    second), negative the other way round. units, moved_ms: what the plan moves from first to
    second, at the giver's cost; units_back, moved_back_ms: from second to first.
    """

    first: str
    second: str
    length: float
    give_ms: float
    give_back_ms: float
    move_ms: float
    units: int
    moved_ms: float
    units_back: int
    moved_back_ms: float


@frozen
class Flow:
    """Units that one agent gives to another in a plan; neighbours: an edge joins them."""

    giver: str
    taker: str
    units: int
    giver_ms: float
    taker_ms: float
    neighbours: bool


@frozen
class PlanTree:
    """method: of the plan; only `tree` follows Move. basis: the costs that Give and Move are
    computed from; `after` where no agent had any before.

    flows: the greatest first.
    """

    plan: int
    method: str
    basis: Literal["before", "after"]
    agents: list[TreeAgent]
    edges: list[TreeEdge]
    flows: list[Flow]


def plan_tree(db: Database, plan_id: int) -> PlanTree:
    """Return the tree of a plan. Raises NotFoundError."""
    with db.read() as tx:
        plan = plan_of(tx, plan_id)
        moved = plan_changes.flows(tx, plan_id)
        names = agents.names(tx)
    detail = json.loads(plan.detail)
    fleet = detail["agents"]
    basis: Literal["before", "after"] = (
        "before" if any(one["before_ms"] > 0 for one in fleet) else "after"
    )
    named = [one["name"] for one in fleet]
    row_of = {name: row for row, name in enumerate(named)}
    pairs = [(row_of[first], row_of[second]) for first, second, _ in detail["tree"]]
    step = explain(named, pairs, [one[f"{basis}_ms"] for one in fleet])
    between = {(names[row.from_agent], names[row.to_agent]): row for row in moved}
    edges = [
        _edge(first, second, length, (give, back), move, between)
        for (first, second, length), (give, back), move in zip(
            detail["tree"], step.gives.tolist(), step.moves.tolist(), strict=True
        )
    ]
    return PlanTree(
        plan_id,
        plan.method,
        basis,
        [
            TreeAgent(one["name"], one[f"{basis}_ms"], after, one["before_ms"], one["after_ms"])
            for one, after in zip(fleet, step.after.tolist(), strict=True)
        ],
        edges,
        _flows(between, detail["tree"]),
    )


def _edge(
    first: str,
    second: str,
    length: float,
    gives: tuple[float, float],
    move: float,
    between: Mapping[tuple[str, str], FlowRow],
) -> TreeEdge:
    there = between.get((first, second), NO_FLOW)
    back = between.get((second, first), NO_FLOW)
    return TreeEdge(
        first,
        second,
        length,
        *gives,
        move,
        there.units,
        there.from_ms,
        back.units,
        back.from_ms,
    )


def _flows(
    between: Mapping[tuple[str, str], FlowRow], tree: Sequence[tuple[str, str, float]]
) -> list[Flow]:
    joined = {frozenset((first, second)) for first, second, _ in tree}
    return [
        Flow(
            giver=giver,
            taker=taker,
            units=row.units,
            giver_ms=row.from_ms,
            taker_ms=row.to_ms,
            neighbours=frozenset((giver, taker)) in joined,
        )
        for (giver, taker), row in between.items()
    ]

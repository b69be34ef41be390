"""Plans: make one, look at it, apply it.

Invariants: a plan is computed outside any transaction, perhaps in a child process; applying it
checks that what it moves still belongs to whom the plan thought, else it is stale and nothing
changes. Applying moves assignments at once and rights only when they are free: who fetches a unit
now goes on until it has taken a list without it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from manager.balancing import NOBODY, Options, Plan
from manager.balancing import make_plan as solve
from manager.db import agents, assignments, hosts, plans, rounds
from manager.db.engine import Database, Transaction
from manager.db.plans import MoveRow, PlanRow
from manager.errors import ConflictError, NotFoundError, StalePlanError
from manager.operations.actor import Actor, note
from manager.operations.addresses import keep_whole
from manager.operations.giving import give_units, members
from manager.operations.policy import DEFAULT_POLICY, Policy
from manager.operations.problems import Loaded, Planner, load_all

__all__ = [
    "Move",
    "PlanDetail",
    "apply_moves",
    "apply_plan",
    "list_plans",
    "make_plan",
    "plan_detail",
    "store_plan",
]


@dataclass(frozen=True, slots=True)
class Move:
    """One unit that changes hands; agents by name, costs in ms."""

    unit: str
    giver: str | None
    taker: str
    giver_ms: float | None
    taker_ms: float | None


@dataclass(frozen=True, slots=True)
class PlanDetail:
    """A plan with a page of its moves. agents: name, cost and units before and after, each.

    tree: (agent, agent, length). explanation: sentences.
    """

    plan: PlanRow
    agents: list[dict[str, Any]]
    tree: list[tuple[str, str, float]]
    explanation: list[str]
    moves: list[Move]


def make_plan(
    db: Database,
    method: str,
    actor: Actor,
    now_ms: int,
    *,
    seed: int = 0,
    policy: Policy = DEFAULT_POLICY,
    planner: Planner = solve,
) -> int:
    """Make a plan from what is known now and keep it; return its number. Nothing moves yet.

    Raises ConflictError where there is nothing to plan, BalancingError for an unknown method.
    """
    with db.read() as tx:
        current = rounds.open_round(tx)
        # What is found during a round is placed by the tick, when it was probed.
        states = ["placed", "probing"] if current is not None else ["placed", "idle"]
        loaded = load_all(tx, members(tx), states, policy.probe_pages)
    if loaded is None:
        raise ConflictError(
            "nothing to plan: there must be an agent that has called and a host with an address"
        )
    plan = planner(method, loaded.problem, Options(seed=seed))
    with db.write() as tx:
        number = current.number if current is not None else 0
        plan_id = store_plan(tx, plan, loaded, number, seed, actor, now_ms)
        note(tx, now_ms, actor, "plan.make", str(plan_id), method=method, moves=len(plan.moves))
    return plan_id


def store_plan(
    tx: Transaction,
    plan: Plan,
    loaded: Loaded,
    round_number: int,
    seed: int,
    actor: Actor,
    now_ms: int,
) -> int:
    """Keep a plan and return its number."""
    counts = [
        [int((owner == row).sum()) for row in range(len(plan.names))]
        for owner in (plan.before, plan.after)
    ]
    detail = {
        "agents": [
            {
                "name": name,
                "before_ms": round(float(plan.costs_before_ms[row]), 3),
                "after_ms": round(float(plan.costs_after_ms[row]), 3),
                "units_before": counts[0][row],
                "units_after": counts[1][row],
            }
            for row, name in enumerate(plan.names)
        ],
        "tree": [
            (plan.names[first], plan.names[second], round(float(length), 6))
            for (first, second), length in zip(
                loaded.tree.edges.tolist(), loaded.tree.lengths, strict=True
            )
        ],
        "explanation": [*plan.explanation, *loaded.remarks],
    }
    return plans.add(
        tx,
        {
            "round": round_number,
            "method": plan.method,
            "seed": seed,
            "made_by": actor.name,
            "made_ms": now_ms,
            "units": len(loaded.unit_ids),
            "moves": len(plan.moves),
            "before_ms": plan.makespan_before_ms,
            "makespan_ms": plan.makespan_after_ms,
            "bound_ms": plan.bound_ms,
            "detail": json.dumps(detail),
        },
        [
            {
                "unit_id": int(loaded.unit_ids[move.unit]),
                "from_agent": None if move.giver == NOBODY else loaded.agent_ids[move.giver],
                "to_agent": loaded.agent_ids[move.taker],
                "from_ms": None if move.giver == NOBODY else move.gain_ms,
                "to_ms": move.cost_ms,
            }
            for move in plan.moves
        ],
    )


def apply_plan(db: Database, plan_id: int, actor: Actor, now_ms: int) -> int:
    """Carry a plan out and return how many units changed hands.

    Applying again changes nothing. Raises NotFoundError, StalePlanError.
    """
    with db.write() as tx:
        plan = plans.by_id(tx, plan_id)
        if plan is None:
            raise NotFoundError(f"plan {plan_id}: there is none; see `prsm plans`")
        if plan.applied_ms is not None:
            return 0
        moved = apply_moves(tx, plan, now_ms)
        note(tx, now_ms, actor, "plan.apply", str(plan_id), moved=moved)
    return moved


def apply_moves(tx: Transaction, plan: PlanRow, now_ms: int) -> int:
    """Give units to whom a plan gives them; raises StalePlanError and changes nothing."""
    moves = plans.moves_of(tx, plan.id)
    present = assignments.owners_of(tx, [unit for unit, _, _ in moves])
    taking = {row.id: row for row in members(tx)}
    for unit, giver, taker in moves:
        # A giver that took no part was nobody to the plan.
        holder = present.get(unit)
        if holder != giver and not (giver is None and holder not in taking):
            raise StalePlanError(
                f"plan {plan.id}: unit {unit} changed hands since it was made; make a new plan"
            )
        if taker not in taking:
            raise StalePlanError(
                f"plan {plan.id}: agent {taker} takes no part any more; make a new plan"
            )
    owners = {unit: taker for unit, _, taker in moves}
    for key in hosts.excluded_among(tx, owners):
        raise StalePlanError(f"plan {plan.id}: {key} was excluded since; make a new plan")
    current = rounds.open_round(tx)
    if current is not None and current.state == "crawling":
        # What was found in this round and is only being probed takes part from now on.
        rounds.enter(tx, current.number, owners)
    moved = give_units(tx, owners, now_ms, f"plan {plan.id}: {plan.method}", plan.id)
    # Names may have turned out to share an address since the plan was made.
    keep_whole(tx, assignments.split_groups(tx), now_ms)
    by_name = {row.name: row.id for row in taking.values()}
    for agent in json.loads(plan.detail)["agents"]:
        if agent["name"] in by_name:
            agents.update(tx, by_name[agent["name"]], load_ms=agent["after_ms"])
    plans.set_applied(tx, plan.id, now_ms)
    return moved


def list_plans(db: Database, limit: int = 50) -> list[PlanRow]:
    """Return plans, newest first."""
    with db.read() as tx:
        return plans.newest(tx, max(1, min(limit, 1000)))


def plan_detail(db: Database, plan_id: int, *, limit: int = 100, offset: int = 0) -> PlanDetail:
    """Return a plan and a page of its moves, those that save most first. Raises NotFoundError."""
    with db.read() as tx:
        plan = plans.by_id(tx, plan_id)
        if plan is None:
            raise NotFoundError(f"plan {plan_id}: there is none; see `prsm plans`")
        page = plans.moves_page(tx, plan_id, max(1, min(limit, 1000)), max(0, offset))
        names = agents.names(tx)
    detail = json.loads(plan.detail)
    return PlanDetail(
        plan,
        detail["agents"],
        [(first, second, length) for first, second, length in detail["tree"]],
        detail["explanation"],
        _named(page, names),
    )


def _named(page: Sequence[MoveRow], names: dict[int, str]) -> list[Move]:
    return [
        Move(
            row.unit,
            None if row.from_agent is None else names[row.from_agent],
            names[row.to_agent],
            row.from_ms,
            row.to_ms,
        )
        for row in page
    ]

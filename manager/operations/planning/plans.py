"""Plans: make one, look at it. Carrying one out is in `plan_application`.

Invariant: a plan is computed outside any transaction, perhaps in a child process, and moves
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from manager.balancing.arrays import NO_OWNER
from manager.balancing.balancers import BALANCERS, Compared, Objective, Options
from manager.balancing.low_churn import Churn
from manager.balancing.plan import Plan, PlanTime
from manager.db.engine import Database
from manager.db.planning import plans
from manager.db.planning.plans import PlanHead, PlanRow
from manager.db.rounds import rounds
from manager.errors import ConflictError
from manager.message_fields import message_fields
from manager.operations.actor import Actor, note
from manager.operations.measurement.agent_verdicts import watch_agents
from manager.operations.ownership.agent_capacity import AgentWork, agent_works
from manager.operations.ownership.reassignment import members
from manager.operations.planning import plan_moves
from manager.operations.planning.balancing_problem import DEAL, Loaded, load_all
from manager.operations.planning.plan_facts import (
    PlanFacts,
    TimeFacts,
    facts_of,
    plan_of,
    row_of_facts,
)
from manager.operations.planning.plan_moves import Move
from manager.operations.planning.planners import InProcessPlanner, Planner
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.errors import FormatError
from shared.frozen import frozen, values_of
from shared.messages import Message

__all__ = [
    "PlanDetail",
    "PlanHead",
    "check_moves",
    "last_applied",
    "list_plans",
    "make_plan",
    "plan_detail",
    "plan_options",
    "rows_of_plan",
]

HERE: Final = InProcessPlanner()


@message_fields
@frozen
class PlanDetail(PlanFacts):
    """A plan with a page of its moves. agents: name, cost and units before and after, each; its
    capacity beside the strongest agent's, the work that it has before it, and how long that takes
    by the clock (`elapsed_ms`; None: for ever).

    tree: (agent, agent, length). explanation: of how it was made. compared: the results of other
    methods, where that was asked for. undone_by: the plan that took it back, or None. moving: how
    many moves match the filter, of which `moves` are some.
    """

    plan: PlanRow
    moving: int
    moves: list[Move]
    undone_by: int | None


def make_plan(
    db: Database,
    method: str,
    actor: Actor,
    now_ms: int,
    *,
    seed: int = 0,
    moves: float | None = None,
    objective: Objective | None = None,
    policy: Policy = DEFAULT_POLICY,
    planner: Planner = HERE,
    compare: bool = False,
) -> int:
    """Make a plan from what is known now and keep it; return its number. Nothing moves yet.

    moves: share of the placed units that it may move, as `default` keeps to it; None: the
    policy's. objective: of `default`; None: the policy's. compare: also try the other methods,
    within `policy.plan_comparison_s`, and keep what they would give.

    Raises ConflictError where there is nothing to plan, BalancingError for an unknown method,
    FormatError for another share.
    """
    check_moves(moves)
    watch_agents(db, now_ms, policy, everybody=True)
    with db.read() as tx:
        current = rounds.open_round(tx)
        # What is found during a round is placed by the tick, when it was probed.
        states = ["placed", "probing"] if current is not None else ["placed", "idle"]
        loaded = load_all(
            tx, members(tx), states, policy, on_predictions=method == DEAL, start_ms=now_ms
        )
    if loaded is None:
        raise ConflictError("planning.nothing_to_plan")
    options = plan_options(policy, seed=seed, moves=moves, objective=objective)
    plan = planner(method, loaded.problem, options)
    others = [name for name in BALANCERS if name != method] if compare else []
    compared = planner.compare(others, loaded.problem, options, policy.plan_comparison_s)
    number = current.number if current is not None else 0
    rows = rows_of_plan(plan, loaded, number, seed, actor, now_ms, compared)
    with db.write() as tx:
        plan_id = plans.add(tx, *rows)
        note(tx, now_ms, actor, "plan.create", str(plan_id), method=method, moves=len(plan.moves))
    return plan_id


def plan_options(
    policy: Policy,
    *,
    seed: int = 0,
    moves: float | None = None,
    objective: Objective | None = None,
) -> Options:
    """Return the options of a plan; what is None is the policy's."""
    return Options(
        seed=seed,
        churn=Churn(
            most_moves=policy.plan_moves if moves is None else moves, error=policy.plan_error
        ),
        objective=objective or ("transfer" if policy.plan_by_transfer else "end"),
    )


def check_moves(moves: float | None) -> None:
    """Refuse a share of moves that is none. Raises FormatError."""
    if moves is not None and not 0 <= moves <= 1:
        raise FormatError("planning.bad_moves", moves=moves).about("moves")


def rows_of_plan(
    plan: Plan,
    loaded: Loaded,
    round_number: int,
    seed: int,
    actor: Actor,
    now_ms: int,
    compared: Sequence[Compared] = (),
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a plan and its moves as they are kept. To be called outside transactions: a million
    take seconds."""
    counts = [
        [int((owner == row).sum()) for row in range(len(plan.names))]
        for owner in (plan.before, plan.after)
    ]
    problem = loaded.problem
    works = agent_works(loaded.work, problem.costs, plan.after)
    works_before = agent_works(loaded.work, problem.costs, plan.before)
    facts = PlanFacts(
        agents=[
            {
                "name": name,
                "capacity": round(float(loaded.work.relative[row]), 4),
                "elapsed_before_ms": _whole(works_before[row].elapsed_ms),
                "elapsed_ms": _whole(works[row].elapsed_ms),
                "work_ms": round(works[row].work_ms),
                "volume_kb": round(works[row].volume_kb),
                "before_ms": round(float(plan.costs_before_ms[row]), 3),
                "after_ms": round(float(plan.costs_after_ms[row]), 3),
                "units_before": counts[0][row],
                "units_after": counts[1][row],
            }
            for row, name in enumerate(plan.names)
        ],
        tree=[
            (plan.names[first], plan.names[second], round(float(length), 6))
            for (first, second), length in zip(
                loaded.tree.edges.tolist(), loaded.tree.lengths, strict=True
            )
        ],
        explanation=(*plan.explanation, *loaded.remarks, *_too_full(plan.names, works)),
        compared=list(compared),
        time=None if plan.time is None else _time_of(plan.time),
    )
    return (
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
            "detail": row_of_facts(facts),
        },
        [
            {
                "unit_id": int(loaded.unit_ids[move.unit]),
                "from_agent": None if move.giver == NO_OWNER else loaded.agent_ids[move.giver],
                "to_agent": loaded.agent_ids[move.taker],
                "from_ms": None if move.giver == NO_OWNER else move.gain_ms,
                "to_ms": move.cost_ms,
            }
            for move in plan.moves
        ],
    )


def _time_of(time: PlanTime) -> TimeFacts:
    end_before, end_after = time.end_before_ms, time.end_after_ms
    return TimeFacts(
        end_before_ms=round(end_before) if end_before < float("inf") else None,
        end_ms=round(end_after) if end_after < float("inf") else None,
        end_bound_ms=round(time.bound_ms),
        network_before_ms=round(time.network_before_ms, 3),
        network_ms=round(time.network_after_ms, 3),
    )


def _whole(length_ms: float | None) -> int | None:
    return None if length_ms is None else round(length_ms)


def _too_full(names: Sequence[str], works: Sequence[AgentWork]) -> list[Message]:
    """Return a message for each agent whose disk would not take what it collects."""
    return [
        Message("planning.disk_too_small", agent=name, volume_bytes=round(1000 * work.volume_kb))
        for name, work in zip(names, works, strict=True)
        if not work.fits
    ]


def list_plans(db: Database, limit: int = 50) -> list[PlanHead]:
    """Return the newest plans, newest first; `plan_list` has all."""
    with db.read() as tx:
        return plans.newest(tx, max(1, min(limit, 1000)))


def last_applied(db: Database) -> PlanHead | None:
    """Return the newest plan that was carried out, or None."""
    with db.read() as tx:
        found = plans.newest(tx, 1, applied=True)
    return found[0] if found else None


def plan_detail(
    db: Database, plan_id: int, *, agent: str = "", limit: int = 100, offset: int = 0
) -> PlanDetail:
    """Return a plan and a page of its moves, those that save most first.

    agent: only what it gives or takes. Raises NotFoundError.
    """
    with db.read() as tx:
        plan = plan_of(tx, plan_id)
        moving, moves = plan_moves.move_page(tx, plan, agent, limit, offset)
        undone_by = plans.undone_by(tx, plan_id)
    facts = values_of(facts_of(plan.detail))
    return PlanDetail(**facts, plan=plan, moving=moving, moves=moves, undone_by=undone_by)

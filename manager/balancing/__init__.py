"""Balancers: pure functions from costs to plans in which all agents end at the same time.

`cost_matrix` turns volumes and distances into a `Problem`; `make_plan` answers with a `Plan` that
can be shown before anything moves. The methods stand side by side in `BALANCERS`: the source's
equalisation along the spanning tree (`tree`), cuts between two agents (`exchange`), prices near the
optimum (`prices`), the rounded linear program (`lp`), the yardsticks `random` and `keep`, and
`default`, the method without a person's choice. Each plan carries a lower bound for all methods.
`cut` divides a host that is too big for one agent.
"""

from __future__ import annotations

from manager.balancing.arrays import NO_OWNER
from manager.balancing.balancers import (
    BALANCERS,
    Balancer,
    Options,
    Outcome,
    Prospect,
    compare,
    make_plan,
    prospects,
)
from manager.balancing.bound import Bound, lower_bound
from manager.balancing.cost import CostMatrix, agent_costs, cost_matrix, makespan
from manager.balancing.errors import BalancingError
from manager.balancing.give_and_move import GiveAndMove, after_step, explain, give, move
from manager.balancing.low_churn import Churn
from manager.balancing.pieces import Cut, cut
from manager.balancing.plan import Move, Moves, Plan
from manager.balancing.problem import Atoms, Problem, collapse
from manager.balancing.relaxation import Relaxed, relax
from manager.balancing.tree_balancing import Accept, TreeOptions, TreeResult, TreeStep, equalise

__all__ = [
    "BALANCERS",
    "NO_OWNER",
    "Accept",
    "Atoms",
    "Balancer",
    "BalancingError",
    "Bound",
    "Churn",
    "CostMatrix",
    "Cut",
    "GiveAndMove",
    "Move",
    "Moves",
    "Options",
    "Outcome",
    "Plan",
    "Problem",
    "Prospect",
    "Relaxed",
    "TreeOptions",
    "TreeResult",
    "TreeStep",
    "after_step",
    "agent_costs",
    "collapse",
    "compare",
    "cost_matrix",
    "cut",
    "equalise",
    "explain",
    "give",
    "lower_bound",
    "make_plan",
    "makespan",
    "move",
    "prospects",
    "relax",
]

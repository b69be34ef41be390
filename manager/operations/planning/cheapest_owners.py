"""Cheapest owners of single units beside present loads, for placing between two plans.

Invariant: what shares an address goes to one agent, and pins and bans hold, as in every plan.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from manager.balancing.arrays import NO_OWNER
from manager.balancing.placement import place
from manager.balancing.problem import Problem, collapse
from manager.db.engine import Transaction
from manager.db.fleet.agents import AgentRow
from manager.operations.planning.balancing_problem import load_some
from manager.operations.policy import Policy

__all__ = ["cheapest_owners"]


def cheapest_owners(
    tx: Transaction, agents: Sequence[AgentRow], unit_ids: Collection[int], policy: Policy
) -> tuple[dict[int, int], dict[int, float]]:
    """Return where units cost least among some agents, given what those own already.

    Units of one group go to one agent; the present owners do not count. Returns unit to agent,
    and agent to the ms that this adds to its cost.
    """
    loaded = load_some(tx, agents, unit_ids, policy)
    if loaded is None:
        return {}, {}
    problem = loaded.problem
    count, units = len(agents), len(loaded.unit_ids)
    # What an agent owns already is one more unit each, pinned to it.
    loads = np.array([[max(0.0, agent.load_ms) for agent in agents]] * count)
    assert problem.group is not None
    assert problem.pins is not None
    extra = np.arange(count)
    with_loads = Problem(
        names=problem.names,
        costs=np.concatenate([problem.costs.astype(np.float64), loads], axis=1),
        before=np.concatenate([np.full(units, NO_OWNER), extra]).astype(np.intp),
        group=np.concatenate([problem.group, -1 - extra]).astype(np.intp),
        pins=np.concatenate([problem.pins, extra]).astype(np.intp),
        forbidden=_widened(problem.forbidden, count),
        unreachable=_widened(problem.unreachable, count),
    )
    atoms = collapse(with_loads)
    owner = atoms.expand(place(atoms))[:units]
    owners = {
        int(unit): loaded.agent_ids[int(agent)]
        for unit, agent in zip(loaded.unit_ids, owner, strict=True)
    }
    added: dict[int, float] = {}
    for column, agent in enumerate(owner.tolist()):
        number = loaded.agent_ids[agent]
        added[number] = added.get(number, 0.0) + float(problem.costs[agent, column])
    return owners, added


def _widened(mask: npt.NDArray[np.bool_] | None, count: int) -> npt.NDArray[np.bool_] | None:
    """Return a mask with columns for what agents own already, which nothing forbids."""
    if mask is None:
        return None
    return np.concatenate([mask, np.zeros((len(mask), count), dtype=np.bool_)], axis=1)

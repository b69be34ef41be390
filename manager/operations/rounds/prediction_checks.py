"""Probe what a plan would move on a prediction, before it does.

A draft of the plan may move units to agents whose distance is only predicted. For each such unit
the three agents that are predicted nearest are ordered to probe it, and the one of the draft; when
that is done the plan is made again, from measurements. Once a round: what could not be verified
then stays with agents that measured it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from manager.balancing.arrays import NO_OWNER, IntArray
from manager.balancing.plan import Plan
from manager.balancing.problem import Problem
from manager.db.engine import Database
from manager.db.hosts import pieces
from manager.db.planning import missing_probes
from manager.db.rounds import rounds
from manager.db.rounds.rounds import RoundRow
from manager.operations.actor import CLOCK, note
from manager.operations.ownership.reassignment import members
from manager.operations.planning.balancing_problem import DEAL, Loaded, load_all
from manager.operations.policy import Policy

__all__ = ["verify_predictions"]

BEST: Final = 3
STATES: Final = ("placed", "probing")


def verify_predictions(
    db: Database,
    current: RoundRow,
    now: Callable[[], int],
    policy: Policy,
    draft_of: Callable[[Loaded], Plan],
) -> bool:
    """Order the probes that a round's plan would need; tell whether there are any to wait for."""
    if not current.probe or current.verified_ms is not None or current.method == DEAL:
        return False
    with db.read() as tx:
        loaded = load_all(
            tx, members(tx), STATES, policy,
            on_predictions=True, keep_crawled=True, start_ms=now(),
        )  # fmt: skip
    pairs: list[tuple[int, int]] = []
    if loaded is not None and loaded.predicted.any():
        pairs = _wanted(loaded, draft_of(loaded))
    with db.write() as tx:
        now_ms = now()
        again = rounds.open_round(tx)
        if again is None or again.number != current.number or again.verified_ms is not None:
            return True
        # A piece of a split host is never probed: the host stands for it.
        host_of = {piece: top for top, below in pieces.of_tops(tx).items() for piece in below}
        probes = {(host_of.get(unit, unit), agent) for unit, agent in pairs}
        ordered = missing_probes.add(tx, current.number, sorted(probes), now_ms)
        rounds.update(tx, current.number, verified_ms=now_ms)
        if ordered:
            note(tx, now_ms, CLOCK, "round.verify-predictions", str(current.number), orders=ordered)
    return bool(ordered)


def _wanted(loaded: Loaded, draft: Plan) -> list[tuple[int, int]]:
    """Return (unit, agent) to probe: the best predicted of each unit that would move on one.

    Where one agent alone may have a unit, a probe could not change the plan.
    """
    forbidden = loaded.problem.forbidden
    allowed = loaded.predicted if forbidden is None else loaded.predicted & ~forbidden
    takers = _takers(loaded.problem, len(loaded.agent_ids))
    pairs: list[tuple[int, int]] = []
    for move in draft.moves:
        column = move.unit
        if takers[column] < 2 or not loaded.predicted[move.taker, column]:
            continue
        guessed = np.flatnonzero(allowed[:, column])
        nearest = guessed[np.argsort(loaded.problem.costs[guessed, column], kind="stable")[:BEST]]
        pairs += [
            (int(loaded.unit_ids[column]), loaded.agent_ids[int(row)])
            for row in {move.taker, *nearest.tolist()}
        ]
    return pairs


def _takers(problem: Problem, agents: int) -> IntArray:
    """Return (units,) how many agents may have each unit: one, where a unit beside it is pinned."""
    takers = np.full(problem.costs.shape[1], agents, dtype=np.intp)
    if problem.forbidden is not None:
        takers -= problem.forbidden.sum(axis=0)
    if problem.pins is not None:
        pinned = problem.pins != NO_OWNER
        if problem.group is not None:
            pinned = np.isin(problem.group, problem.group[pinned])
        takers[pinned] = 1
    return takers

"""Order more probes in a round: those that could change its plan, by what the first have shown.

A round begins with few probes of each unit (`planning.probe_orders`). When nearly all of these are
done, the model predicts all other distances, and the pairs whose probe is expected to save enough
work are ordered. This repeats a few times. A prediction moves no unit: its owner is an agent that
measured it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

import numpy as np

from manager.assignment.probe_value import ValueRules
from manager.balancing.arrays import BoolArray
from manager.balancing.forecast.work_duration import Capacity
from manager.db.engine import Database, Transaction
from manager.db.hosts import pieces
from manager.db.planning import missing_probes, probe_progress
from manager.db.rounds import rounds
from manager.db.rounds.rounds import RoundRow
from manager.operations.actor import CLOCK, note
from manager.operations.measurement.distance_model import load_model
from manager.operations.ownership.reassignment import members
from manager.operations.planning.balancing_problem import DEAL, load_all
from manager.operations.planning.probe_orders import budgets
from manager.operations.planning.probe_values import valuable_pairs
from manager.operations.policy import Policy

__all__ = ["AGENTS_A_STEP", "order_more_probes"]

STATES: Final = ("placed", "probing")
DAY_MS: Final = 86_400_000
AGENTS_A_STEP: Final = 4
"""Of one unit: what a step has shown says whether more are worth it."""


def order_more_probes(
    db: Database, current: RoundRow, now: Callable[[], int], policy: Policy
) -> bool:
    """Order the probes that could change a round's plan; tell whether there are any to wait for.

    A unit with an open probe waits for the next step. Where nothing can be predicted yet, open
    probes are waited for.
    """
    if not current.probe or current.verified_ms is not None or current.method == DEAL:
        return False
    pairs: list[tuple[int, int]] = []
    busy: set[int] = set()
    if current.probe_steps < policy.probe_steps:
        with db.read() as tx:
            found = _valuable(tx, current, policy, now())
            busy = probe_progress.open_units(tx, current.number)
        if found is None and busy:
            return True
        pairs = [pair for pair in found or () if pair[0] not in busy]
    with db.write() as tx:
        now_ms = now()
        again = rounds.open_round(tx)
        if again is None or again.number != current.number or again.verified_ms is not None:
            return True
        chosen = _within_limits(tx, pairs, now_ms, policy)
        ordered = missing_probes.add(tx, current.number, chosen, now_ms)
        if not ordered and busy and not current.probe_steps:
            rounds.update(tx, current.number, probe_steps=1)  # its first probes say more
            return True
        if not ordered:
            rounds.update(tx, current.number, verified_ms=now_ms)
            return False
        rounds.update(tx, current.number, probe_steps=current.probe_steps + 1)
        note(tx, now_ms, CLOCK, "round.order-probes", str(current.number), orders=ordered)
    return True


def _valuable(
    tx: Transaction, current: RoundRow, policy: Policy, now_ms: int
) -> list[tuple[int, int]] | None:
    """Return (unit, agent) whose probe is worth its pages, the most valuable first.

    None: nothing can be predicted.
    """
    agents = members(tx)
    learned = load_model(tx, [agent.id for agent in agents])
    loaded = load_all(
        tx, agents, STATES, policy, on_predictions=True, keep_crawled=True, start_ms=now_ms
    )
    if learned is None or loaded is None:
        return None
    if not loaded.predicted.any():
        return []
    asked = _asked(
        [agent.is_plain for agent in agents], loaded.work.capacities, current.probe_steps, now_ms
    )
    most = min(AGENTS_A_STEP, policy.probes_per_host_per_day)
    rules = ValueRules(
        policy.probe_gain, most, policy.whole_host_probe_gain, policy.whole_hosts_most_share
    )
    return valuable_pairs(loaded, learned, rules, policy.probe_pages, asked)


def _asked(
    plain: Sequence[bool], capacities: Sequence[Capacity], steps: int, now_ms: int
) -> BoolArray:
    """Return (agents,) that are asked after so many steps.

    A later step does not wait for the night: not for plain agents, which call once, and not for
    agents outside their hours.
    """
    at = datetime.fromtimestamp(now_ms / 1000, UTC)
    return np.array(
        [
            not steps or (not is_plain and one.hours.is_open(at))
            for is_plain, one in zip(plain, capacities, strict=True)
        ],
        dtype=np.bool_,
    )


def _within_limits(
    tx: Transaction, pairs: Iterable[tuple[int, int]], now_ms: int, policy: Policy
) -> list[tuple[int, int]]:
    """Return the first of the pairs that fit the agents' pages of a day and what a host bears.

    A piece of a split host is never probed: the host stands for it.
    """
    host_of = {piece: top for top, below in pieces.of_tops(tx).items() for piece in below}
    wanted = list(dict.fromkeys((host_of.get(unit, unit), agent) for unit, agent in pairs))
    if not wanted:
        return []
    left = budgets(tx, sorted({agent for _, agent in wanted}), now_ms, policy)
    of_unit = Counter(missing_probes.ordered_of_units(tx, now_ms - DAY_MS))
    chosen: list[tuple[int, int]] = []
    for unit, agent in wanted:
        if left[agent] > 0 and of_unit[unit] < policy.probes_per_host_per_day:
            left[agent] -= 1
            of_unit[unit] += 1
            chosen.append((unit, agent))
    return chosen

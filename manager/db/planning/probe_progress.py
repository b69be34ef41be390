"""Progress of the probes of a round: how many are open, and when nearly all had ended.

Rounds of many hosts have millions of orders: the newest ones are looked at where few are open.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.ownership.work_orders import OPEN
from manager.db.planning import probes
from manager.db.tables import probe_orders, units
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "ProbeProgress",
    "end_of_first",
    "is_nearly_done",
    "open_agents",
    "open_units",
    "progress_of",
]

FEW: Final = 0.1
"""Share of the probes of a step, and of a round, that is open where a step is nearly done."""


@frozen
class ProbeProgress:
    """Probes of a round of which few are open.

    all_orders: of the round, open ones included. measured: orders that ended as they should.
    began_ms: when the first were ordered; step_ms: when the last step was. step_is_over: few of
    this step are open.
    """

    open_orders: int
    all_orders: int
    measured: int
    began_ms: int
    step_ms: int
    step_is_over: bool


def progress_of(tx: Transaction, number: int) -> ProbeProgress | None:
    """Return the progress of the probes of a round; None where more than a few are open."""
    states = probes.counts(tx, number)
    total = sum(states.values())
    unfinished = sum(states.get(state, 0) for state in OPEN)
    if unfinished > FEW * total or not total:
        return None
    c = probe_orders.c
    of_round = c.round == number
    moments = sa.select(sa.func.min(c.ordered_ms), sa.func.max(c.ordered_ms)).where(of_round)
    ((began_ms, step_ms),) = tx.tuples(moments)
    of_step = of_round, c.ordered_ms == step_ms
    open_in_step = tx.count(probe_orders, *of_step, c.state.in_(OPEN))
    over = open_in_step <= FEW * tx.count(probe_orders, *of_step)
    measured = states.get("done", 0)
    return ProbeProgress(unfinished, total, measured, began_ms, step_ms, over)


def is_nearly_done(tx: Transaction, number: int, steps: int) -> bool:
    """Return whether few probes of a round and of its last step are open.

    steps: that followed the first orders. Of these, where a later round probes little, few beside
    all units are few.
    """
    if not steps:
        unfinished = tx.count(probe_orders, _is_open(number))
        if unfinished <= FEW * tx.count(units, units.c.state.in_(("placed", "probing"))):
            return True
    found = progress_of(tx, number)
    return found is not None and found.step_is_over


def open_units(tx: Transaction, number: int) -> set[int]:
    """Return the units of a round that have open probes."""
    c = probe_orders.c
    return set(tx.values(sa.select(c.unit_id).where(_is_open(number)).distinct()))


def open_agents(tx: Transaction, number: int) -> list[int]:
    """Return the agents that have open probes of a round."""
    c = probe_orders.c
    return tx.values(sa.select(c.agent_id).where(_is_open(number)).distinct())


def _is_open(number: int) -> sa.ColumnElement[bool]:
    return sa.and_(probe_orders.c.round == number, probe_orders.c.state.in_(OPEN))


def end_of_first(tx: Transaction, number: int, count: int) -> int | None:
    """Return when so many probes of a round had ended as they should; None: fewer have."""
    c = probe_orders.c
    ended = sa.select(c.finished_ms).where(c.round == number, c.state == "done")
    found: int | None = tx.value(ended.order_by(c.finished_ms).limit(1).offset(max(0, count - 1)))
    return found

"""The probe orders that an agent can be given now.

Agents begin with different units: the order that was made first is for the agent whose distance is
the most likely to be used. Behind a probe that seems to have seen its unit whole, spare orders wait
until it is judged (`spare_probes`).
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.ownership.work_orders import is_free_for
from manager.db.planning.probes import NOTHING_LEFT
from manager.db.tables import hosts, probe_orders, units
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = ["WaitingOrder", "waiting_for"]

c: Final = probe_orders.c


@frozen
class WaitingOrder:
    """An order that its agent could be given now."""

    unit_id: int
    group_id: int
    round: int


def waiting_for(
    tx: Transaction, agent_id: int, limit: int, probe_pages: int, *, first: bool
) -> list[WaitingOrder]:
    """Return orders of an agent in whose group no other has a right, lowest unit first.

    first: those alone of which no other agent's comes first in the unit, if there are any, so that
    agents begin with different units. What a probe may make needless waits until that is judged.
    """
    free = (
        sa.select(c.unit_id, hosts.c.group_id, c.round)
        .join(units, units.c.id == c.unit_id)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(is_free_for(agent_id, probe_orders), ~_is_judged_next(probe_pages))
        .order_by(c.unit_id)
        .limit(limit)
    )
    if first:
        found = tx.rows(WaitingOrder, free.where(~_is_left_to_another(agent_id)))
        if found:
            return found
    return tx.rows(WaitingOrder, free)


def _is_left_to_another(agent_id: int) -> sa.ColumnElement[bool]:
    """Return the condition that the order of another agent waits that comes first in its unit."""
    first = probe_orders.alias("first")
    return sa.exists().where(
        first.c.unit_id == c.unit_id,
        first.c.round == c.round,
        first.c.state == "waiting",
        first.c.id < c.id,
        first.c.agent_id != agent_id,
    )


def _is_judged_next(probe_pages: int) -> sa.ColumnElement[bool]:
    """Return the condition that a spare order waits for the judgement of a probe of its unit.

    The probe seems to have seen all of it, and its log is on its way or was not judged yet.
    """
    ended = probe_orders.alias("ended")
    unjudged = sa.exists().where(
        ended.c.unit_id == c.unit_id,
        ended.c.round == c.round,
        ended.c.state.in_(("finished", "done")),
        ended.c.spare,
        ended.c.reason.in_(NOTHING_LEFT),
        ended.c.pages < probe_pages,
    )
    return sa.and_(c.spare, unjudged)

"""Arrival of the last logs of agents: until then a crawl that has ended is not all reported."""

from __future__ import annotations

from manager.db.engine import Transaction
from manager.db.fleet import agents

__all__ = ["has_reported", "heard_since"]


def has_reported(tx: Transaction, agent_id: int, by_ms: int) -> bool:
    """Return whether no log of an agent is to be waited for: it said so, or is gone, or is plain.

    by_ms: a while after it finished its last unit, when the log of that is surely in its outbox.
    """
    row = agents.by_id(tx, agent_id)
    if row is None or not row.takes_part or row.is_plain:
        return True
    return not row.reports_waiting and (row.last_contact_ms or 0) >= by_ms


def heard_since(ended_ms: int, grace_ms: int, now_ms: int) -> int:
    """Return the time of contact from which the log of an ended unit is in the outbox.

    An end in the future was written by a clock that has been set back since.
    """
    return ended_ms + grace_ms if ended_ms <= now_ms else 0

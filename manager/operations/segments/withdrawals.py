"""Withdrawn hosts, announced to agents so that they drop their copies.

Invariant: an agent hears of hosts that it was given, and of no others; of each until it said that
it heard. Source: the archive's rule that excluding withdraws (docs/adr/0092).
"""

from __future__ import annotations

from typing import Final

from manager.db.engine import Transaction
from manager.db.segments import withdrawals

__all__ = ["withdrawn_for"]

HOSTS_AT_ONCE: Final = 1000


def withdrawn_for(
    tx: Transaction, agent_id: int, held: int | None, newest: int
) -> tuple[list[str], int | None]:
    """Return the hosts that an agent is to drop, and the number that it is to say then.

    held: the number that it said; None: it cannot drop anything, and receives nothing.
    newest: the number of the newest withdrawal of all.
    """
    if held is None:
        return [], None
    if held == newest:
        return [], newest
    # A number that was never given: the database is older than what the agent heard.
    found = withdrawals.of_agent(tx, agent_id, held if held < newest else 0, HOSTS_AT_ONCE)
    number = found[-1][0] if len(found) == HOSTS_AT_ONCE else newest
    return sorted({key for _, key in found}), number

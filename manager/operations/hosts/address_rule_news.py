"""Rules of shared addresses that an agent has not heard of yet, for the answer of its sync."""

from __future__ import annotations

from typing import Final

from manager.db.engine import Transaction
from manager.db.hosts import address_rules
from shared.wire.sync import SharedAddress

__all__ = ["address_rules_for"]

RULES_AT_ONCE: Final = 500


def address_rules_for(
    tx: Transaction, held: int | None, newest: int
) -> tuple[tuple[SharedAddress, ...], int | None, int | None]:
    """Return changed rules, after which change they are, and the number that it is to say then.

    held: the number that it said; None: it knows no such rules, and receives none.
    newest: the number of the newest change of all.
    """
    if held is None:
        return (), None, None
    if held == newest:
        return (), newest, newest
    # A number that was never given: the database is older than what the agent heard.
    start = held if held < newest else 0
    found = address_rules.changed_after(tx, start, RULES_AT_ONCE)
    rules = tuple(
        SharedAddress(
            address=row.address,
            domains=0 if row.rule == "single" else max(1, row.domains),
            shares=row.shares,
            least_interval_ms=row.least_ms,
        )
        for row in found
    )
    return rules, start, found[-1].number if len(found) == RULES_AT_ONCE else newest

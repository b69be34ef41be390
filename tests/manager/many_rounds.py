"""More rounds and plans than any list shows at once."""

from __future__ import annotations

from typing import Final

from manager.db.engine import Database
from manager.db.planning import plans
from manager.db.tables import rounds

__all__ = ["METHODS", "STATES", "add_plans", "add_rounds"]

METHODS: Final = ("keep", "tree", "prices")
STATES: Final = ("finished", "cancelled")


def add_rounds(db: Database, first: int, last: int) -> None:
    """Add rounds of these numbers, one an hour; their makespans fall, each fourth has none."""
    rows = [
        {
            "number": number,
            "method": METHODS[number % 3],
            "state": STATES[number % 2],
            "started_by": "schedule 1",
            "started_ms": number * 3_600_000,
            "makespan_ms": None if number % 4 == 0 else 10_000_000 - number,
        }
        for number in range(first, last + 1)
    ]
    with db.write() as tx:
        tx.insert(rounds, rows)


def add_plans(db: Database, first: int, last: int) -> None:
    """Add plans of these numbers, without moves; each third was applied."""
    with db.write() as tx:
        for number in range(first, last + 1):
            values = {
                "id": number,
                "method": METHODS[number % 3],
                "made_by": "somebody",
                "made_ms": number,
                "applied_ms": number if number % 3 == 0 else None,
                "makespan_ms": None if number % 4 == 0 else 10_000_000.0 - number,
                "detail": "{}",
            }
            plans.add(tx, values, [])

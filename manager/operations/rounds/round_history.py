"""Rounds over time: what each was planned to cost, could have cost at best, and did."""

from __future__ import annotations

from typing import Final

from manager.db.engine import Database
from manager.db.rounds import round_history
from manager.db.rounds.round_history import PastRound

__all__ = ["PastRound", "past_rounds"]

ROUNDS_MOST: Final = 1000


def past_rounds(db: Database, limit: int = 60, before: int | None = None) -> list[PastRound]:
    """Return the newest rounds (before: those of lesser numbers), the oldest of them first."""
    with db.read() as tx:
        return round_history.newest(tx, max(1, min(limit, ROUNDS_MOST)), before)[::-1]

"""Change marks by topic, for pages that refresh themselves."""

from __future__ import annotations

from manager.db import change_marks
from manager.db.change_marks import TOPICS
from manager.db.engine import Database

__all__ = ["TOPICS", "marks"]


def marks(db: Database) -> dict[str, str]:
    """Return a mark for each topic; it differs after a change, by whichever manager."""
    with db.read() as tx:
        return change_marks.marks(tx)

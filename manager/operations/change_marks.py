"""Tell whether something changed, topic by topic, for pages that are being looked at."""

from __future__ import annotations

from manager.db import changes
from manager.db.changes import TOPICS
from manager.db.engine import Database

__all__ = ["TOPICS", "marks"]


def marks(db: Database) -> dict[str, str]:
    """Return a mark for each topic; it differs after a change, by whichever manager."""
    with db.read() as tx:
        return changes.marks(tx)

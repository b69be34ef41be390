"""Agents under doubt, without the rounds that lead to it."""

from __future__ import annotations

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.distance.doubts import Doubt, Evidence, Fault
from manager.operations.measurement.claims import Period, written

__all__ = ["doubt"]


def doubt(db: Database, name: str) -> None:
    """Doubt the times of an agent from its first claim on."""
    with db.write() as tx:
        row = agents.by_name(tx, name)
        assert row is not None
        found = (Doubt(Fault.TIMES, 9.7, 40, Evidence.OTHERS),)
        agents.update(tx, row.id, doubts=written([Period(2, None, found)]))

"""What the agent holds, rebuilt from the ledger's rows: the same after a restart as before it."""

from __future__ import annotations

from collections.abc import Iterable

from agent.pipeline.messages import Scope
from agent.pipeline.ports import JobRow
from shared.units import UnitIndex

__all__ = ["scope_of"]


def scope_of(rows: Iterable[JobRow]) -> Scope:
    """Return the scope of the jobs that the ledger remembers."""
    jobs = {row.job.unit: row.job for row in rows}
    finished = frozenset(row.job.unit for row in rows if row.finished)
    return Scope(UnitIndex(jobs), jobs, finished)

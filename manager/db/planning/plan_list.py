"""The list of plans: filters and sort orders."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.planning.plans import PlanHead
from manager.db.sorted_rows import SortedRows
from manager.db.tables import plans

__all__ = ["ROWS", "wanted"]

ROWS: Final = SortedRows(
    PlanHead,
    plans.c.id,
    {
        "number": plans.c.id,
        "method": plans.c.method,
        "made": plans.c.made_ms,
        "applied": plans.c.applied_ms,
        "units": plans.c.units,
        "moves": plans.c.moves,
        "before": plans.c.before_ms,
        "makespan": plans.c.makespan_ms,
        "bound": plans.c.bound_ms,
    },
)


def wanted(method: str, applied: bool | None) -> list[sa.ColumnElement[bool]]:
    """Return what plans must match. method: empty is any. applied: None is either."""
    asked = [plans.c.method == method] if method else []
    if applied is not None:
        asked.append(plans.c.applied_ms.is_not(None) if applied else plans.c.applied_ms.is_(None))
    return asked

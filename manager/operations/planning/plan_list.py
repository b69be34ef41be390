"""The list of plans, of which each round makes one: filtered, sorted, paged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from manager.db.engine import Database
from manager.db.planning import plan_list
from manager.db.planning.plans import PlanHead
from shared.frozen import frozen

__all__ = ["SORTS", "PlanFilter", "PlanPage", "every_plan", "plan_page"]

SORTS: Final = tuple(plan_list.ROWS.sorts)


@frozen
class PlanFilter:
    """Filter of plans. method: empty is any. applied: None is either."""

    method: str = ""
    applied: bool | None = None


@frozen
class PlanPage:
    """total: how many plans match; there are more where it is beyond offset and these."""

    total: int
    plans: list[PlanHead]


def plan_page(
    db: Database,
    where: PlanFilter,
    *,
    sort: str = "-number",
    limit: int = 50,
    offset: int = 0,
) -> PlanPage:
    """Return a page of the plans that match.

    sort: one of SORTS; with `-` before it, descending; unknown values come last, and of equal ones
    the newest first. Raises FormatError for another sort.
    """
    asked = plan_list.wanted(where.method, where.applied)
    with db.read() as tx:
        return PlanPage(*plan_list.ROWS.page(tx, asked, sort, limit, offset))


def every_plan(db: Database, where: PlanFilter, *, sort: str = "-number") -> Iterator[PlanHead]:
    """Yield all plans that match, however many. Raises FormatError as `plan_page`, at once."""
    return plan_list.ROWS.every(db, plan_list.wanted(where.method, where.applied), sort)

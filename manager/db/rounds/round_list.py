"""The list of rounds: filters and sort orders."""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa

from manager.db.rounds.rounds import RoundRow
from manager.db.sorted_rows import SortedRows
from manager.db.tables import rounds

__all__ = ["ROWS", "STATES", "wanted"]

STATES: Final = ("probing", "crawling", "finished", "cancelled")

ROWS: Final = SortedRows(
    RoundRow,
    rounds.c.number,
    {
        "number": rounds.c.number,
        "method": rounds.c.method,
        "state": sa.case({state: at for at, state in enumerate(STATES)}, value=rounds.c.state),
        "started": rounds.c.started_ms,
        "finished": rounds.c.finished_ms,
        "makespan": rounds.c.makespan_ms,
        "elapsed": rounds.c.elapsed_ms,
    },
)


def wanted(method: str, state: str) -> list[sa.ColumnElement[bool]]:
    """Return what rounds must match; empty: any."""
    asked: list[tuple[sa.Column[Any], str]] = [(rounds.c.method, method), (rounds.c.state, state)]
    return [column == value for column, value in asked if value]

"""Comparison of one agent's logs with those of others: examples, or all as CSV.

Nothing of a comparison is kept but numbers in the audit, so the file is made by one more.
"""

from __future__ import annotations

import shutil
from typing import Final

from starlette.responses import Response

from manager.console.csv_export import Cell, csv_response
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.logs.capture_checks import (
    EXAMPLES,
    CaptureCheck,
    Contradiction,
    check_captures,
)

__all__ = ["PAGES"]

FILE_ROWS_MOST: Final = 100_000
HEADER: Final = (
    "page",
    "its status",
    "its size (bytes)",
    "status for others",
    "size for others (bytes)",
    "others that agree",
    "others that disagree",
)


def compare(visit: Visit) -> Response:
    """Compare, and show examples of contradicted lines."""
    return visit.page("compared.html", found=_compared(visit, EXAMPLES))


def export(visit: Visit) -> Response:
    """Compare, and send what is contradicted as CSV, at most a hundred thousand pages."""
    found = _compared(visit, FILE_ROWS_MOST)
    return csv_response("contradicted", HEADER, map(_cells, found.examples))


def _compared(visit: Visit, examples: int) -> CaptureCheck:
    name = visit.form.get("name", "")
    with visit.door.scratch.turn() as place:
        found = check_captures(
            visit.db,
            name,
            place,
            visit.actor,
            visit.now_ms,
            policy=visit.policy,
            examples=examples,
        )
        shutil.rmtree(place.folder, ignore_errors=True)
    return found


def _cells(one: Contradiction) -> list[Cell]:
    return [
        one.url,
        one.status,
        one.bytes,
        one.their_status,
        one.their_bytes,
        one.agreeing,
        one.disagreeing,
    ]


PAGES: Final = (
    Page("POST", "/agent/compare", "operator", compare),
    Page("POST", "/agent/contradicted.csv", "operator", export),
)

"""Comparison of one agent's logs with those of others: examples, or all as CSV.

Nothing of a comparison is kept but numbers in the audit, so the file is made by one more.
"""

from __future__ import annotations

import shutil
from typing import Final

from starlette.responses import Response

from manager.console.language import lazy
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.console.tables.kinds import BYTES, NUMBER
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table
from manager.operations.logs.capture_checks import (
    EXAMPLES,
    CaptureCheck,
    Contradiction,
    check_captures,
)

__all__ = ["CONTRADICTED", "PAGES"]

FILE_ROWS_MOST: Final = 100_000


def compare(visit: Visit) -> Response:
    """Compare, and show examples of contradicted lines."""
    found = _compared(visit, EXAMPLES)
    examples = CONTRADICTED.part(visit, found.examples)
    return visit.page("compared.html", found=found, examples=examples)


def _compared(visit: Visit, examples: int) -> CaptureCheck:
    name = visit.form.get("name", "")
    with visit.services.scratch.turn() as place:
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


CONTRADICTED: Final[Table[Contradiction]] = Table(
    "/agent/contradicted",
    f"Pages of an agent that other agents' logs contradict, at most {FILE_ROWS_MOST:,}",
    InMemory(lambda visit: _compared(visit, FILE_ROWS_MOST).examples),
    (
        Column("page", lambda one: one.url, lazy("Page"), style="wide path"),
        Column("its_status", lambda one: one.status, lazy("This agent")),
        Column("its_size", lambda one: one.bytes, kind=BYTES),
        Column("status_for_others", lambda one: one.their_status, lazy("Other agents")),
        Column("size_for_others", lambda one: one.their_bytes, kind=BYTES),
        Column("others_that_agree", lambda one: one.agreeing, lazy("Agree"), NUMBER),
        Column("others_that_disagree", lambda one: one.disagreeing, lazy("Disagree"), NUMBER),
    ),
    role="operator",
    method="POST",
    files="contradicted",
)


PAGES: Final = (
    Page("POST", "/agent/compare", "operator", compare, form="/agent?name={name}"),
    *CONTRADICTED.file_pages(),
)

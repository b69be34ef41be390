"""The table of kept files that are missing or damaged, a part of the archive's page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from manager.console.language import lazy
from manager.console.requests.visit import Visit
from manager.console.tables.kinds import AGO, ID, MOMENT, PATH, SENTENCE
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table
from manager.operations.segments.file_problems import (
    ProblemRow,
    answer_message,
    kind_message,
    list_problems,
    problem_message,
)

__all__ = ["PAGES", "PROBLEMS"]

ROWS_AT_ONCE: Final = 1000


def _rows(visit: Visit) -> Iterator[ProblemRow]:
    """Yield all problems, newest first."""
    before: int | None = None
    while some := list_problems(visit.db, ROWS_AT_ONCE, before):
        yield from some
        before = some[-1].id


PROBLEMS: Final[Table[ProblemRow]] = Table(
    "/data/problems",
    "Kept files that are missing or damaged, newest first",
    InMemory(_rows),
    (
        Column("id", lambda row: row.id, kind=ID),
        Column("file", lambda row: row.subject, lazy("File"), PATH),
        Column("place", lambda row: row.place, about="path or key of the file"),
        Column("kind", lambda row: kind_message(row.kind), lazy("Kind"), SENTENCE),
        Column("problem", lambda row: problem_message(row.problem), lazy("Problem"), SENTENCE),
        Column("detail", lambda row: row.detail, kind=SENTENCE),
        Column("since", lambda row: row.found_ms, lazy("Since"), AGO),
        Column("seen", lambda row: row.seen_ms, kind=MOMENT, about="last time"),
        Column("asked", lambda row: row.asked_ms, kind=MOMENT, about="order to its agent"),
        Column("answer", lambda row: answer_message(row.answer), lazy("Answer"), SENTENCE),
    ),
    files="file-problems",
)
PAGES: Final = PROBLEMS.file_pages()

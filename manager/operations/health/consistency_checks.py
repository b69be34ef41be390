"""Consistency of tables and kept files, for `prsm check` and the tests after every kill.

Invariant: every state that a transaction leaves behind passes, at any time, with any number of
agents half way through anything. A finding is a defect of PRSM or of the disk, never of an agent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Final

from manager.db import consistency_checks
from manager.db.engine import Database
from manager.message_fields import message_fields
from manager.operations.segments.file_checks import FileFinding, examine_file, file_finding
from manager.operations.segments.file_problems import ask_again, record_findings
from manager.operations.segments.kept_file_list import FileKind, FilePlaces, files_after, is_needed
from manager.operations.segments.orphan_search import orphaned_files
from manager.store.segments.verification import FileProblem
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "FilesPage",
    "Inconsistency",
    "check",
    "check_files",
    "check_orphans",
    "check_page",
    "verify_page",
]

FilesExist = Callable[[str], bool]
BATCH: Final = 1_000
FINDINGS_MOST: Final = 200
DEEP_BATCH: Final = 5
"""Rows whose files are read whole in one call: segments of 1 GB take seconds each."""
NO_ROWS: Final = Message("consistency.report_without_rows")


@message_fields
@frozen
class Inconsistency:
    """Something that must not be, and where. subject: a unit, a host, an agent, a file.

    code: for programs; empty: of the tables. detail: in which way.
    """

    problem: Message
    subject: str
    code: str = field(default="", compare=False)
    detail: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.subject}: {self.problem}"


def check(db: Database, file_exists: FilesExist | None = None) -> list[Inconsistency]:
    """Return what is not as it must be; at most 10 examples of each problem.

    file_exists: tells of a report's `path` whether its rows are there; None: files are not
    looked for.
    """
    findings: list[Inconsistency] = []
    with db.read() as tx:
        for name, subject in consistency_checks.contradictions(tx):
            findings.append(Inconsistency(Message(f"consistency.{name}"), subject))
    if file_exists is not None:
        findings += _missing_files(db, file_exists)
    return findings[:FINDINGS_MOST]


def _missing_files(db: Database, file_exists: FilesExist) -> list[Inconsistency]:
    missing: list[Inconsistency] = []
    after = 0
    while len(missing) < FINDINGS_MOST:
        with db.read() as tx:
            page = consistency_checks.report_files(tx, after, BATCH)
        if not page:
            break
        after = page[-1][0]
        missing += [Inconsistency(NO_ROWS, path) for _, path in page if not file_exists(path)]
    return missing


@frozen
class FilesPage:
    """The findings about some files, and the cursor behind them; empty: these were the last."""

    findings: list[Inconsistency]
    cursor: str
    files: int
    bytes: int


def check_files(db: Database, places: FilePlaces, *, deep: bool = False) -> list[Inconsistency]:
    """Check every file that a row names, and every file for its row; at most FINDINGS_MOST.

    deep: all bytes are read. Raises BusyError where an object store is away.
    """
    findings: list[Inconsistency] = []
    sizes = None if deep else places.store.sizes()
    cursor = ""
    while len(findings) < FINDINGS_MOST:
        page, _ = _page(db, places, cursor, deep=deep, sizes=sizes)
        findings += page.findings
        cursor = page.cursor
        if not cursor:
            break
    findings += check_orphans(db, places)
    return findings[:FINDINGS_MOST]


def check_page(db: Database, places: FilePlaces, cursor: str, *, deep: bool) -> FilesPage:
    """Check the files of the next rows behind a cursor. Raises FormatError, BusyError."""
    return _page(db, places, cursor, deep=deep)[0]


def verify_page(db: Database, places: FilePlaces, cursor: str, now_ms: int) -> FilesPage:
    """Read the files of the next rows, and deal with what is not whole as the scrub does.

    It is written down and told, and segments are asked for again from their agents. Raises
    FormatError, BusyError.
    """
    page, found = _page(db, places, cursor, deep=True)
    if found:
        record_findings(db, found, now_ms)
        ask_again(db, now_ms)
    return page


def check_orphans(db: Database, places: FilePlaces) -> list[Inconsistency]:
    """Return the files without a row, and files of lists and days that are not whole."""
    return [_inconsistency(one) for one in orphaned_files(db, places)]


def _page(
    db: Database,
    places: FilePlaces,
    cursor: str,
    *,
    deep: bool,
    sizes: dict[str, int] | None = None,
) -> tuple[FilesPage, list[FileFinding]]:
    page = files_after(db, places, cursor, DEEP_BATCH if deep else BATCH)
    findings: list[FileFinding] = []
    size_bytes = 0
    for file in page.files:
        verdict = examine_file(file, places, deep=deep, sizes=sizes)
        size_bytes += verdict.size_bytes
        found = file_finding(file, verdict)
        if found is not None and is_needed(db, file, places):
            findings.append(found)
    told = [_inconsistency(one) for one in findings]
    return FilesPage(told, page.cursor, len(page.files), size_bytes), findings


def _inconsistency(found: FileFinding) -> Inconsistency:
    problem = Message(f"consistency.file_{found.problem.value}", kind=found.kind.value)
    if (found.kind, found.problem) == (FileKind.LOG, FileProblem.MISSING):
        problem = NO_ROWS
    return Inconsistency(
        problem, found.subject, f"{found.kind}_{found.problem}", str(found.detail or "")
    )

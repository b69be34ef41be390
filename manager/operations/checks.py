"""Is everything consistent? Asked by `prsm check`, and by the tests after every kill.

Invariant: every state that a transaction leaves behind passes, at any time, with any number of
agents half way through anything. A finding is a defect of PRSM or of the disk, never of an agent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from manager.db import checks
from manager.db.engine import Database
from shared.frozen import frozen

__all__ = ["Finding", "check"]

FilesExist = Callable[[str], bool]
BATCH: Final = 1_000
FINDINGS_MOST: Final = 200


@frozen
class Finding:
    """Something that must not be, and where. subject: a unit, a host, an agent, a file."""

    problem: str
    subject: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.problem}"


def check(db: Database, file_exists: FilesExist | None = None) -> list[Finding]:
    """Return what is not as it must be; at most 10 examples of each problem.

    file_exists: tells of a report's `path` whether its rows are there; None: files are not
    looked for.
    """
    findings: list[Finding] = []
    with db.read() as tx:
        for problem, ask in checks.QUESTIONS.items():
            findings += [Finding(problem, subject) for subject in ask(tx)]
    if file_exists is not None:
        findings += _missing_files(db, file_exists)
    return findings[:FINDINGS_MOST]


def _missing_files(db: Database, file_exists: FilesExist) -> list[Finding]:
    missing: list[Finding] = []
    after = 0
    while len(missing) < FINDINGS_MOST:
        with db.read() as tx:
            page = checks.report_files(tx, after, BATCH)
        if not page:
            break
        after = page[-1][0]
        missing += [
            Finding("report was accepted, but its rows are gone", path)
            for _, path in page
            if not file_exists(path)
        ]
    return missing

"""The audit log, accepted reports, and the consistency check."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query
from pydantic import BaseModel, Field

from manager.api.access import Operator, Services, Viewer
from manager.api.routes import Limit, subject_router
from manager.operations.health.consistency_checks import (
    FilesPage,
    Inconsistency,
    check,
    check_files,
    check_orphans,
    check_page,
    verify_page,
)
from manager.operations.logs.reports import ReportRow, list_reports
from manager.operations.people.audit_log import AuditRow, audit_page

__all__ = ["router"]

router: Final = subject_router("records")
Before = Annotated[int | None, Query(ge=1, description="only rows older than this id")]


@router.get("/audit")
def audit(
    services: Services,
    _: Viewer,
    limit: Limit = 100,
    before_id: Before = None,
    action: Annotated[str, Query(description="its beginning, as `agent.`")] = "",
    subject: str = "",
    actor: str = "",
    alerts: bool = False,
) -> list[AuditRow]:
    """List who did what and when, newest first."""
    return audit_page(
        services.db,
        limit=limit,
        before_id=before_id,
        action=action,
        subject=subject,
        actor=actor,
        alerts=alerts,
    )


@router.get("/reports")
def reports(
    services: Services, _: Viewer, limit: Limit = 100, before_id: Before = None, agent: str = ""
) -> list[ReportRow]:
    """List the crawl logs that were taken, newest first."""
    return list_reports(services.db, limit=limit, before_id=before_id, agent=agent)


class CheckAnswer(BaseModel):
    """Inconsistencies; an empty list: none."""

    findings: list[Inconsistency]


@router.get("/check")
def check_all(
    services: Services,
    _: Viewer,
    deep: Annotated[bool, Query(description="read every byte of every file, too")] = False,
) -> CheckAnswer:
    """Check that the tables fit together, every file that a row names, and the row of every file.

    With `deep` every byte is read, which takes hours where much is kept: `/check/files` does it
    page by page.
    """
    return CheckAnswer(
        findings=[*check(services.db), *check_files(services.db, services.places, deep=deep)]
    )


class Behind(BaseModel):
    """cursor: of the answer before; empty: from the first file on."""

    cursor: Annotated[str, Field(max_length=40)] = ""


@router.get("/check/files")
def check_some(
    services: Services,
    _: Viewer,
    cursor: Annotated[str, Query(max_length=40, description="of the answer before")] = "",
    deep: Annotated[bool, Query(description="read every byte")] = False,
) -> FilesPage:
    """Check the next files that rows name; `cursor` is empty behind the last ones.

    The last answer also names the files without a row.
    """
    return _with_orphans(services, check_page(services.db, services.places, cursor, deep=deep))


@router.post("/check/files")
def verify_some(services: Services, _: Operator, asked: Behind) -> FilesPage:
    """Read the next files that rows name; report damaged ones and request them again.

    As GET with `deep`; a damaged or missing segment becomes a problem (`/archive/problems`), and
    its agent is asked for its copy at its next sync.
    """
    return _with_orphans(
        services, verify_page(services.db, services.places, asked.cursor, services.now_ms())
    )


def _with_orphans(services: Services, page: FilesPage) -> FilesPage:
    """Return a page; where it is the last one, with the files without a row."""
    if page.cursor:
        return page
    orphans = check_orphans(services.db, services.places)
    return FilesPage([*page.findings, *orphans], "", page.files, page.bytes)

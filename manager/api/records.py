"""What happened: the audit, the reports that came; and whether all fits together."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel

from manager.api.door import Door, Viewer
from manager.operations.audit import AuditRow, audit_page
from manager.operations.checks import (
    FilesPage,
    Finding,
    check,
    check_files,
    check_page,
    check_strays,
)
from manager.operations.reports import ReportRow, list_reports

__all__ = ["router"]

router: Final = APIRouter(prefix="/api/v1", tags=["records"])
Limit = Annotated[int, Query(ge=1, le=1000)]
Before = Annotated[int | None, Query(ge=1, description="only rows older than this id")]


@router.get("/audit")
async def audit(
    door: Door,
    _: Viewer,
    limit: Limit = 100,
    before_id: Before = None,
    action: Annotated[str, Query(description="its beginning, as `agent.`")] = "",
    subject: str = "",
    actor: str = "",
    alerts: bool = False,
) -> list[AuditRow]:
    """List who did what and when, newest first."""
    return await asyncio.to_thread(
        audit_page,
        door.db,
        limit=limit,
        before_id=before_id,
        action=action,
        subject=subject,
        actor=actor,
        alerts=alerts,
    )


@router.get("/reports")
async def reports(
    door: Door, _: Viewer, limit: Limit = 100, before_id: Before = None, agent: str = ""
) -> list[ReportRow]:
    """List the crawl logs that were taken, newest first."""
    return await asyncio.to_thread(
        list_reports, door.db, limit=limit, before_id=before_id, agent=agent
    )


class CheckAnswer(BaseModel):
    """What must not be and is; nothing is as it should be."""

    findings: list[Finding]


@router.get("/check")
async def check_all(
    door: Door,
    _: Viewer,
    deep: Annotated[bool, Query(description="read every byte of every file, too")] = False,
) -> CheckAnswer:
    """Check that the tables fit together, every file that a row names, and the row of every file.

    With `deep` every byte is read, which takes hours where much is kept: `/check/files` does it
    page by page.
    """

    def found() -> list[Finding]:
        return [*check(door.db), *check_files(door.db, door.places, deep=deep)]

    return CheckAnswer(findings=await asyncio.to_thread(found))


@router.get("/check/files")
async def check_some(
    door: Door,
    _: Viewer,
    cursor: Annotated[str, Query(max_length=40, description="of the answer before")] = "",
    deep: Annotated[bool, Query(description="read every byte")] = False,
) -> FilesPage:
    """Check the next files that rows name; `cursor` is empty behind the last ones.

    The last answer also names the files without a row.
    """

    def found() -> FilesPage:
        page = check_page(door.db, door.places, cursor, deep=deep)
        if page.cursor:
            return page
        strays = check_strays(door.db, door.places)
        return FilesPage([*page.findings, *strays], "", page.files, page.bytes)

    return await asyncio.to_thread(found)

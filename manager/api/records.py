"""What happened: the audit, the reports that came; and whether all fits together."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel

from manager.api.door import Door, Viewer
from manager.operations.audit import AuditRow, audit_page
from manager.operations.checks import Finding, check
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
async def check_all(door: Door, _: Viewer) -> CheckAnswer:
    """Check that the tables fit together, and that the files which they name are there."""
    kept = door.layout.kept
    findings = await asyncio.to_thread(check, door.db, lambda path: (kept / path).is_file())
    return CheckAnswer(findings=findings)

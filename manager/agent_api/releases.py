"""Releases for sites: the offer, the signed files, update reports. Docs: docs/protocol.md.

All routes need an agent's key. The launcher checks the received files by their signatures.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, BinaryIO, Final

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from manager.agent_api.authentication import Agent, Services
from manager.agent_api.streams import OpenFile
from manager.errors import NotFoundError
from manager.operations.releases import release_views, rollouts, update_reports
from manager.operations.releases.rollouts import Offer
from shared.wire.sync import EpochMs

__all__ = ["router"]

router: Final = APIRouter(prefix="/api/v1/update", tags=["releases for sites"])


class UpdateReport(BaseModel):
    """Result of an update: updated, went-back, failed, refused or unreached; step and reason.

    at_ms: when it was first so, epoch milliseconds; 0: now. times: in a row, before it was told.
    """

    version: Annotated[str, Field(max_length=64)]
    outcome: Annotated[str, Field(max_length=40)]
    step: Annotated[str, Field(max_length=64)] = ""
    detail: Annotated[str, Field(max_length=4000)] = ""
    at_ms: EpochMs = 0
    times: Annotated[int, Field(ge=1, lt=2**31)] = 1


@router.get("/offer")
async def offer(
    services: Services, agent: Agent, running: Annotated[str, Query(max_length=64)] = ""
) -> Offer:
    """Return the version that the site is to run; an empty version: the present one."""
    return await asyncio.to_thread(rollouts.offer_for, services.db, agent, running)


@router.post("/report", status_code=204)
async def report(services: Services, agent: Agent, said: UpdateReport) -> None:
    """Record the result of an update."""
    await asyncio.to_thread(
        update_reports.report_update,
        services.db,
        agent,
        said.version,
        said.outcome,
        said.step,
        said.detail,
        services.now_ms(),
        at_ms=said.at_ms,
        times=said.times,
    )


@router.get("/metadata/{name}")
async def metadata(services: Services, _: Agent, name: str) -> Response:
    """Return a signed file as TUF names it."""
    body = await asyncio.to_thread(release_views.metadata_file, services.db, name)
    return Response(body, media_type="application/json")


@router.get("/targets/{name}")
async def target(services: Services, _: Agent, name: str) -> Response:
    """Return the file of a release, `SHA256.NAME`; one that was revoked is no more."""
    return OpenFile(await asyncio.to_thread(_open, services, name), "application/octet-stream")


def _open(services: Services, name: str) -> BinaryIO:
    row = release_views.release_of_file(services.db, name)
    try:
        return services.bundles.open(row.sha256)
    except FileNotFoundError as error:
        raise NotFoundError("fleet.release_file_missing", version=row.version) from error

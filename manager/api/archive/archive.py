"""The archive, as administrators see it and act on it."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query
from pydantic import BaseModel, ConfigDict

from manager.api.access import Admin, Services, Viewer
from manager.api.routes import Limit, subject_router
from manager.operations.archive.archive_figures import (
    ArchiveFigures,
    WithdrawnRow,
    archive_size,
    list_withdrawn,
)
from manager.operations.archive.archive_mirrors import Mirror
from manager.operations.archive.captures import CAPTURES_MOST, CapturesOfPage, captures_of_page
from manager.operations.archive.downloads import DownloadRow, list_downloads
from manager.operations.archive.selection_jobs import OwnedJob, list_jobs, remove_job
from manager.operations.segments.adoption import Adopted, IdOf
from manager.operations.segments.file_problems import ProblemRow, list_problems
from manager.operations.segments.scrub import ScrubProgress, scrub_now, scrub_progress
from manager.operations.segments.trash_contents import TrashDay

__all__ = ["router"]

router: Final = subject_router("archive", "/archive")
Before = Annotated[int | None, Query(ge=1, le=2**62, description="the `id` of the last row")]


class Compacted(BaseModel):
    """Counts of segments rewritten without excluded hosts, and of those removed entirely."""

    rewritten: int
    deleted: int


@router.post("/compact")
def compact(services: Services, actor: Admin) -> Compacted:
    """Rewrite segments with withdrawn captures now, before the schedule does; takes minutes."""
    rewritten, deleted = services.compact(actor)
    return Compacted(rewritten=rewritten, deleted=deleted)


class AdoptionOrder(BaseModel):
    """Options of an adoption. trusted: segments whose index is lost are given away unproven.

    id_of: whose installation id both have afterwards; empty: `prsm archive adopt --help`.
    """

    model_config = ConfigDict(extra="forbid")

    dry_run: bool = False
    trusted: bool = False
    id_of: IdOf = ""


@router.post("/adopt")
def adopt(services: Services, actor: Admin, asked: AdoptionOrder) -> Adopted:
    """Enter segments that no row names, in place or in the trash; reads them, takes hours."""
    return services.adopt(actor, dry_run=asked.dry_run, trusted=asked.trusted, id_of=asked.id_of)


@router.get("/trash")
def trash(services: Services, _: Viewer) -> list[TrashDay]:
    """Return the contents of the trash by day."""
    return services.trash()


@router.get("/mirrors")
def mirrors(
    services: Services,
    _: Viewer,
    share: Annotated[float, Query(description="of the smaller host's pages, 0 to 1")] = 0.5,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
) -> list[Mirror]:
    """List pairs of hosts of which one shows what the other shows; reads all indexes."""
    return services.mirrors(share, limit)


@router.get("")
def figures(services: Services, _: Viewer) -> ArchiveFigures:
    """Show how much the archive holds and makes public."""
    return archive_size(services.db)


@router.get("/scrub")
def scrub(services: Services, _: Viewer) -> ScrubProgress:
    """Show the progress of the verification of all kept files."""
    return scrub_progress(services.db, services.pace, services.now_ms())


@router.post("/scrub", status_code=204)
def begin_scrub(services: Services, actor: Admin) -> None:
    """Begin to verify all kept files now, not at the next time of the clock."""
    scrub_now(services.db, actor, services.now_ms())


@router.get("/captures")
def captures(
    services: Services,
    _: Viewer,
    url: Annotated[str, Query(min_length=1, max_length=8192, description="of the page")],
    limit: Annotated[int, Query(ge=1, le=CAPTURES_MOST)] = 100,
) -> CapturesOfPage:
    """List the captures of a page, newest first, including withheld ones.

    Reads the newest 200 segments that hold its host; `has_older` says that there are others.
    """
    return captures_of_page(services.db, services.layout, url, limit=limit)


@router.get("/problems")
def problems(
    services: Services, _: Viewer, before: Before = None, limit: Limit = 100
) -> list[ProblemRow]:
    """List kept files that are missing or damaged now, newest first."""
    return list_problems(services.db, limit, before)


@router.get("/withdrawn")
def withdrawn(
    services: Services,
    _: Viewer,
    text: Annotated[str, Query(description="anywhere in the host's key")] = "",
    before: Before = None,
    limit: Limit = 100,
) -> list[WithdrawnRow]:
    """List the withdrawn hosts: no third party receives their captures."""
    return list_withdrawn(services.db, text=text, before=before, limit=limit)


@router.get("/downloads")
def downloads(
    services: Services,
    _: Viewer,
    client: str = "",
    state: str = "",
    before: Before = None,
    limit: Limit = 100,
) -> list[DownloadRow]:
    """List what third parties take, those that began last first: `going`, `done` or `cut`."""
    return list_downloads(
        services.db, services.now_ms(), client=client, state=state, before=before, limit=limit
    )


@router.get("/jobs")
def jobs(
    services: Services,
    _: Viewer,
    client: str = "",
    state: str = "",
    before: Before = None,
    limit: Limit = 100,
) -> list[OwnedJob]:
    """List the selections that are made as files, newest first."""
    return list_jobs(services.db, client=client, state=state, before=before, limit=limit)


@router.post("/jobs/{number}/remove", status_code=204)
def remove(services: Services, actor: Admin, number: int) -> None:
    """Remove a selection and withhold its result."""
    remove_job(services.db, number, actor, services.now_ms())

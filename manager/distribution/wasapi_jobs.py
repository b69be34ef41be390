"""WASAPI jobs: large selections as files, with progress, to be fetched with ranges.

`POST /wasapi/v1/jobs` with `{"function": "extract-zip", "query": "host=.*&since=2026"}`.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from manager.distribution.authentication import Caller, caller_with
from manager.distribution.file_responses import FileToSend, SentFile
from manager.distribution.pages import selection_of, selection_sources
from manager.errors import UnknownFieldError
from manager.operations.archive import selection_jobs
from manager.operations.archive.selection_files import FORMS
from manager.operations.archive.selection_jobs import JobRow
from manager.operations.archive.selections import Selection
from shared.archive.record import warc_date
from shared.errors import Fault, FormatError
from shared.messages import render, spoken_language

__all__ = ["read_query", "router"]

KNOWN: Final = frozenset({"host", "url", "since", "until", "updated_since", "one_of_each"})

router: Final = APIRouter(tags=["WASAPI"])
Pages = Annotated[Caller, Depends(caller_with("pages", only_403=True))]


class NewJob(BaseModel):
    """A selection to make. query: as behind the question mark of /api/v1/pages.zip."""

    function: Annotated[str, Field(max_length=40)]
    query: Annotated[str, Field(max_length=12_000)]


def read_query(query: str) -> Selection:
    """Return the selection that a query writes; raises FormatError, UrlError."""
    try:
        given = parse_qs(query, keep_blank_values=True, strict_parsing=True, max_num_fields=20)
    except ValueError as error:
        raise FormatError("archive.bad_query", query=query[:100]) from error
    for name, values in given.items():
        if name not in KNOWN:
            raise UnknownFieldError("parameter", name, sorted(KNOWN))
        if len(values) > 1:
            raise FormatError("requests.repeated_parameter", Fault.REPEATED_PARAMETER, name=name)
    text = {name: values[0] for name, values in given.items()}
    one_of_each = text.get("one_of_each", "false")
    if one_of_each not in ("true", "false"):
        raise FormatError("archive.bad_one_of_each", Fault.INVALID_VALUE, value=one_of_each[:40])
    return selection_of(
        host=text.get("host", ""),
        url=text.get("url", ""),
        since=text.get("since"),
        until=text.get("until"),
        updated_since=text.get("updated_since"),
        one_of_each=one_of_each == "true",
    )


@router.post("/wasapi/v1/jobs", status_code=201, response_class=JSONResponse)
async def submit(caller: Pages, asked: NewJob) -> JSONResponse:
    """Queue a job: `extract-zip` or `extract-warc`."""
    read_query(asked.query)
    row = await asyncio.to_thread(
        selection_jobs.submit_job,
        caller.services.db,
        caller.client,
        asked.function,
        asked.query,
        caller.actor,
        caller.services.now_ms(),
    )
    return JSONResponse(_job(row), 201)


@router.get("/wasapi/v1/jobs", response_class=JSONResponse)
async def jobs(
    caller: Pages,
    page: Annotated[int, Query(ge=1, le=10**9)] = 1,
    page_size: Annotated[int, Query(ge=1, le=2000)] = 100,
) -> JSONResponse:
    """List the jobs of this client, newest first."""
    found = await asyncio.to_thread(
        selection_jobs.jobs_of, caller.services.db, caller.client, page_size, (page - 1) * page_size
    )
    path = "/wasapi/v1/jobs"
    more = page * page_size < found.count
    following = f"{path}?page={page + 1}&page_size={page_size}"
    before = f"{path}?page={page - 1}&page_size={page_size}"
    return JSONResponse(
        {
            "count": found.count,
            "next": caller.at_address(following) if more else None,
            "previous": caller.at_address(before) if page > 1 else None,
            "jobs": [_job(row) for row in found.jobs],
        }
    )


@router.get("/wasapi/v1/jobs/{token}", response_class=JSONResponse)
async def job(caller: Pages, token: str) -> JSONResponse:
    """Show how far a job is."""
    return JSONResponse(_job(await _row(caller, token)))


@router.get("/wasapi/v1/jobs/{token}/result", response_class=JSONResponse)
async def result(caller: Pages, token: str) -> JSONResponse:
    """List the file of a complete job."""
    row = await _row(caller, token)
    selection_jobs.result_path(selection_sources(caller.services), row)
    file = {
        "filename": row.name,
        "filetype": FORMS[selection_jobs.FUNCTIONS[row.function]].suffix.removesuffix(".gz"),
        "checksums": {"md5": row.md5, "sha1": row.sha1, "sha256": row.sha256},
        "size": row.size_bytes,
        "locations": [caller.at_address(f"/api/v1/results/{row.token}")],
    }
    return JSONResponse(
        {
            "count": 1,
            "next": None,
            "previous": None,
            "includes-extra": False,
            "request-url": caller.at_address(caller.request.url.path),
            "files": [file],
        }
    )


@router.head("/api/v1/results/{token}", include_in_schema=False)
@router.get("/api/v1/results/{token}", response_class=Response)
async def file_of(caller: Pages, token: str) -> Response:
    """Send the result of a job; ranges and If-Range are answered."""
    row = await _row(caller, token)
    path = selection_jobs.result_path(selection_sources(caller.services), row)
    return SentFile(
        FileToSend(
            name=row.name,
            media_type=FORMS[selection_jobs.FUNCTIONS[row.function]].media_type,
            size_bytes=row.size_bytes,
            sha256=row.sha256,
            changed_ms=row.finished_ms or 0,
            open=lambda: path.open("rb"),
            is_given=lambda: bool(
                selection_jobs.complete_job(caller.services.db, row.id, row.client_id)
            ),
            front=caller.front(f"results/{path.name}"),
        ),
        caller,
    )


async def _row(caller: Caller, token: str) -> JobRow:
    return await asyncio.to_thread(selection_jobs.job_of, caller.services.db, caller.client, token)


def _job(row: JobRow) -> dict[str, Any]:
    return {
        "jobtoken": row.token,
        "function": row.function,
        "query": row.query,
        "state": row.state,
        "submit-time": warc_date(row.submitted_ms),
        "termination-time": None if row.finished_ms is None else warc_date(row.finished_ms),
        "done": row.done,
        "total": row.total,
        "problem": "" if row.problem is None else render(row.problem, spoken_language()),
    }

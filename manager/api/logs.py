"""Lines of crawl logs: search them, portion by portion."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query
from pydantic import BaseModel

from manager.api.access import Services, Viewer
from manager.api.routes import subject_router
from manager.operations.logs.log_filters import Wanted, read_moment
from manager.operations.logs.log_lines import LINES_MOST, FoundLine, Mark

__all__ = ["router"]

router: Final = subject_router("records", "/logs")
PATIENCE_S: Final = 2.0


class LineAnswer(BaseModel):
    """A line of a crawl log. since_ms, until_ms: between which moments it was fetched.

    at_ms: when; is_exact: by the answer's Date field, else an estimate from its place in the log.
    status null: no answer. unit null: quarantined, the agent did not hold it. headers: as received,
    16 KiB at most, read as Latin-1.
    """

    report: int
    line: int
    agent: str
    log: str
    since_ms: int | None
    until_ms: int | None
    at_ms: int | None
    is_exact: bool
    url: str
    status: int | None
    request_bytes: int
    response_bytes: int
    elapsed_ms: int
    headers: str
    round: int
    kind: str
    unit: str | None


class LinesAnswer(BaseModel):
    """lines: newest first. next: send it as `mark` to continue; null: all logs were searched.

    A page may have few or no lines although there is more to search. reports: searched this time;
    gone: those of them whose log no longer exists; back_to_ms: how far back they reach.
    """

    lines: list[LineAnswer]
    next: str | None
    reports: int
    gone: int
    back_to_ms: int | None


@router.get("")
def search(
    services: Services,
    _: Viewer,
    host: Annotated[str, Query(description="`www.example.jp`, or `*.example.jp`")] = "",
    url: Annotated[str, Query(max_length=2000, description="a part of it")] = "",
    status: Annotated[str, Query(description="`404`, `5xx`, `none` or `bad`")] = "",
    kind: Annotated[str, Query(description="`probe`, `crawl` or `refetch`")] = "",
    agent: str = "",
    since: Annotated[
        str, Query(description="a day or a moment, ISO 8601, in UTC or with a zone")
    ] = "",
    until: str = "",
    quarantined: bool = False,
    mark: str = "",
    limit: Annotated[int, Query(ge=1, le=LINES_MOST)] = 100,
) -> LinesAnswer:
    """Return lines of crawl logs that are like that, newest first."""
    wanted = Wanted(
        host,
        url,
        status,
        kind,
        agent,
        read_moment(since, "since", is_end=False),
        read_moment(until, "until", is_end=True),
        quarantined,
    )
    start = Mark.read(mark) if mark else None
    found = services.log_lines.find(
        services.db, wanted, mark=start, most=limit, patience_s=PATIENCE_S
    )
    return LinesAnswer(
        lines=[_line(one) for one in found.lines],
        next=None if found.mark is None else str(found.mark),
        reports=found.reports,
        gone=found.gone,
        back_to_ms=found.back_to_ms,
    )


def _line(one: FoundLine) -> LineAnswer:
    line = one.line
    return LineAnswer(
        report=line.report,
        line=line.line,
        agent=one.agent,
        log=one.log,
        since_ms=one.since_ms,
        until_ms=one.until_ms,
        at_ms=one.at_ms,
        is_exact=one.is_exact,
        url=line.url,
        status=line.status,
        request_bytes=line.request_bytes,
        response_bytes=line.response_bytes,
        elapsed_ms=line.elapsed_ms,
        headers=line.headers.decode("latin-1"),
        round=line.round,
        kind=line.kind,
        unit=line.unit,
    )

"""One collected page: the time, answer and segment of each capture."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console.language import lazy
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.console.tables.kinds import BYTES, FLAG, ID, MOMENT, NUMBER
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table
from manager.operations.archive.captures import CAPTURES_MOST, CapturesOfPage, captures_of_page
from manager.store.captures.capture_list import CaptureLine
from shared.frozen import frozen
from shared.urls import split_host

__all__ = ["CAPTURES", "PAGES"]

SHOWN: Final = 100


@frozen
class Capture:
    """A capture of a page. url: the page's."""

    url: str
    line: CaptureLine


def _found(visit: Visit, limit: int) -> CapturesOfPage:
    return captures_of_page(
        visit.db, visit.services.layout, visit.query.get("url", "").strip(), limit=limit
    )


def _rows(found: CapturesOfPage) -> list[Capture]:
    return [Capture(found.url, line) for line in found.captures]


CAPTURES: Final[Table[Capture]] = Table(
    "/captured",
    "Captures of a page",
    InMemory(lambda visit: _rows(_found(visit, CAPTURES_MOST))),
    (
        Column("url", lambda one: one.url),
        Column("fetched", lambda one: one.line.fetched_ms, lazy("Time"), MOMENT),
        Column("status", lambda one: one.line.status, lazy("Status"), NUMBER),
        Column("type", lambda one: one.line.mime, lazy("Type"), about="media type"),
        Column("body", lambda one: one.line.body_bytes, lazy("Body"), BYTES),
        Column("digest", lambda one: one.line.digest, about="of the body"),
        Column("cut_because", lambda one: one.line.truncated, about="empty: the body is whole"),
        Column(
            "unchanged",
            lambda one: one.line.is_revisit,
            kind=FLAG,
            about="whether the body is that of an earlier capture",
        ),
        Column(
            "kept_back_because",
            lambda one: one.line.withheld,
            about="empty: third parties may have it",
        ),
        Column("note", label=lazy("Note")),
        Column("segment", lambda one: one.line.segment, lazy("Segment"), style="path"),
        Column(
            "offset", lambda one: one.line.offset, kind=ID, about="of its record in the segment"
        ),
    ),
    parameters=("url",),
    files="captures",
)


def show(visit: Visit) -> Response:
    """Show the captures of a page, newest first."""
    found = _found(visit, SHOWN)
    return visit.page(
        "captured.html",
        found=found,
        captures=CAPTURES.part(visit, _rows(found)),
        is_cut=len(found.captures) == SHOWN,
        csv=link("captured.csv", url=found.url),
        logs=link("logs", host=split_host(found.url)[1], url=found.url),
    )


PAGES: Final = (
    Page("GET", "/captured", "viewer", show, query=("url",)),
    *CAPTURES.file_pages(),
)

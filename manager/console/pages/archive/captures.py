"""One collected page: the time, answer and segment of each capture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit, link
from manager.operations.archive.captures import CAPTURES_MOST, CapturesOfPage, captures_of_page
from shared.urls import split_host

__all__ = ["PAGES"]

SHOWN: Final = 100
HEADER: Final = (
    "url",
    "fetched (UTC)",
    "status",
    "type",
    "body (bytes)",
    "digest",
    "cut because",
    "unchanged",
    "kept back because",
    "segment",
    "offset",
)


def _found(visit: Visit, limit: int) -> CapturesOfPage:
    return captures_of_page(
        visit.db, visit.door.layout, visit.query.get("url", "").strip(), limit=limit
    )


def show(visit: Visit) -> Response:
    """Show the captures of a page, newest first."""
    found = _found(visit, SHOWN)
    return visit.page(
        "captured.html",
        found=found,
        is_cut=len(found.captures) == SHOWN,
        csv=link("captured.csv", url=found.url),
        logs=link("logs", host=split_host(found.url)[1], url=found.url),
    )


def export(visit: Visit) -> Response:
    """Send the captures of a page as CSV."""
    found = _found(visit, CAPTURES_MOST)
    rows: Sequence[list[Cell]] = [
        [
            found.url,
            figures.iso(one.fetched_ms),
            one.status,
            one.mime,
            one.body_bytes,
            one.digest,
            one.truncated,
            one.is_revisit,
            one.withheld,
            one.segment,
            one.offset,
        ]
        for one in found.captures
    ]
    return csv_response("captures", HEADER, rows)


PAGES: Final = (
    Page("GET", "/captured", "viewer", show, query=("url",)),
    Page("GET", "/captured.csv", "viewer", export, query=("url",)),
)

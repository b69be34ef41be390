"""Looks for a collected page by its URL."""

from __future__ import annotations

from manager.db.engine import Database
from manager.operations.archive.captures import captures_of_page
from manager.operations.search.hits import Hit
from manager.operations.search.query import Query
from manager.store import Layout

__all__ = ["find_pages"]


def find_pages(db: Database, layout: Layout, query: Query) -> list[Hit]:
    """Return the page of a typed URL, where the archive holds it."""
    if not query.host.url:
        return []
    urls = [query.host.url]
    if not query.host.key:  # no scheme was typed
        urls.append("https" + query.host.url.removeprefix("http"))
    found = (captures_of_page(db, layout, url, limit=1) for url in urls)
    return [
        Hit("page", page.url, "exact", str(line.status or ""), line.mime, line.fetched_ms)
        for page in found
        for line in page.captures
    ]

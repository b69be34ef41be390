"""Captures of one page: when the archive took it, and what it held then.

Invariant: a look reads the indexes of at most `SEGMENTS_MOST` segments, the newest.
"""

from __future__ import annotations

from typing import Final

from manager.db.archive import archive_hosts
from manager.db.engine import Database
from manager.store import Layout
from manager.store.captures.capture_list import CaptureLine, list_captures
from shared.frozen import frozen
from shared.urls import canonical, host_of

__all__ = ["CAPTURES_MOST", "CapturesOfPage", "captures_of_page"]

CAPTURES_MOST: Final = 1_000
SEGMENTS_MOST: Final = 200
MEMORY_BYTES: Final = 128 * 1024**2


@frozen
class CapturesOfPage:
    """Captures of a page, newest first.

    url: canonical; host: its key. segments: whose indexes were read; has_older: the host also lies
    in older ones, which were not.
    """

    url: str
    host: str
    captures: list[CaptureLine]
    segments: int
    has_older: bool


def captures_of_page(db: Database, layout: Layout, url: str, *, limit: int = 100) -> CapturesOfPage:
    """Return the newest captures of a URL, including those that are not distributed.

    Raises UrlError.
    """
    url = canonical(url)
    host = host_of(url)
    with db.read() as tx:
        keys = archive_hosts.newest_segments_of(tx, host, SEGMENTS_MOST + 1)
    read = keys[:SEGMENTS_MOST]
    files = [path for path in map(layout.index_file, read) if path.is_file()]
    most = max(1, min(limit, CAPTURES_MOST))
    captures = list_captures(files, host, url, most, MEMORY_BYTES, layout.spool) if files else []
    return CapturesOfPage(url, host, captures, len(files), len(keys) > SEGMENTS_MOST)

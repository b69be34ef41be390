"""Captures of one URL, read from the indexes of the segments that hold its host."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from manager.store.connections import kept_connection
from shared.frozen import frozen
from shared.urls import reversed_host_key

__all__ = ["CaptureLine", "list_captures"]

# An index is sorted by `urlkey`, so that few row groups are read.
_LIST: Final = """
SELECT fetched_ms, status, coalesce(mime, ''), body_bytes, coalesce(digest, ''),
    coalesce(truncated, ''), refers_to_url IS NOT NULL, coalesce(reason, ''), filename, "offset"
FROM read_parquet($files)
WHERE urlkey = $urlkey AND host = $host AND url = $url
ORDER BY fetched_ms DESC, filename, "offset"
LIMIT $most
"""


@frozen
class CaptureLine:
    """A capture. digest: of the body. withheld: the reason; empty: third parties may have it.

    truncated: why the body is cut; empty: it is whole. segment, offset: the place of its record.
    """

    fetched_ms: int
    status: int | None
    mime: str
    body_bytes: int
    digest: str
    truncated: str
    is_revisit: bool
    withheld: str
    segment: str
    offset: int


def list_captures(
    indexes: Sequence[Path], host: str, url: str, most: int, memory_bytes: int, spill: Path
) -> list[CaptureLine]:
    """Return the newest captures of a canonical URL on a host; indexes: at least one."""
    given = {
        "files": [str(path) for path in indexes],
        "urlkey": reversed_host_key(url),
        "host": host,
        "url": url,
        "most": most,
    }
    with kept_connection(memory_bytes, spill) as connection:
        return [CaptureLine(*row) for row in connection.execute(_LIST, given).fetchall()]

"""Captures of one host by the conditions of a request, read from the indexes of its segments.

Invariant: memory is bounded by DuckDB's limit and by `KEPT_ROWS`; a selection that is larger is
asked for again for each pass, and gives the same rows in the same order: that of the files.
A row has where its body is: for a revisit that is another capture, which the index must know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import duckdb

from manager.store.connections import connect
from manager.store.errors import StoreError
from shared.frozen import frozen
from shared.urls import reversed_host_key

__all__ = ["CaptureSelection", "Conditions", "Picked", "Row"]

KEPT_ROWS: Final = 20_000
ROWS_AT_ONCE: Final = 2_000
_LATEST_MS: Final = 2**62


@frozen
class Conditions:
    """Conditions on a host's captures. Times: since is inclusive, until is not; ms since 1970.

    updated_since_ms: Last-Modified, else when the body was first seen; None: whenever.
    newest: of each URL only the newest answer with a body, as the source's layout holds one.
    one_of_each: of captures with one fingerprint only the first; of equal bodies, too.
    """

    url: str = ""
    since_ms: int = 0
    until_ms: int = _LATEST_MS
    updated_since_ms: int | None = None
    newest: bool = True
    one_of_each: bool = False


@frozen
class Row:
    """A capture that was picked. body_*: of the capture that has its body, itself or another.

    inside: whether a revisit's original was picked as well; True where it is no revisit.
    """

    url: str
    fetched_ms: int
    modified_ms: int
    body_bytes: int
    mime: str
    segment: str
    offset: int
    length: int
    body_segment: str
    body_offset: int
    body_length: int
    is_revisit: bool
    inside: bool


_PICK: Final = """
WITH rows AS MATERIALIZED (
    SELECT *, min(fetched_ms) OVER (PARTITION BY url, digest) AS first_seen
    FROM read_parquet($files)
    WHERE urlkey >= $low AND urlkey < $high AND list_contains($hosts, host)
), originals AS (
    SELECT * FROM rows WHERE refers_to_url IS NULL
    QUALIFY row_number() OVER (
        PARTITION BY url, fetched_ms ORDER BY filename, capture_offset) = 1
), wanted AS (
    SELECT * FROM rows
    WHERE starts_with(url, $url) AND fetched_ms >= $since AND fetched_ms < $until
      AND ($updated IS NULL
           OR CASE WHEN modified_ms > 0 THEN modified_ms ELSE first_seen END >= $updated)
      AND (NOT $newest OR status BETWEEN 200 AND 299 OR refers_to_url IS NOT NULL)
), whole AS (
    SELECT w.url, w.fetched_ms, w.status, w.filename, w.capture_offset, w.capture_length,
           w.refers_to_url IS NOT NULL AS is_revisit,
           coalesce(nullif(w.modified_ms, 0), o.modified_ms, 0) AS modified_ms,
           coalesce(o.body_bytes, w.body_bytes) AS body_bytes,
           coalesce(o.mime, w.mime) AS mime,
           coalesce(o.filename, w.filename) AS body_file,
           coalesce(o.capture_offset, w.capture_offset) AS body_offset,
           coalesce(o.capture_length, w.capture_length) AS body_length,
           coalesce(o.simhash, w.simhash) AS simhash, coalesce(o.digest, w.digest) AS body_digest,
           o.fetched_ms AS original_ms, o.url AS original_url
    FROM wanted w LEFT JOIN originals o
        ON w.refers_to_url = o.url AND w.refers_to_ms = o.fetched_ms
    WHERE w.refers_to_url IS NULL OR o.url IS NOT NULL
), picked AS (
    SELECT * FROM whole
    QUALIFY NOT $newest OR row_number() OVER (
        PARTITION BY url ORDER BY fetched_ms DESC, filename, capture_offset) = 1
), each_one AS (
    SELECT * FROM picked
    QUALIFY NOT $one_of_each OR row_number() OVER (
        PARTITION BY coalesce(CAST(simhash AS VARCHAR), body_digest)
        ORDER BY length(url), url, fetched_ms) = 1
)
SELECT url, fetched_ms, modified_ms, body_bytes, mime, filename, capture_offset, capture_length,
       body_file, body_offset, body_length, is_revisit,
       NOT is_revisit OR EXISTS (
           SELECT 1 FROM each_one i
           WHERE i.url = e.original_url AND i.fetched_ms = e.original_ms AND NOT i.is_revisit)
FROM each_one e
ORDER BY filename, capture_offset
"""


class CaptureSelection:
    """A DuckDB for one selection; used by one thread at a time. Close it."""

    def __init__(self, memory_bytes: int, spill: Path) -> None:
        self._connection = connect(memory_bytes, spill)

    def close(self) -> None:
        """Close the DuckDB."""
        self._connection.close()

    def pick(self, indexes: Sequence[Path], hosts: Sequence[str], asked: Conditions) -> Picked:
        """Return what fits of the hosts with one name and port, in their segments' indexes."""
        keys = [reversed_host_key(host).removesuffix("/") for host in hosts]
        given = {
            "files": [str(path) for path in indexes],
            "low": min(keys),
            "high": max(key[:-1] + "*" for key in keys),  # what sorts behind the closing bracket
            "hosts": list(hosts),
            "url": asked.url,
            "since": asked.since_ms,
            "until": asked.until_ms,
            "updated": asked.updated_since_ms,
            "newest": asked.newest,
            "one_of_each": asked.one_of_each,
        }
        return Picked(self._connection, given)


class Picked:
    """The rows that were picked; may be iterated any number of times, one after the other."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, given: dict[str, Any]) -> None:
        self._connection = connection
        self._given = given
        with _readable():
            rows = connection.execute(_PICK, given).fetchmany(KEPT_ROWS + 1)
        self._kept = [Row(*row) for row in rows] if len(rows) <= KEPT_ROWS else None
        self.none = not rows

    def __iter__(self) -> Iterator[Row]:
        """Give the rows."""
        if self._kept is not None:
            yield from self._kept
            return
        cursor = self._connection.cursor()
        try:
            with _readable():
                found = cursor.execute(_PICK, self._given)
            while rows := _next_rows(found):
                for row in rows:
                    yield Row(*row)
        finally:
            cursor.close()


def _next_rows(found: duckdb.DuckDBPyConnection) -> list[Any]:
    with _readable():
        return found.fetchmany(ROWS_AT_ONCE)


@contextmanager
def _readable() -> Iterator[None]:
    """Translate errors of unreadable indexes; one may vanish while it is read."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise StoreError("archive.host_memory") from error
    except duckdb.IOException as error:
        raise StoreError("archive.index_unreadable", why=str(error)[:200]) from error

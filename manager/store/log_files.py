"""Crawl logs as Parquet files, and what DuckDB sums up of them.

One file a log, one row a line, in order. Invariant: a file appears when it is complete and synced;
memory is bounded by `ROWS_AT_ONCE` and `BYTES_AT_ONCE` while writing and by DuckDB's limit while
summing, whatever the log's length. Columns are those of `SCHEMA`; numbers are bytes and
milliseconds as the agent counted them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from manager.store.durable import full_disk_said, move, open_new

__all__ = ["SCHEMA", "LogFile", "LogRow", "PathSum", "read_sums"]

ROWS_AT_ONCE: Final = 50_000
BYTES_AT_ONCE: Final = 32 * 1024**2  # of URLs and headers; one line may have half a megabyte

SCHEMA: Final = pa.schema(
    [
        ("line", pa.int64()),  # as the sender counts: the name's line is 1
        ("url", pa.string()),  # canonical
        ("host", pa.string()),  # host key, port explicit
        ("path", pa.string()),  # with the query
        ("status", pa.int16()),  # null: no answer
        ("request_bytes", pa.int64()),
        ("response_bytes", pa.int64()),
        ("elapsed_ms", pa.int64()),
        ("headers", pa.binary()),  # as received
        ("round", pa.int64()),
        ("kind", pa.string()),  # probe or crawl
        ("held", pa.bool_()),  # false: quarantined
    ]
)
"""One row, as `LogRow` gives it."""

LogRow = tuple[int, str, str, str, int | None, int, int, int, bytes, int, str, bool]


class LogFile:
    """A Parquet file that is being written; a context that leaves the whole file or nothing."""

    def __init__(self, part: Path, target: Path) -> None:
        """part: a name in the same file system for the time until the file is complete."""
        self._part = part
        self._target = target
        self._rows: list[LogRow] = []
        self._bytes = 0

    def __enter__(self) -> LogFile:
        with full_disk_said(self._part.parent):
            self._file = open_new(self._part)
            self._writer = pq.ParquetWriter(self._file, SCHEMA, compression="zstd")
        return self

    def add(self, row: LogRow) -> None:
        """Write one line."""
        self._rows.append(row)
        self._bytes += len(row[1]) + len(row[3]) + len(row[8])
        if len(self._rows) >= ROWS_AT_ONCE or self._bytes >= BYTES_AT_ONCE:
            self._write_rows()

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            with full_disk_said(self._part.parent):
                if kind is None:
                    self._write_rows()
                self._writer.close()
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()
                if kind is None:
                    move(self._part, self._target)
        finally:
            self._file.close()
            self._part.unlink(missing_ok=True)

    def _write_rows(self) -> None:
        if not self._rows:
            return
        columns = zip(*self._rows, strict=True)
        arrays = [
            pa.array(column, type=field.type) for column, field in zip(columns, SCHEMA, strict=True)
        ]
        with full_disk_said(self._part.parent):
            self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA))
        self._rows.clear()
        self._bytes = 0


@dataclass(frozen=True, slots=True)
class PathSum:
    """What the lines of one log say of a host, or of one of its directories, together."""

    host: str
    directory: str | None  # `/~koji/`; None: the whole host
    round: int
    kind: str  # probe or crawl
    held: bool
    lines: int
    answered: int  # lines with a status
    request_bytes: int
    response_bytes: int
    elapsed_ms: int
    answered_ms: int  # elapsed_ms of the answered lines only


DIRECTORIES_OF: Final = 1000
"""A host with so many lines is big: only its directories may ever be units of their own."""

_SUMS: Final = r"""
WITH lines AS (
    SELECT host, round, kind, held, status, request_bytes, response_bytes, elapsed_ms,
           regexp_extract(path, '^/[^/?]*/') AS directory
    FROM read_parquet(?)
), sums AS (
    SELECT host, directory, round, kind, held,
           grouping(directory) AS whole,
           count(*) AS lines,
           count(status) AS answered,
           sum(request_bytes)::HUGEINT AS request_bytes,
           sum(response_bytes)::HUGEINT AS response_bytes,
           sum(elapsed_ms)::HUGEINT AS elapsed_ms,
           coalesce(sum(elapsed_ms) FILTER (status IS NOT NULL), 0)::HUGEINT AS answered_ms
    FROM lines
    GROUP BY GROUPING SETS ((host, round, kind, held), (host, directory, round, kind, held))
)
SELECT host, CASE WHEN whole = 1 THEN NULL ELSE directory END, round, kind, held, lines, answered,
       request_bytes, response_bytes, elapsed_ms, answered_ms
FROM sums
WHERE whole = 1 OR directory <> ''
QUALIFY whole = 1 OR max(lines) OVER (PARTITION BY host, round, kind, held) >= ?
ORDER BY ALL
"""


def read_sums(path: Path, *, memory_bytes: int, spill: Path) -> Iterator[PathSum]:
    """Yield the sums of each host, and of each top directory of big hosts, in one pass.

    spill: a folder for what does not fit in memory_bytes.
    """
    with _duckdb(memory_bytes, spill) as connection:
        found = connection.execute(_SUMS, [str(path), DIRECTORIES_OF])
        while rows := found.fetchmany(10_000):
            for row in rows:
                yield PathSum(*row)


def _duckdb(memory_bytes: int, spill: Path) -> duckdb.DuckDBPyConnection:
    config: dict[str, Any] = {
        "memory_limit": f"{memory_bytes}B",
        "temp_directory": str(spill),
        "threads": 1,  # the worker is one process of several, and one of them is the crawl's
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    return duckdb.connect(config=config)

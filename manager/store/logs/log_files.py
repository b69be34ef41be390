"""Crawl logs as Parquet files, and what DuckDB sums up of them.

One file a log, one row a line, in order. Invariant: a file appears when it is complete and synced;
memory is bounded by `ROWS_AT_ONCE` and `BYTES_AT_ONCE` while writing and by DuckDB's limit while
summing, whatever the log's length. Columns are those of `SCHEMA`; numbers are bytes and
milliseconds as the agent counted them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from manager.distance.line_sums import UnitSum
from manager.distance.spread import BINS_AN_OCTAVE, LEAST_MS_PER_KB
from manager.store.connections import kept_connection, records
from manager.store.durable_files import full_disk_said, move, open_new
from manager.store.logs.log_errors import IS_ERROR
from shared.frozen import frozen

__all__ = [
    "NO_BOUNDS",
    "SCHEMA",
    "WRITTEN",
    "LineBounds",
    "LogFile",
    "LogRow",
    "read_sums",
]

ROWS_AT_ONCE: Final = 50_000
BYTES_AT_ONCE: Final = 32 * 1024**2  # of URLs and headers; one line may have half a megabyte
VALUES_AT_ONCE: Final = 16_384  # given to an encoder: a fifth less time than the thousand of Arrow

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
        ("kind", pa.string()),  # probe, crawl or refetch
        ("held", pa.bool_()),  # false: quarantined
        ("unit", pa.string()),  # the unit it was held as; null: quarantined
    ]
)
"""One row, as `LogRow` gives it."""

REPEATED: Final = ["host", "status", "round", "kind", "held", "unit"]
"""Columns with few values. The others differ in nearly every line: a dictionary would only cost."""

_WORD: Final = pa.dictionary(pa.int32(), pa.string())
WRITTEN: Final = pa.schema(
    [
        field.with_type(_WORD) if field.name in ("host", "kind", "unit") else field
        for field in SCHEMA
    ]
)
"""The same while it is written: the words that repeat by number, so that nothing looks for them."""

NUMBERS: Final = ("line", "request_bytes", "response_bytes", "elapsed_ms")

LogRow = tuple[int, str, str, str, int | None, int, int, int, bytes, int, str, bool, str | None]


class LogFile:
    """A Parquet file that is being written; a context that leaves the whole file or nothing."""

    def __init__(self, part: Path, target: Path) -> None:
        """part: a name in the same file system for the time until the file is complete."""
        self._part = part
        self._target = target
        self._rows: list[LogRow] = []
        self._batches: list[pa.RecordBatch] = []
        self._lines = 0
        self._bytes = 0

    def __enter__(self) -> LogFile:
        with full_disk_said(self._part.parent):
            self._file = open_new(self._part)
            self._writer = pq.ParquetWriter(
                self._file,
                WRITTEN,
                compression="zstd",
                use_dictionary=REPEATED,
                write_statistics=REPEATED,
                column_encoding=dict.fromkeys(NUMBERS, "DELTA_BINARY_PACKED"),
                write_batch_size=VALUES_AT_ONCE,
                store_schema=False,  # whoever reads it with Arrow gets the columns of `SCHEMA`
            )
        return self

    def add(self, row: LogRow) -> None:
        """Write one line."""
        self._rows.append(row)
        self._count(1, len(row[1]) + len(row[3]) + len(row[8]))

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Write lines behind one another, in the columns of `WRITTEN`."""
        self._gather_rows()
        self._batches.append(batch)
        self._count(batch.num_rows, batch.nbytes)

    def _count(self, lines: int, size_bytes: int) -> None:
        self._lines += lines
        self._bytes += size_bytes
        if self._lines >= ROWS_AT_ONCE or self._bytes >= BYTES_AT_ONCE:
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

    def _gather_rows(self) -> None:
        if not self._rows:
            return
        columns = zip(*self._rows, strict=True)
        arrays = [
            pa.array(column, type=field.type)
            for column, field in zip(columns, WRITTEN, strict=True)
        ]
        self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=WRITTEN))
        self._rows.clear()

    def _write_rows(self) -> None:
        self._gather_rows()
        if self._batches:
            with full_disk_said(self._part.parent):
                table = pa.Table.from_batches(self._batches, WRITTEN)
                self._writer.write_table(table.unify_dictionaries())
        self._batches.clear()
        self._lines = self._bytes = 0


@frozen
class LineBounds:
    """Bounds of one line; a line beyond them is kept, and set apart in all sums.

    size_bytes: of an answer. elapsed_ms: of a request. ms_per_kb: least, by default a gigabyte a
    second; 0 ms count as 1.
    """

    size_bytes: int
    elapsed_ms: int
    ms_per_kb: float = LEAST_MS_PER_KB


NO_BOUNDS: Final = LineBounds(2**62, 2**62, 0.0)


_SUMS: Final = rf"""
WITH lines AS (
    SELECT unit, round, kind,
           CASE WHEN response_bytes > 0 THEN CAST(floor(
               $octave * log2(greatest(elapsed_ms * 1000.0 / response_bytes, $least))
           ) AS INTEGER) END AS bin,
           coalesce(status BETWEEN 200 AND 299 AND path <> '/robots.txt', false) AS is_page,
           {IS_ERROR} AS is_error,
           path = '/robots.txt' AS is_robots,
           request_bytes, response_bytes, elapsed_ms,
           response_bytes > $most_bytes OR elapsed_ms > $most_ms
               OR response_bytes * $quickest > 1000.0 * greatest(elapsed_ms, 1) AS odd
    FROM read_parquet($path)
    WHERE held AND kind <> 'refetch'
), bins AS (
    SELECT unit, round, kind, bin, count(*) AS lines
    FROM lines WHERE bin IS NOT NULL AND NOT odd
    GROUP BY ALL
), spreads AS (
    SELECT unit, round, kind, string_agg(bin || ':' || lines, ' ' ORDER BY bin) AS spread
    FROM bins
    GROUP BY ALL
), parts AS (  -- odd lines by themselves: a filter on each sum would cost as much as the sums
    SELECT unit, round, kind, odd,
           count(*) AS requests,
           count(*) FILTER (is_page) AS pages,
           count(*) FILTER (is_error) AS errors,
           count(*) FILTER (is_robots) AS robots,
           sum(request_bytes) AS request_bytes,
           sum(response_bytes) AS response_bytes,
           sum(elapsed_ms) AS ms,
           count(*) FILTER (response_bytes = 0) AS failed,
           max(elapsed_ms) AS slowest_ms,
           arg_max(response_bytes, elapsed_ms) AS slowest_bytes
    FROM lines
    GROUP BY unit, round, kind, odd
), sums AS (
    SELECT unit, round, kind,
           coalesce(sum(requests) FILTER (NOT odd), 0)::BIGINT AS requests,
           coalesce(sum(pages) FILTER (NOT odd), 0)::BIGINT AS pages,
           coalesce(sum(errors) FILTER (NOT odd), 0)::BIGINT AS errors,
           coalesce(sum(request_bytes) FILTER (NOT odd), 0)::BIGINT AS request_bytes,
           coalesce(sum(response_bytes) FILTER (NOT odd), 0)::BIGINT AS response_bytes,
           coalesce(sum(ms) FILTER (NOT odd), 0)::BIGINT AS ms,
           coalesce(sum(failed) FILTER (NOT odd), 0)::BIGINT AS failed,
           coalesce(max(slowest_ms) FILTER (NOT odd), 0) AS slowest_ms,
           coalesce(max(slowest_bytes) FILTER (NOT odd), 0) AS slowest_bytes,
           coalesce(sum(requests) FILTER (odd), 0)::BIGINT AS odd_lines,
           coalesce(sum(response_bytes) FILTER (odd), 0)::BIGINT AS odd_bytes,
           coalesce(sum(ms) FILTER (odd), 0)::BIGINT AS odd_ms,
           sum(robots)::BIGINT AS robots_lines
    FROM parts
    GROUP BY unit, round, kind
)
SELECT sums.*, coalesce(spread, '') AS spread
FROM sums LEFT JOIN spreads USING (unit, round, kind)
ORDER BY unit, round, kind
"""  # noqa: S608  # a constant of ours


def read_sums(
    path: Path, *, memory_bytes: int, spill: Path, bounds: LineBounds = NO_BOUNDS
) -> Iterator[UnitSum]:
    """Yield the sums of each unit, in one pass.

    bounds: lines beyond them are set apart. spill: a folder for what does not fit in memory_bytes.
    """
    with kept_connection(memory_bytes, spill) as connection:
        found = connection.execute(
            _SUMS,
            {
                "path": str(path),
                "octave": BINS_AN_OCTAVE,
                "least": LEAST_MS_PER_KB,
                "most_bytes": bounds.size_bytes,
                "most_ms": bounds.elapsed_ms,
                "quickest": bounds.ms_per_kb,
            },
        )
        yield from records(found, UnitSum)

"""The capture index: a Parquet file beside each segment, sorted by reversed host, URL and time.

Columns are those of `SCHEMA`. Invariants: a file appears whole; memory is bounded while rows are
written and by DuckDB's limit while they are sorted. `offset` and `length` are of the response or
revisit record, as in a CDXJ; `capture_offset` and `capture_length` also cover its request.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.parquet as pq

from manager.store.connections import connect, records
from manager.store.durable_files import full_disk_said, open_new, sync_file
from shared.archive.segment_facts import HostShare
from shared.frozen import frozen

__all__ = [
    "SCHEMA",
    "HostSum",
    "IndexRow",
    "RowsFile",
    "read_rows",
    "rows_in_file_order",
    "sort_rows",
    "sums_of_hosts",
]

ROWS_AT_ONCE: Final = 20_000
GROUP_ROWS: Final = 20_000
"""A row group: what a reader of one host takes at least."""

SCHEMA: Final = pa.schema(
    [
        ("urlkey", pa.string()),  # reversed host, bracket, path: jp,example,www)/page
        ("host", pa.string()),  # host key, port explicit: http://www.example.jp:80/
        ("url", pa.string()),
        ("fetched_ms", pa.int64()),
        ("status", pa.int16()),  # null: the answer had none
        ("mime", pa.string()),
        ("digest", pa.string()),  # of the payload; "" in a revisit that has none
        ("truncated", pa.string()),  # why the body is cut; null: it is whole
        ("refers_to_url", pa.string()),  # null: not a revisit
        ("refers_to_ms", pa.int64()),
        ("modified_ms", pa.int64()),  # Last-Modified; 0: not told
        ("body_bytes", pa.int64()),  # without content encoding
        ("simhash", pa.uint64()),  # of the text; null: too little of it
        ("reason", pa.string()),  # why it is not given away; null: it is
        ("offset", pa.int64()),
        ("length", pa.int64()),
        ("capture_offset", pa.int64()),
        ("capture_length", pa.int64()),
    ]
)
_COLUMNS: Final = ", ".join(f'"{name}"' for name in SCHEMA.names)
# Only names of columns are put into these texts; values are given apart.
_IN_FILE_ORDER: Final = f"""
SELECT {_COLUMNS} FROM read_parquet($source)
WHERE NOT list_contains($without, host) ORDER BY capture_offset
"""  # noqa: S608
_SORTED: Final = f"""
SELECT {_COLUMNS}, $name AS filename FROM read_parquet($source)
ORDER BY urlkey, fetched_ms, capture_offset
"""  # noqa: S608


@frozen
class IndexRow:
    """One capture, as `SCHEMA` says."""

    urlkey: str
    host: str
    url: str
    fetched_ms: int
    status: int | None
    mime: str
    digest: str
    truncated: str | None
    refers_to_url: str | None
    refers_to_ms: int | None
    modified_ms: int
    body_bytes: int
    simhash: int | None
    reason: str | None
    offset: int
    length: int
    capture_offset: int
    capture_length: int


@frozen
class HostSum(HostShare):
    """A segment's captures of one host, with the host's key."""

    host: str


class RowsFile:
    """Rows in the order of a segment, on their way to be sorted; a context."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[tuple[Any, ...]] = []
        self.count = 0

    def __enter__(self) -> Self:
        with full_disk_said(self._path.parent):
            self._file = open_new(self._path)
            self._writer = pq.ParquetWriter(self._file, SCHEMA, compression="zstd")
        return self

    def add(self, row: IndexRow) -> None:
        """Write one row."""
        self.count += 1
        self._rows.append(astuple(row))
        if len(self._rows) >= ROWS_AT_ONCE:
            self._write()

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            with full_disk_said(self._path.parent):
                if kind is None:
                    self._write()
                self._writer.close()
        finally:
            self._file.close()

    def _write(self) -> None:
        if not self._rows:
            return
        columns = zip(*self._rows, strict=True)
        arrays = [
            pa.array(column, type=field.type) for column, field in zip(columns, SCHEMA, strict=True)
        ]
        with full_disk_said(self._path.parent):
            self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA))
        self._rows.clear()


def read_rows(path: Path) -> Iterator[IndexRow]:
    """Yield the rows of a file in its order."""
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(ROWS_AT_ONCE, columns=SCHEMA.names):
            columns = [column.to_pylist() for column in batch.columns]
            for values in zip(*columns, strict=True):
                yield IndexRow(*values)


def rows_in_file_order(source: Path, target: Path, memory_bytes: int, without: list[str]) -> None:
    """Write the rows of an index in the order of its segment, without those of some hosts."""
    _copy(source, target, _IN_FILE_ORDER, memory_bytes, {"without": without})


def sort_rows(source: Path, target: Path, filename: str, memory_bytes: int) -> None:
    """Write the index of a segment from its rows, with the segment's name as a last column."""
    _copy(source, target, _SORTED, memory_bytes, {"name": filename})


def sums_of_hosts(index: Path, memory_bytes: int) -> list[HostSum]:
    """Return what an index holds of each host."""
    with connect(memory_bytes, index.parent) as connection:
        found = connection.execute(
            "SELECT host, count(*) AS captures, sum(capture_length)::BIGINT AS bytes, "
            "min(fetched_ms) AS first_ms, max(fetched_ms) AS last_ms "
            "FROM read_parquet($source) GROUP BY host ORDER BY host",
            {"source": str(index)},
        )
        return list(records(found, HostSum))


def _copy(source: Path, target: Path, select: str, memory_bytes: int, given: Any) -> None:
    named = str(target).replace("'", "''")
    query = (
        f"COPY ({select}) TO '{named}' (FORMAT parquet, CODEC 'zstd', ROW_GROUP_SIZE {GROUP_ROWS})"
    )
    with full_disk_said(target.parent), connect(memory_bytes, target.parent) as connection:
        connection.execute(query, {"source": str(source), **given})
    sync_file(target)

"""Summary of an index: name, kind and hosts of its segment, for a row that is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa

from manager.store.connections import connect
from manager.store.segments.segment_examination import STRANGER
from manager.store.segments.segment_index import SCHEMA, HostSum, sums_of_hosts
from manager.store.segments.segment_parts import PartKind
from shared.frozen import frozen

__all__ = ["IndexSummary", "summary_of"]

_COUNTS: Final = ", ".join(f'count("{name}")' for name in SCHEMA.names)
# Only names of columns are put into this text; each of them is read.
_SUMMARY: Final = f"""
SELECT min(filename), max(filename), count(*), count(reason), count_if(reason = $stranger),
    max(capture_offset + capture_length), {_COUNTS}
FROM read_parquet($source)
"""  # noqa: S608


@frozen
class IndexSummary:
    """A segment by its index. end: where its last capture ends, in bytes."""

    name: str
    kind: PartKind
    hosts: tuple[HostSum, ...]
    end: int


def summary_of(index: Path, memory_bytes: int) -> IndexSummary | None:
    """Return what an index says; None where it is missing, damaged, or of no capture."""
    if not index.is_file():
        return None
    try:
        with connect(memory_bytes, index.parent) as connection:
            found = connection.execute(
                _SUMMARY, {"source": str(index), "stranger": STRANGER}
            ).fetchone()
        assert found is not None, "an aggregate has a row"
        first, last, captures, withheld, strangers, end = found[:6]
        if not captures or first != last:
            return None
        kind: PartKind = "quarantined" if strangers else "withheld" if withheld else "public"
        return IndexSummary(str(first), kind, tuple(sums_of_hosts(index, memory_bytes)), int(end))
    except (duckdb.Error, pa.ArrowException, OSError):
        return None

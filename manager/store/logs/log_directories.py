"""Sums of a big host by directory, to split it by.

A directory has the lines of the pages that lie in it and in none of those named below it. The tree
of a host is as deep as it must be, and no deeper: a directory is named if it holds a 500th of the
host's lines in the log, and ten; what is smaller counts for the directory around it. So however
hostile the paths are, a host has at most 500 directories of each depth, and a log no more than a
tenth of its lines times `DEPTH`. Query and fragment are no part of a path's directories.
Invariant: the sums of a host's directories together are those of its held lines, but for lines that
say what no line can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from manager.distance.line_sums import COUNTS, DirectorySum
from manager.store.connections import kept_connection, records
from manager.store.logs.log_errors import IS_ERROR
from manager.store.logs.log_files import NO_BOUNDS, LineBounds

__all__ = ["BIG_HOST_LINES", "read_directories"]

BIG_HOST_LINES: Final = 1000
"""A host with so many lines is big: only its directories may ever be separate units."""

LEAST_SHARE: Final = 0.002
LEAST_LINES: Final = 10
DEPTH: Final = 8
"""Directories below `/`: deeper trees are rare, and a piece need not be cut finer."""

LONGEST: Final = 500
"""Characters: pages in a longer directory count for the one around it."""


_TOTALS: Final = ", ".join(f"sum({name})::BIGINT AS {name}" for name in COUNTS)
_OWN: Final = ", ".join(f"t.{name} - coalesce(i.{name}, 0) AS {name}" for name in COUNTS)

_DIRECTORIES: Final = rf"""
WITH big AS (
    SELECT host
    FROM read_parquet($path)
    WHERE held AND kind <> 'refetch'
    GROUP BY host
    HAVING count(*) >= $big OR list_contains($hosts, host)
), leaves AS (
    SELECT host, regexp_extract(left(path, {LONGEST}), '^[^?]*/') AS leaf, round, kind,
           count(*) AS requests,
           count(*) FILTER (
               coalesce(status BETWEEN 200 AND 299 AND path <> '/robots.txt', false)
           ) AS pages,
           count(*) FILTER ({IS_ERROR}) AS errors,
           sum(request_bytes)::BIGINT AS request_bytes,
           sum(response_bytes)::BIGINT AS response_bytes,
           sum(elapsed_ms)::BIGINT AS ms
    FROM read_parquet($path)
    WHERE held AND kind <> 'refetch' AND host IN (SELECT host FROM big)
        AND NOT (response_bytes > $most_bytes OR elapsed_ms > $most_ms
            OR response_bytes * $quickest > 1000.0 * greatest(elapsed_ms, 1))
    GROUP BY ALL
), sized AS (
    SELECT * EXCLUDE (leaf), string_split(leaf, '/')[:-2] AS names,
           sum(requests) OVER (PARTITION BY host) AS of_host
    FROM leaves
), deep AS (
    SELECT * EXCLUDE (names, depth), names[:depth] AS names
    FROM sized, range(1, {DEPTH + 2}) AS depths(depth)
    WHERE depth <= len(names)
), totals AS (
    SELECT host, round, kind, names, {_TOTALS}
    FROM deep
    GROUP BY host, round, kind, names
    HAVING len(names) = 1
        OR sum(requests) >= greatest({LEAST_LINES}, any_value(of_host) * {LEAST_SHARE})
), inside AS (
    SELECT host, round, kind, names[:-2] AS names, {_TOTALS}
    FROM totals
    WHERE len(names) > 1
    GROUP BY host, round, kind, names[:-2]
)
SELECT t.host, array_to_string(t.names, '/') || '/' AS path, t.round, t.kind, {_OWN}
FROM totals AS t LEFT JOIN inside AS i USING (host, round, kind, names)
WHERE t.requests > coalesce(i.requests, 0)
ORDER BY t.host, path, t.round, t.kind
"""  # noqa: S608  # our own names and numbers


def read_directories(
    path: Path,
    hosts: Sequence[str],
    *,
    memory_bytes: int,
    spill: Path,
    bounds: LineBounds = NO_BOUNDS,
) -> Iterator[DirectorySum]:
    """Yield the directories of the big hosts of a log, by host and path.

    hosts: those that are big by what earlier logs said. spill: a folder for what does not fit in
    memory_bytes. bounds: lines beyond them count in no directory.
    """
    with kept_connection(memory_bytes, spill) as connection:
        found = connection.execute(
            _DIRECTORIES,
            {
                "path": str(path),
                "big": BIG_HOST_LINES,
                "hosts": list(hosts),
                "quickest": bounds.ms_per_kb,
                "most_bytes": bounds.size_bytes,
                "most_ms": bounds.elapsed_ms,
            },
        )
        yield from records(found, DirectorySum)

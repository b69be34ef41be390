"""The crawl logs of one agent as one text file: `URL volume time`, sorted by URL.

A line a URL: KBytes of 1,000 bytes, exact to the byte, and milliseconds, both summed over the
requests for it. Of each unit only its newest measurement counts (the highest round; of one round
the crawl, with the probe that it continued), which is what the unit's distance is made from: so sum
of time / sum of volume over a unit's lines is its distance, as the source's own scripts compute it.
Quarantined lines are left out; a page that was fetched as part of a host and as part of its
directory, as hosts are split and merged, counts by its last fetch.
Invariant: memory is bounded by DuckDB's limit, whatever the number of lines.
Source: seed 004, section 5.2.2, step 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from manager.store.connections import connect

__all__ = ["merge_logs"]

_MERGED: Final = r"""
COPY (
    WITH probed AS (
        SELECT unnest($units::VARCHAR[]) AS unit, unnest($rounds::BIGINT[]) AS round
    ), lines AS (
        SELECT url, l.unit, response_bytes, elapsed_ms,
            l.round * 2 + (kind = 'crawl' OR p.unit IS NOT NULL)::INTEGER AS age
        FROM read_parquet($paths) AS l LEFT JOIN probed AS p ON l.unit = p.unit
            AND l.round = p.round
        WHERE held AND kind <> 'refetch'
    ), newest AS (
        SELECT unit, max(age) AS age FROM lines GROUP BY unit
    ), urls AS (
        SELECT url, age, sum(response_bytes)::BIGINT AS bytes, sum(elapsed_ms)::BIGINT AS ms
        FROM lines JOIN newest USING (unit, age)
        GROUP BY url, age
    ), last AS (
        SELECT url, arg_max(bytes, age) AS bytes, arg_max(ms, age) AS ms FROM urls GROUP BY url
    )
    SELECT printf('%s %d.%03d %d', url, bytes // 1000, bytes % 1000, ms)
    FROM last
    ORDER BY url
) TO '{target}' (FORMAT csv, HEADER false, DELIMITER '\t', QUOTE '', ESCAPE '')
"""


def merge_logs(
    paths: Sequence[Path],
    target: Path,
    *,
    memory_bytes: int,
    spill: Path,
    probed: Sequence[tuple[str, int]] = (),
) -> None:
    """Write the file of some logs; without logs it is empty.

    probed: (unit, round) of probes that count as part of their crawls. spill: a folder for what
    does not fit in memory_bytes.
    """
    if not paths:
        target.touch(mode=0o600)
        return
    with connect(memory_bytes, spill) as connection:
        query = _MERGED.format(target=str(target).replace("'", "''"))
        connection.execute(
            query,
            {
                "paths": [str(path) for path in paths],
                "units": [unit for unit, _ in probed],
                "rounds": [number for _, number in probed],
            },
        )

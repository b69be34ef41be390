"""Hosts that show what other hosts show, from the fingerprints in the indexes.

Two hosts are mirrors where a large share of the pages of the smaller one has, on the other, a page
with the same path and nearly the same text (3 of 64 bits), or the same bytes. Fingerprints are cut
into four bands of 16 bits: two that differ in at most 3 bits agree in one of them, so none is
missed, and only those that agree in one are compared.
Source: Manku, Jain, Das Sarma (2007), section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from manager.store.connections import connect
from shared.frozen import frozen

__all__ = ["Mirror", "find_mirrors"]

MOST_BITS: Final = 3
LEAST_PAGES: Final = 3
"""Of the smaller host: one page alike is chance, or the web server's first page."""


@frozen
class Mirror:
    """Two hosts, and how many pages of the first, which has fewer, the second one has too."""

    host: str
    of: str
    pages: int
    alike: int


_FIND: Final = """
WITH newest AS MATERIALIZED (
    SELECT host, url, substr(url, instr(substr(url, 9), '/') + 8) AS path, digest, simhash
    FROM read_parquet($files)
    WHERE status = 200 AND refers_to_url IS NULL AND digest <> ''
      AND NOT list_contains($without, host)
    QUALIFY row_number() OVER (PARTITION BY host, url ORDER BY fetched_ms DESC) = 1
), sizes AS (
    SELECT host, count(*) AS pages FROM newest GROUP BY host
), bands AS (
    SELECT host, path, digest, simhash, b AS band,
           (simhash >> (16 * b)::UTINYINT) & 65535 AS part
    FROM newest, range(4) t(b) WHERE simhash IS NOT NULL
), near AS (
    SELECT DISTINCT x.host, y.host AS other, x.path
    FROM bands x JOIN bands y
        ON x.path = y.path AND x.band = y.band AND x.part = y.part AND x.host <> y.host
    WHERE bit_count(xor(x.simhash, y.simhash)) <= $bits
    UNION
    SELECT DISTINCT x.host, y.host, x.path
    FROM newest x JOIN newest y ON x.path = y.path AND x.digest = y.digest AND x.host <> y.host
), pairs AS (
    SELECT host, other, count(*) AS alike FROM near GROUP BY host, other
)
SELECT p.host, p.other, s.pages, p.alike
FROM pairs p JOIN sizes s ON s.host = p.host JOIN sizes o ON o.host = p.other
WHERE s.pages >= $least AND p.alike >= $share * s.pages
  AND (s.pages < o.pages OR (s.pages = o.pages AND p.host > p.other))
ORDER BY p.alike DESC, p.host, p.other LIMIT $limit
"""


def find_mirrors(
    indexes: Sequence[Path],
    without: Sequence[str],
    share: float,
    limit: int,
    *,
    memory_bytes: int,
    spill: Path,
) -> list[Mirror]:
    """Return pairs of hosts that are mirrors, those with most pages alike first.

    without: host keys that are left out. share: of the smaller host's pages, 0 to 1.
    """
    if not indexes:
        return []
    with connect(memory_bytes, spill) as connection:
        found = connection.execute(
            _FIND,
            {
                "files": [str(path) for path in indexes],
                "without": list(without),
                "bits": MOST_BITS,
                "least": LEAST_PAGES,
                "share": share,
                "limit": limit,
            },
        )
        return [Mirror(*row) for row in found.fetchall()]

"""What one agent's logs say of pages that other agents fetched too.

Of each URL and agent the newest line counts. Compared is what two honest robots see alike from
anywhere: whether there was an answer, its status, and its size within a tenth and 1,000 bytes. Not
compared is what may differ between two moments: 304, 429, and 500 and above. A URL is contradicted
when more agents disagree with the one than agree. Time is not compared: distances differ.
Invariant: memory is bounded by DuckDB's limit, whatever the number of lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from manager.store.log_files import connect

__all__ = ["Comparison", "Contradiction", "compare_logs"]

SIZE_SHARE: Final = 0.1
SIZE_BYTES: Final = 1_000

_SQL: Final = """
WITH lines AS (
    SELECT url, status, response_bytes AS bytes, round, line, filename
    FROM read_parquet($paths, filename = true)
    WHERE held AND (status IS NULL OR NOT (status IN (304, 429) OR status >= 500))
), seen AS (
    SELECT url, agent, last(status ORDER BY round, line) AS status,
           last(bytes ORDER BY round, line) AS bytes
    FROM lines JOIN (SELECT unnest($paths) AS filename, unnest($agents) AS agent) USING (filename)
    GROUP BY url, agent
), pairs AS (
    SELECT url, mine.status AS status, mine.bytes AS bytes,
           theirs.status AS their_status, theirs.bytes AS their_bytes,
           mine.status IS NOT DISTINCT FROM theirs.status
               AND (mine.status IS NULL
                    OR abs(mine.bytes - theirs.bytes)
                       <= $size_bytes + $size_share * greatest(mine.bytes, theirs.bytes)) AS agrees
    FROM seen AS mine JOIN seen AS theirs USING (url)
    WHERE mine.agent = $agent AND theirs.agent <> $agent
), urls AS (
    SELECT url, any_value(status) AS status, any_value(bytes) AS bytes,
           count(*) FILTER (agrees) AS agreeing, count(*) FILTER (NOT agrees) AS disagreeing,
           mode(their_status) FILTER (NOT agrees) AS their_status,
           median(their_bytes) FILTER (NOT agrees)::BIGINT AS their_bytes
    FROM pairs GROUP BY url
)
SELECT url, status, bytes, agreeing, disagreeing, their_status, their_bytes,
       count(*) OVER () AS contradicted, (SELECT count(*) FROM urls) AS compared
FROM urls WHERE disagreeing > agreeing
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, (SELECT count(*) FROM urls)
ORDER BY disagreeing - agreeing DESC NULLS LAST, url LIMIT $limit
"""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What an agent logged of a URL, and what more others logged. status None: no answer.

    agreeing, disagreeing: other agents. their_*: of those that disagree, the most frequent status
    and the median of the bytes.
    """

    url: str
    status: int | None
    bytes: int
    agreeing: int
    disagreeing: int
    their_status: int | None
    their_bytes: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """compared: URLs that others fetched too. contradicted: how many; examples of them."""

    compared: int
    contradicted: int
    examples: list[Contradiction]


def compare_logs(
    logs: Mapping[int, Sequence[Path]],
    agent_id: int,
    *,
    examples: int,
    memory_bytes: int,
    spill: Path,
) -> Comparison:
    """Compare the logs of one agent with those of the others (agent to files)."""
    pairs = [(str(path), agent) for agent, paths in logs.items() for path in paths]
    if not logs.get(agent_id):
        return Comparison(0, 0, [])
    with connect(memory_bytes, spill) as connection:
        rows = connection.execute(
            _SQL,
            {
                "paths": [path for path, _ in pairs],
                "agents": [agent for _, agent in pairs],
                "agent": agent_id,
                "size_share": SIZE_SHARE,
                "size_bytes": SIZE_BYTES,
                "limit": examples + 1,
            },
        ).fetchall()
    found = [Contradiction(*row[:7]) for row in rows if row[0] is not None][:examples]
    return Comparison(rows[0][8], max(row[7] for row in rows), found)

"""Comparison of one agent's logs with those of agents that fetched the same pages.

Of each URL and agent the newest line counts. Compared is what two honest robots see alike from
anywhere: whether there was an answer, its status, and its size within a tenth and 1,000 bytes. Not
compared is what may differ between two moments: 304, 429, and 500 and above. A URL is contradicted
when more agents disagree with the one than agree. Time is not compared: distances differ.
Invariant: memory is bounded; what does not fit into it (a million URLs take about 128 MB) is
refused, and a share of the URLs is the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import duckdb

from manager.store.connections import connect, records
from shared.errors import LimitError
from shared.frozen import frozen

__all__ = ["Comparison", "Contradiction", "compare_logs"]

SIZE_SHARE: Final = 0.1
SIZE_BYTES: Final = 1_000

_URLS: Final = """
CREATE TEMP TABLE urls AS
WITH files AS (
    SELECT unnest($paths) AS filename, unnest($agents) AS agent, unnest(range(len($paths))) AS age
), lines AS (
    SELECT url, agent, coalesce(status, -1) AS status, response_bytes AS bytes,
           age * 1_000_000_000_000 + line AS age
    FROM read_parquet($paths, filename = true) JOIN files USING (filename)
    WHERE held AND (status IS NULL OR NOT (status IN (304, 429) OR status >= 500))
          AND hash(url || $salt) % 1_000_000 < $share * 1_000_000
), seen AS (
    SELECT url, agent, arg_max(status, age) AS status, arg_max(bytes, age) AS bytes
    FROM lines GROUP BY url, agent
), pairs AS (
    SELECT url, mine.status AS status, mine.bytes AS bytes,
           theirs.status AS their_status, theirs.bytes AS their_bytes,
           mine.status = theirs.status
               AND (mine.status = -1
                    OR abs(mine.bytes - theirs.bytes)
                       <= $size_bytes + $size_share * greatest(mine.bytes, theirs.bytes)) AS agrees
    FROM seen AS mine JOIN seen AS theirs USING (url)
    WHERE mine.agent = $agent AND theirs.agent <> $agent
)
SELECT url, any_value(status) AS status, any_value(bytes) AS bytes,
       count(*) FILTER (agrees) AS agreeing, count(*) FILTER (NOT agrees) AS disagreeing,
       max(their_status) FILTER (NOT agrees) AS their_status,
       max(their_bytes) FILTER (NOT agrees) AS their_bytes
FROM pairs GROUP BY url
"""
# Aggregates of fixed size only: those that collect lists do not spill.

_COUNTS: Final = "SELECT count(*), count(*) FILTER (disagreeing > agreeing) FROM urls"
_EXAMPLES: Final = """
SELECT * REPLACE (nullif(status, -1) AS status, nullif(their_status, -1) AS their_status)
FROM urls WHERE disagreeing > agreeing
ORDER BY disagreeing - agreeing DESC, url LIMIT ?
"""


@frozen
class Contradiction:
    """An agent's log of a URL, and the count of others that disagree. status None: no answer.

    agreeing, disagreeing: other agents. their_*: the greatest that those say who disagree.
    """

    url: str
    status: int | None
    bytes: int
    agreeing: int
    disagreeing: int
    their_status: int | None
    their_bytes: int


@frozen
class Comparison:
    """compared: URLs that others fetched too. contradicted: how many; examples of them."""

    compared: int
    contradicted: int
    examples: list[Contradiction]


def compare_logs(
    logs: Mapping[int, Sequence[Path]],
    agent_id: int,
    *,
    share: float,
    salt: str,
    examples: int,
    memory_bytes: int,
    spill: Path,
) -> Comparison:
    """Compare the logs of one agent with those of the others (agent to files, oldest first).

    share: of all URLs, drawn by the salt; without the salt the choice is unpredictable. Raises
    LimitError if they do not fit into memory_bytes.
    """
    pairs = [(str(path), agent) for agent, paths in logs.items() for path in paths]
    if not logs.get(agent_id):
        return Comparison(0, 0, [])
    with connect(memory_bytes, spill) as connection:
        parameters = {
            "paths": [path for path, _ in pairs],
            "agents": [agent for _, agent in pairs],
            "agent": agent_id,
            "share": share,
            "salt": salt,
            "size_share": SIZE_SHARE,
            "size_bytes": SIZE_BYTES,
        }
        try:
            connection.execute(_URLS, parameters)
        except duckdb.OutOfMemoryException as error:
            raise LimitError("store.comparison_memory", memory_bytes=memory_bytes) from error
        compared, contradicted = connection.execute(_COUNTS).fetchall()[0]
        found = list(records(connection.execute(_EXAMPLES, [examples]), Contradiction))
    return Comparison(compared, contradicted, found)

"""Settings of the manager: collection of segments from agents."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["CollectionSettings"]

MB, GB = 1000**2, 1000**3
DAY_S = 86400


@frozen
class CollectionSettings:
    """Collection of segments from the agents to the manager."""

    segment_bytes: int = setting(
        10 * GB,
        Range("bytes", MB, 1000 * GB),
        "largest segment that is taken from an agent; agents seal theirs at 1 GB",
    )
    open_uploads: int = setting(
        8,
        Range("uploads", 1, 1000),
        "how many uploads of segments one agent may have open; it sends one after the other",
    )
    parallel_chunks: int = setting(
        64,
        Range("requests", 1, 1000),
        "how many requests may bring parts of segments at the same time; 1 MB of memory each; more "
        "are refused (503)",
    )
    chunks_per_agent: int = setting(
        8,
        Range("requests", 1, 1000),
        "how many requests of one agent may bring parts of segments at the same time; more are "
        "answered 429",
    )
    upload_retention_s: float = setting(
        7.0 * DAY_S,
        Range("s", 60, 365 * DAY_S),
        "how long an unfinished upload is kept to which nothing comes; agents may sleep over a "
        "weekend",
    )
    reserve_bytes: int = setting(
        2 * GB,
        Range("bytes", 0, 1000 * GB),
        "disk that segments leave free; where there is less, agents keep theirs for now",
    )
    transfer_log_retention_s: float = setting(
        365.0 * DAY_S,
        Range("s", 7 * DAY_S, 3650 * DAY_S),
        "how long the weekly logs of transfers are kept",
    )

"""Settings of the agent: room on the disk."""

from __future__ import annotations

from agent.settings.sizes import DAY_S, GB, MB
from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["DiskSettings"]


@frozen
class DiskSettings:
    """Storage of this home, and the room that is left to others."""

    reserve_bytes: int = setting(
        2 * GB,
        Range("bytes", 0),
        "disk that is left free for others; below it the crawl pauses, and resumes by itself",
    )
    outbox_bytes: int = setting(
        5 * GB,
        Range("bytes", MB),
        "how much disk unsent reports may take; above it the crawl pauses until they are sent",
    )
    segment_bytes: int = setting(
        GB,
        Range("bytes", MB, 100 * GB),
        "size at which a segment (WARC file) is closed; 1 GB, as the standard advises",
    )
    commit_interval_s: float = setting(
        0.25,
        Range("s", 0.01, 60),
        "how often the work is made safe on disk; so much of it is done again after a crash",
    )
    log_retention_s: float = setting(
        7.0 * DAY_S,
        Range("s", 0),
        "how long logs that were sent are kept here; a week, as in the original paper",
    )
    full_capture_days: float = setting(
        90.0,
        Range("days", 0, 3650),
        "a page that did not change is stored whole again after so long; 0: always",
    )
    trash_retention_s: float = setting(
        30.0 * DAY_S,
        Range("s", DAY_S, 3650 * DAY_S),
        "how long files that the ledger does not name stay in data/crawl/trash, as after a lost "
        "ledger; shorter where reserve_bytes is not free",
    )

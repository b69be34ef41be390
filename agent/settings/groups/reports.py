"""Settings of the agent: reports to the manager."""

from __future__ import annotations

from agent.settings.sizes import DAY_S, GB, KB, MB
from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["ReportSettings"]


@frozen
class ReportSettings:
    """Times at which crawl logs and new hosts go to the manager."""

    daily_log_time: str = setting(
        "09:00",
        "HH:MM",
        "time of day, by windows.zone, at which the crawl log is sent if no hours ended before",
    )
    log_interval_s: float = setting(
        0.0, Range("s", 0, DAY_S), "how often the crawl log is sent, for demonstrations; 0: daily"
    )
    discovery_delay_s: float = setting(
        600.0,
        Range("s", 0, DAY_S),
        "how long found hosts wait for others before they are reported together",
    )
    probe_log_delay_s: float = setting(
        600.0,
        Range("s", 0, DAY_S),
        "how long a finished probe waits at most before its log is sent",
    )
    log_bytes: int = setting(
        200 * MB, Range("bytes", KB, 10 * GB), "size at which a crawl log is sent before its time"
    )

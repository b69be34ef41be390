"""Settings of the agent: pace at sites."""

from __future__ import annotations

from agent.settings.sizes import DAY_S
from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["PolitenessSettings"]


@frozen
class PolitenessSettings:
    """Pace of requests to one address."""

    interval_s: float = setting(
        20.0,
        Range("s", 0, DAY_S),
        "pause from the end of a fetch to the next at the same address; as in the original paper",
    )
    fast_host_interval_s: float = setting(
        10.0,
        Range("s", 0, DAY_S),
        "pause between two fetches at the fastest fifth of the hosts; as in the original paper",
    )
    fast_host_bytes_per_ms: float = setting(
        14.0,
        Range("bytes/ms", 0),
        "how fast a host must be to count as fast, until 50 hosts are measured",
    )
    delay_factor: float = setting(
        10.0,
        Range("times", 0, 1000),
        "an address rests so many times as long as its last fetch took: a slow answer is a loaded "
        "server",
    )
    burst_requests: int = setting(
        1,
        Range("requests", 0, 1000),
        "how many requests follow one another on one connection without a pause; 0: no limit",
    )
    max_backoff_s: float = setting(
        3600.0,
        Range("s", 0, DAY_S),
        "longest rest of an address after errors or slow answers, unless its server asked for more",
    )
    max_retry_after_s: float = setting(
        86400.0,
        Range("s", 0, 30 * DAY_S),
        "longest Retry-After of a server that is kept; of a longer one only so much",
    )
    max_host_wait_s: float = setting(
        7200.0,
        Range("s", 60, 30 * DAY_S),
        "how long a crawl waits for a page of a host that asks for time (Retry-After, 429 or 503 "
        "in a row, Crawl-delay); after more its units are closed, and the next round asks again",
    )
    max_crawl_delay_s: float = setting(
        86400.0,
        Range("s", 0, 30 * DAY_S),
        "longest Crawl-delay of a robots.txt that is kept; of a longer one only so much",
    )
    strict_robots: bool = setting(
        False, "yes/no", "whether any Disallow of a robots.txt is obeyed, whomever it addresses"
    )
    blocked_url_patterns: tuple[str, ...] = setting(
        (), "RE2 patterns", "patterns of URLs that are never fetched from this site"
    )

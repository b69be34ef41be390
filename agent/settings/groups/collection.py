"""Settings of the agent: collection of segments from agents."""

from __future__ import annotations

from agent.settings.sizes import DAY_S, HOUR_S, KIB
from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["CollectionSettings"]


@frozen
class CollectionSettings:
    """Sending of segments to the centre, and the time that they stay here."""

    bytes_per_s: int = setting(
        0, Range("bytes/s", 0), "how fast segments are sent to the centre; 0: no limit"
    )
    weekday: tuple[str, ...] = setting(
        ("00:00-24:00",),
        "times",
        "hours of Monday to Friday, by windows.zone, in which segments are sent; empty: never on "
        "these days",
    )
    weekend: tuple[str, ...] = setting(
        ("00:00-24:00",),
        "times",
        "hours of Saturday and Sunday, by windows.zone, in which segments are sent; empty: never "
        "on these days",
    )
    chunk_bytes: int = setting(
        8 * KIB * KIB,
        Range("bytes", 64 * KIB, 64 * KIB * KIB),
        "how much of a segment one request sends at most; a proxy that buffers loses no more",
    )
    retry_delay_s: float = setting(
        float(HOUR_S),
        Range("s", 1, DAY_S),
        "how long after a failure an order to send segments is tried a second time",
    )
    segment_retention_s: float = setting(
        7.0 * DAY_S,
        Range("s", 0, 3650 * DAY_S),
        "how long segments that the centre has stay here; shorter where disk.reserve_bytes is not "
        "free",
    )
    serve_listen: str = setting(
        "0.0.0.0:8443",
        "address:port",
        "address on which `prs serve` offers segments for the manager to fetch",
    )
    serve_url: str = setting(
        "",
        "URL",
        "address of `prs serve` as the manager reaches it; empty: https://NAME:PORT of this agent",
    )

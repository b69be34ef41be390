"""Every setting of an agent, in the groups in which `prs.toml` writes them.

The groups of the site stand here: manager, robot, hours, disk, what it hands over; those of the
crawl in `agent.settings.crawl`.
Invariant: each field has a unit, a default, a range where one makes sense, and a reason: what it
is, in a clause that stands alone, and why its default is so. All of it belongs to the site: the
manager may only ask for less (`agent.settings.effective_settings`).
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from agent.settings.crawl import (
    DnsSettings,
    LimitSettings,
    LinkSettings,
    MemorySettings,
    NetworkSettings,
    PageSettings,
    PolitenessSettings,
)
from agent.settings.sizes import DAY_S, GB, HOUR_S, KB, KIB, MB
from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = [
    "CollectionSettings",
    "DiskSettings",
    "ManagerSettings",
    "ReportSettings",
    "RobotSettings",
    "Settings",
    "WindowSettings",
]


@frozen
class ManagerSettings:
    """The way to the manager."""

    url: str = setting(
        "", "URL", "address of the manager; empty: the one at which `prs enrol` enrolled this agent"
    )
    name: str = setting(
        "",
        "name",
        "name of this agent at the manager; empty: the one under which `prs enrol` enrolled it",
    )
    ca_file: str = setting(
        "",
        "path",
        "PEM file of the authorities that the manager's certificate is checked with; empty: the "
        "system's",
    )
    proxy: str = setting(
        "",
        "URL",
        "proxy on the way to the manager; empty: what HTTPS_PROXY says, as every other program "
        "does",
    )
    timeout_s: float = setting(
        60.0,
        Range("s", 1, 600),
        "how long an answer of the manager is waited for; one that takes in a big log may be slow",
    )
    backoff_s: float = setting(
        60.0,
        Range("s", 0.1, HOUR_S),
        "pause after the first failure to reach the manager; it doubles with each further one",
    )
    max_backoff_s: float = setting(
        HOUR_S,
        Range("s", 0.1, DAY_S),
        "longest pause after failures to reach the manager; half of a permit, so that one is not "
        "missed",
    )


@frozen
class RobotSettings:
    """Identity of the robot, as it shows itself to sites."""

    product_token: str = setting(
        "PRS", "name", "name of this robot in a robots.txt and in its User-Agent; letters, _ and -"
    )
    info_url: str = setting(
        "",
        "URL",
        "page that explains the crawl to owners of sites, in the User-Agent of each request; "
        "empty: none",
    )
    contact: str = setting(
        "",
        "mail address",
        "mail address that the owner of a site can write to, sent with each request; must be set",
    )


@frozen
class WindowSettings:
    """Hours in which requests may be sent. The source: weekday 02:00-08:00, weekend 02:00-22:00."""

    weekday: tuple[str, ...] = setting(
        ("00:00-24:00",),
        "times",
        "hours of Monday to Friday in which requests are sent; empty: never on these days",
    )
    weekend: tuple[str, ...] = setting(
        ("00:00-24:00",),
        "times",
        "hours of Saturday and Sunday in which requests are sent; empty: never on these days",
    )
    days: tuple[str, ...] = setting(
        (),
        "days and times",
        'days and dates with hours of their own, as "fri 02:00-06:00", "2026-12-29..2027-01-03 '
        'always", "sun never"',
    )
    zone: str = setting(
        "",
        "time zone",
        "time zone of the hours in these settings, as Asia/Tokyo; empty: the zone of this machine",
    )


@frozen
class DiskSettings:
    """Storage of this home, and the room that is left to others."""

    reserve_bytes: int = setting(
        2 * GB,
        Range("bytes", 0),
        "disk that is left free for others; below it the crawl pauses, and goes on by itself",
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


@frozen
class Settings:
    """All settings of one agent. `home` is the folder that holds everything it keeps."""

    home: Path
    manager: ManagerSettings = field(default_factory=ManagerSettings)
    robot: RobotSettings = field(default_factory=RobotSettings)
    politeness: PolitenessSettings = field(default_factory=PolitenessSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    links: LinkSettings = field(default_factory=LinkSettings)
    pages: PageSettings = field(default_factory=PageSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    dns: DnsSettings = field(default_factory=DnsSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    windows: WindowSettings = field(default_factory=WindowSettings)
    disk: DiskSettings = field(default_factory=DiskSettings)
    reports: ReportSettings = field(default_factory=ReportSettings)
    collection: CollectionSettings = field(default_factory=CollectionSettings)

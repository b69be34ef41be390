"""Settings of the site where an agent lives: manager, hours, disk, what it hands over."""

from __future__ import annotations

from agent.settings.sizes import DAY_S, GB, HOUR_S, KB, KIB, MB
from shared.frozen import frozen
from shared.settings import setting

__all__ = [
    "CollectionSettings",
    "DiskSettings",
    "ManagerSettings",
    "ReportSettings",
    "RobotSettings",
    "WindowSettings",
]


@frozen
class ManagerSettings:
    """The way to the manager."""

    url: str = setting(
        "", unit="URL", reason="empty: the manager at which `prs enrol` enrolled this agent"
    )
    name: str = setting(
        "", unit="name", reason="empty: the name under which `prs enrol` enrolled this agent"
    )
    ca_file: str = setting(
        "", unit="path", reason="empty: the system's certificate authorities; or a PEM file"
    )
    proxy: str = setting(
        "", unit="URL", reason="empty: what HTTPS_PROXY says, as every other program does"
    )
    timeout_s: float = setting(
        60.0, unit="s", least=1, most=600, reason="a manager that takes in a big log may be slow"
    )
    backoff_s: float = setting(
        60.0, unit="s", least=0.1, most=HOUR_S, reason="first pause after a failure; it doubles"
    )
    backoff_max_s: float = setting(
        HOUR_S,
        unit="s",
        least=0.1,
        most=DAY_S,
        reason="half of a permit, so that one is not missed",
    )


@frozen
class RobotSettings:
    """Who the robot says it is."""

    token: str = setting(
        "PRS", unit="name", reason="what a robots.txt calls this robot; letters, _ and -"
    )
    info_url: str = setting(
        "", unit="URL", reason="a page that explains the crawl to owners of sites; empty: none"
    )
    contact: str = setting(
        "", unit="mail address", reason="must be set: whom the owner of a site can write to"
    )


@frozen
class WindowSettings:
    """When requests may be sent. The source: weekday 02:00-08:00, weekend 02:00-22:00."""

    weekday: tuple[str, ...] = setting(
        ("00:00-24:00",), unit="times", reason="Monday to Friday; empty: never on these days"
    )
    weekend: tuple[str, ...] = setting(
        ("00:00-24:00",), unit="times", reason="Saturday and Sunday; empty: never on these days"
    )
    days: tuple[str, ...] = setting(
        (),
        unit="days and times",
        reason='that differ, as "fri 02:00-06:00", "2026-12-29..2027-01-03 always", "sun never"',
    )
    zone: str = setting(
        "", unit="time zone", reason="as Asia/Tokyo; empty: the zone of this machine"
    )


@frozen
class DiskSettings:
    """What is kept here, and how much room is left to others."""

    reserve_bytes: int = setting(
        2 * GB, unit="bytes", least=0, reason="left free; below it the crawl pauses by itself"
    )
    outbox_bytes: int = setting(
        5 * GB, unit="bytes", least=MB, reason="of unsent reports; above it the crawl pauses"
    )
    segment_bytes: int = setting(
        GB, unit="bytes", least=MB, most=100 * GB, reason="of a WARC file, as the standard advises"
    )
    commit_s: float = setting(
        0.25, unit="s", least=0.01, most=60, reason="so much work is done again after a crash"
    )
    keep_logs_s: float = setting(
        7.0 * DAY_S, unit="s", least=0, reason="sent logs are kept for a week; the source"
    )


@frozen
class ReportSettings:
    """When crawl logs and new hosts go to the manager."""

    at: str = setting(
        "09:00", unit="HH:MM", reason="of the day, site's zone, if no window closed before"
    )
    every_s: float = setting(
        0.0, unit="s", least=0, most=DAY_S, reason="for demonstrations; 0: daily"
    )
    hosts_s: float = setting(
        600.0, unit="s", least=0, most=DAY_S, reason="found hosts wait so long for others"
    )
    probe_s: float = setting(
        600.0, unit="s", least=0, most=DAY_S, reason="a finished probe waits no longer than this"
    )
    log_bytes: int = setting(
        200 * MB, unit="bytes", least=KB, most=10 * GB, reason="a log is sent earlier when so long"
    )


@frozen
class CollectionSettings:
    """How segments go to the centre, and how long they stay here."""

    bytes_per_s: int = setting(
        0, unit="bytes/s", least=0, reason="of segments that are sent; 0: no limit"
    )
    weekday: tuple[str, ...] = setting(
        ("00:00-24:00",), unit="times", reason="Monday to Friday, in windows.zone"
    )
    weekend: tuple[str, ...] = setting(
        ("00:00-24:00",), unit="times", reason="Saturday and Sunday; empty: never on these days"
    )
    chunk_bytes: int = setting(
        8 * KIB * KIB,
        unit="bytes",
        least=64 * KIB,
        most=64 * KIB * KIB,
        reason="of a request; a proxy that buffers loses one at most",
    )
    retry_s: float = setting(
        float(HOUR_S), unit="s", least=1, most=DAY_S, reason="until a failed order's second try"
    )
    keep_s: float = setting(
        7.0 * DAY_S,
        unit="s",
        least=0,
        most=3650 * DAY_S,
        reason="segments that the centre has; shorter where disk.reserve_bytes is not free",
    )
    serve_listen: str = setting(
        "0.0.0.0:8443", unit="address:port", reason="of `prs serve`, for the manager to fetch from"
    )
    serve_url: str = setting(
        "", unit="URL", reason="as the manager reaches it; empty: https://NAME:PORT of this agent"
    )

"""Every setting of the manager, in the groups in which `prsm.toml` writes them.

Invariant: each field has a unit, a default, a range where one makes sense, and the reason for its
default. A setting that nobody would ever change is a constant in the module that uses it.
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from manager.settings.alerts import AlertSettings
from manager.settings.policy import PolicySettings
from shared.frozen import frozen
from shared.settings import setting

__all__ = [
    "AlertSettings",
    "ArchiveSettings",
    "CollectionSettings",
    "ConsoleSettings",
    "DatabaseSettings",
    "IntakeSettings",
    "LimitSettings",
    "NamingSettings",
    "PolicySettings",
    "ReleaseSettings",
    "ServerSettings",
    "Settings",
]

KB, MB, GB = 1000, 1000**2, 1000**3
HOUR_S, DAY_S = 3600, 86400


@frozen
class ServerSettings:
    """Where the manager listens."""

    listen_host: str = setting(
        "127.0.0.1", unit="address", reason="reachable by others only when somebody decides so"
    )
    listen_port: int = setting(
        8000, unit="port", least=0, most=65535, reason="needs no root; 0 takes any free port"
    )
    public_url: str = setting(
        "", unit="URL", reason="what agents and links use; empty: made from host and port"
    )
    socket: str = setting(
        "", unit="path", reason="the prsm commands' way in; empty: prsm.sock in the data directory"
    )
    tls_certificate: str = setting(
        "",
        unit="path",
        reason="PEM chain; empty: plain HTTP, then keys are taken from loopback only",
    )
    tls_key: str = setting("", unit="path", reason="PEM private key of tls_certificate")
    behind_tls_proxy: bool = setting(
        False, unit="yes/no", reason="a proxy in front ends TLS and sets X-Forwarded-Proto and -For"
    )
    metrics_host: str = setting(
        "127.0.0.1", unit="address", reason="who reads metrics sees how large the crawl is"
    )
    metrics_port: int = setting(
        0, unit="port", least=0, most=65535, reason="for Prometheus; 0: no metrics"
    )
    log_format: str = setting(
        "text", unit="text or json", reason="json: one object a line, for machines"
    )
    stop_s: float = setting(
        20.0, unit="s", least=0, most=600, reason="requests under way may end; systemd waits 90 s"
    )


@frozen
class DatabaseSettings:
    """Where the manager's tables and files are."""

    url: str = setting(
        "",
        unit="URL",
        reason="empty: SQLite in the data directory; or postgresql://user@host/name for replicas",
        secret=True,
    )
    files: str = setting(
        "",
        unit="path",
        reason="crawl logs and refused bodies; empty: the data directory. Several managers on one "
        "database need a folder that all of them see",
    )
    leader_s: float = setting(
        6.0,
        unit="s",
        least=2,
        most=600,
        reason="of several managers the leader is replaced when it is silent for so long",
    )


@frozen
class LimitSettings:
    """What the manager takes from the network at most."""

    request_bytes: int = setting(
        1 * MB, unit="bytes", least=KB, most=GB, reason="bodies of the administrators' requests"
    )
    sync_bytes: int = setting(
        8 * MB,
        unit="bytes",
        least=10 * KB,
        most=GB,
        reason="10,000 finished units with long names are 5 MB",
    )
    hosts_bytes: int = setting(
        2 * GB,
        unit="bytes",
        least=KB,
        most=1000 * GB,
        reason="ten million hosts to import; streamed, so this is disk, not memory",
    )
    discovered_bytes: int = setting(
        64 * MB, unit="bytes", least=KB, most=100 * GB, reason="a body of discovered hosts (M2)"
    )
    discovered_decoded_bytes: int = setting(
        256 * MB, unit="bytes", least=KB, most=1000 * GB, reason="the same, decoded"
    )
    discoveries_per_day: int = setting(
        1_000_000,
        unit="hosts",
        least=0,
        most=10**9,
        reason="a wild or hostile agent must not fill the table of hosts",
    )
    log_bytes: int = setting(
        4 * GB,
        unit="bytes",
        least=KB,
        most=1000 * GB,
        reason="a crawl log (M3): 40 million lines at 100 bytes compressed",
    )
    log_decoded_bytes: int = setting(
        64 * GB, unit="bytes", least=KB, most=10_000 * GB, reason="the same, decoded"
    )
    uploads_at_once: int = setting(
        16, unit="uploads", least=1, most=1000, reason="the others are told to come back (503)"
    )
    uploads_per_minute: int = setting(
        30, unit="uploads", least=1, most=100_000, reason="of one agent; it has a log a night"
    )
    request_head_s: float = setting(
        30.0,
        unit="s",
        least=0.1,
        most=600,
        reason="who opens a connection and never finishes a request head is cut off",
    )
    upload_idle_s: float = setting(
        60.0, unit="s", least=1, most=HOUR_S, reason="an upload that sends nothing is given up"
    )
    upload_least_bytes_per_s: int = setting(
        100,
        unit="bytes/s",
        least=0,
        most=10**9,
        reason="slower than any modem, faster than who only wants to hold a connection",
    )
    reserve_bytes: int = setting(
        256 * MB,
        unit="bytes",
        least=0,
        most=1000 * GB,
        reason="disk left free by uploads, so that the database can still write",
    )
    connections: int = setting(
        2000,
        unit="connections",
        least=10,
        most=100_000,
        reason="each costs a file and some KB; more are answered 503",
    )


@frozen
class IntakeSettings:
    """How reports become tables."""

    workers: int = setting(
        1, unit="processes", least=1, most=64, reason="one keeps up with 100 agents of 50,000 hosts"
    )
    memory_bytes: int = setting(
        512 * MB,
        unit="bytes",
        least=64 * MB,
        most=1000 * GB,
        reason="of DuckDB in each worker; it spills to disk beyond",
    )
    log_cpu_s: float = setting(
        600.0,
        unit="s",
        least=1,
        most=DAY_S,
        reason="of a processor for one log: 20 million lines; a bomb must not hold a worker",
    )
    keep_logs_s: float = setting(
        0.0,
        unit="s",
        least=0,
        most=36_500 * DAY_S,
        reason="lines of crawl logs, since they came; 0: for ever; their sums are kept as well",
    )
    keep_rejected_s: float = setting(
        30.0 * DAY_S,
        unit="s",
        least=0,
        most=3650 * DAY_S,
        reason="bodies that were refused, for the administrator to look at",
    )
    keep_rejected_bytes: int = setting(
        1 * GB,
        unit="bytes",
        least=0,
        most=1000 * GB,
        reason="all of them together; oldest go first",
    )


@frozen
class ArchiveSettings:
    """The captures of the centre."""

    store: str = setting(
        "",
        unit="URL",
        reason="segments: empty: a folder beside the logs; or s3://bucket/prefix, with "
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment. Indexes stay here",
    )
    store_endpoint: str = setting(
        "", unit="URL", reason="of an object store that is not Amazon's; empty: Amazon's"
    )
    store_region: str = setting("", unit="name", reason="empty: AWS_REGION, or us-east-1")

    workers: int = setting(
        1, unit="processes", least=1, most=64, reason="read segments that came; one reads 5 MB/s"
    )
    memory_bytes: int = setting(
        512 * MB,
        unit="bytes",
        least=64 * MB,
        most=1000 * GB,
        reason="of DuckDB for an index, and for all selections that are being sent; it spills to "
        "disk beyond",
    )
    selections_at_once: int = setting(
        8,
        unit="selections",
        least=1,
        most=1000,
        reason="that are made while they are sent; one token has two. More are answered 429 or 503",
    )
    segment_cpu_s: float = setting(
        3600.0,
        unit="s",
        least=1,
        most=DAY_S,
        reason="of a processor to read one segment strictly; a bomb must not hold a worker",
    )
    compact_s: float = setting(
        1.0 * HOUR_S,
        unit="s",
        least=1,
        most=30 * DAY_S,
        reason="how often what was withdrawn is rewritten",
    )
    keep_results_s: float = setting(
        7.0 * DAY_S, unit="s", least=60, most=3650 * DAY_S, reason="results of third parties' jobs"
    )
    keep_changes_s: float = setting(
        400.0 * DAY_S, unit="s", least=DAY_S, most=36_500 * DAY_S, reason="who follows yearly may"
    )
    download_idle_s: float = setting(
        120.0, unit="s", least=1, most=HOUR_S, reason="who takes nothing for so long is given up"
    )
    front: str = setting(
        "",
        unit="path",
        reason="as `/prsm-archive/`: where the web server in front finds the folder `archive`, so "
        "that it sends the files (X-Accel-Redirect); empty: the manager sends them",
    )


@frozen
class CollectionSettings:
    """How segments come from the agents to the centre."""

    segment_bytes: int = setting(
        10 * GB,
        unit="bytes",
        least=MB,
        most=1000 * GB,
        reason="of a segment; agents seal at 1 GB",
    )
    open_uploads: int = setting(
        8, unit="uploads", least=1, most=1000, reason="of one agent at a time; it sends one"
    )
    chunks_at_once: int = setting(
        64, unit="requests", least=1, most=1000, reason="1 MB of memory each; more are told to wait"
    )
    upload_keep_s: float = setting(
        7.0 * DAY_S,
        unit="s",
        least=60,
        most=365 * DAY_S,
        reason="an upload to which nothing comes is thrown away; agents may sleep over a weekend",
    )
    reserve_bytes: int = setting(
        2 * GB, unit="bytes", least=0, most=1000 * GB, reason="of disk that segments leave free"
    )
    retry_s: float = setting(
        float(HOUR_S), unit="s", least=1, most=DAY_S, reason="a failed transfer; the source"
    )
    keep_logs_s: float = setting(
        365.0 * DAY_S, unit="s", least=7 * DAY_S, most=3650 * DAY_S, reason="weekly transfer logs"
    )


@frozen
class NamingSettings:
    """How host names become addresses, and which addresses may be crawled."""

    servers: tuple[str, ...] = setting(
        (), unit="address:port", reason="empty: those of this machine; `127.0.0.1:5353` for a test"
    )
    timeout_s: float = setting(
        3.0, unit="s", least=0.1, most=60, reason="of one question to one name server"
    )
    tries: int = setting(2, unit="questions", least=1, most=10, reason="UDP loses packets")
    at_once: int = setting(
        50, unit="questions", least=1, most=1000, reason="what a site's name server bears"
    )
    batch: int = setting(
        500, unit="hosts", least=1, most=100_000, reason="one look-up round of the clock"
    )
    allowed_networks: tuple[str, ...] = setting(
        (),
        unit="networks",
        reason="of the refused ranges (private, loopback, link-local, ...), those that may be "
        'crawled; ["127.0.0.0/8"] for the simulated web',
    )


@frozen
class ConsoleSettings:
    """The pages and sessions of people."""

    session_s: float = setting(
        12.0 * HOUR_S,
        unit="s",
        least=60,
        most=30 * DAY_S,
        reason="a working day, then log in again",
    )
    contact: str = setting(
        "",
        unit="address",
        reason="whom owners of sites can write to, shown at /console/robot; empty: the agents'",
    )


@frozen
class ReleaseSettings:
    """Releases of the agent."""

    signer: str = setting(
        "/run/prsm-signer/sign.sock",
        unit="path",
        reason="the socket of the signing process, which alone can read its keys",
    )
    bundle_bytes: int = setting(
        2 * GB, unit="bytes", least=KB, most=100 * GB, reason="wheels for six platforms are 500 MB"
    )


@frozen
class Settings:
    """All settings of one manager, and the data directory that they hold for.

    given: which were said where, as (`limits.log_bytes`, `prsm.toml`).
    """

    data: Path
    given: tuple[tuple[str, str], ...] = ()
    server: ServerSettings = field(default_factory=ServerSettings)
    database: DatabaseSettings = field(default_factory=DatabaseSettings)
    policy: PolicySettings = field(default_factory=PolicySettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    intake: IntakeSettings = field(default_factory=IntakeSettings)
    archive: ArchiveSettings = field(default_factory=ArchiveSettings)
    naming: NamingSettings = field(default_factory=NamingSettings)
    collection: CollectionSettings = field(default_factory=CollectionSettings)
    console: ConsoleSettings = field(default_factory=ConsoleSettings)
    releases: ReleaseSettings = field(default_factory=ReleaseSettings)
    alerts: AlertSettings = field(default_factory=AlertSettings)

"""The settings of storage: tables, logs, the archive with its collection, releases."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = [
    "ArchiveSettings",
    "CollectionSettings",
    "DatabaseSettings",
    "IntakeSettings",
    "ReleaseSettings",
]

KB, MB, GB = 1000, 1000**2, 1000**3
HOUR_S, DAY_S = 3600, 86400


@frozen
class DatabaseSettings:
    """Locations of the manager's tables and files."""

    url: str = setting(
        "",
        "URL",
        "database with the manager's tables; empty: SQLite in the data directory; "
        "postgresql://user@host/name for several managers",
        secret=True,
    )
    files_folder: str = setting(
        "",
        "path",
        "folder for logs, captures and other files of the manager; empty: the data directory; "
        "several managers on one database need one that all of them see",
    )
    leader_timeout_s: float = setting(
        6.0,
        Range("s", 2, 600),
        "how long the leader of several managers may be silent before another one takes its place",
    )


@frozen
class IntakeSettings:
    """Intake of reports into the tables."""

    workers: int = setting(
        1,
        Range("processes", 1, 64),
        "how many processes read crawl logs; one keeps up with 100 agents of 50,000 hosts",
    )
    long_task_workers: int = setting(
        2,
        Range("processes", 1, 64),
        "how many processes, beside these, read what takes longer than intake.time_slice_s, so "
        "that the others need not wait for it",
    )
    time_slice_s: float = setting(
        1.0,
        Range("s", 0.1, 600),
        "how long a body may be read before it lets the bodies of other agents go first; a second "
        "reads half a million lines",
    )
    worker_memory_bytes: int = setting(
        4 * GB,
        Range("bytes", GB, 1000 * GB),
        "how much address space a process that reads bodies may take beside what it begins with; a "
        "body that needs more is refused",
    )
    host_list_cpu_s: float = setting(
        60.0,
        Range("s", 1, DAY_S),
        "how much processor time may be spent on reading one list of found hosts (M2) or of hosts "
        "to import; a million lines take 5 s",
    )
    message_cpu_s: float = setting(
        5.0,
        Range("s", 1, 600),
        "how much processor time may be spent on reading one large message in JSON, as a sync; the "
        "largest take half a second",
    )
    answer_timeout_s: float = setting(
        45.0,
        Range("s", 1, HOUR_S),
        "how long the sender of a log waits for its answer before it is told to come back for it "
        "(503); agents wait 60 s for an answer",
    )
    duckdb_memory_bytes: int = setting(
        512 * MB,
        Range("bytes", 64 * MB, 1000 * GB),
        "how much memory DuckDB may use in each process that reads logs; it spills to disk beyond",
    )
    log_cpu_s: float = setting(
        600.0,
        Range("s", 1, DAY_S),
        "how much processor time may be spent on one log; enough for 20 million lines; a "
        "decompression bomb must not hold a worker",
    )
    max_logged_answer_bytes: int = setting(
        100 * MB,
        Range("bytes", MB, 1000 * GB),
        "largest answer that a line of a crawl log can be about; a larger one is kept and set "
        "apart in all sums; agents keep 20 MB of a page unless their limits.body_bytes is more",
    )
    max_logged_request_s: float = setting(
        7200.0,
        Range("s", 1, 3650 * DAY_S),
        "longest request that a line of a crawl log can be about; a longer one is kept and set "
        "apart in all sums; agents give a request up after an hour at most",
    )
    log_retention_s: float = setting(
        0.0,
        Range("s", 0, 36_500 * DAY_S),
        "how long the lines of a crawl log are kept after it came; 0: for ever; their sums are "
        "kept as well",
    )
    rejected_retention_s: float = setting(
        30.0 * DAY_S,
        Range("s", 0, 3650 * DAY_S),
        "how long bodies that were refused are kept for the administrator to look at",
    )
    rejected_bytes: int = setting(
        1 * GB,
        Range("bytes", 0, 1000 * GB),
        "how much disk all refused bodies may take together; oldest go first",
    )


@frozen
class ArchiveSettings:
    """The captures that the manager keeps."""

    store: str = setting(
        "",
        "URL",
        "where the archive's segments are kept; empty: a folder beside the logs; or "
        "s3://bucket/prefix, with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment; "
        "indexes stay with the manager",
    )
    store_endpoint: str = setting(
        "", "URL", "address of an object store that is not Amazon's; empty: Amazon's"
    )
    store_region: str = setting(
        "", "name", "region of the object store; empty: AWS_REGION, or us-east-1"
    )

    workers: int = setting(
        1,
        Range("processes", 1, 64),
        "how many processes read the segments that came; one reads 5 MB/s",
    )
    duckdb_memory_bytes: int = setting(
        512 * MB,
        Range("bytes", 64 * MB, 1000 * GB),
        "how much memory DuckDB may use for an index, and for all selections that are being sent; "
        "it spills to disk beyond",
    )
    downloads_per_token: int = setting(
        32,
        Range("downloads", 1, 10_000),
        "how many files one token of a third party may download at the same time; more are "
        "answered 429; prs-get takes four",
    )
    parallel_selections: int = setting(
        8,
        Range("selections", 1, 1000),
        "how many selections are made and sent at the same time, two of one token; more are "
        "answered 429 or 503",
    )
    segment_cpu_s: float = setting(
        3600.0,
        Range("s", 1, DAY_S),
        "how much processor time may be spent on the strict reading of one segment; a "
        "decompression bomb must not hold a worker",
    )
    compaction_interval_s: float = setting(
        1.0 * HOUR_S,
        Range("s", 1, 30 * DAY_S),
        "how often segments are rewritten without what was withdrawn",
    )
    selection_retention_s: float = setting(
        7.0 * DAY_S,
        Range("s", 60, 3650 * DAY_S),
        "how long the files of third parties' selections are kept for them",
    )
    change_retention_s: float = setting(
        400.0 * DAY_S,
        Range("s", DAY_S, 36_500 * DAY_S),
        "how long the list of changes is kept; third parties that ask once a year still get all of "
        "them",
    )
    trash_retention_s: float = setting(
        30.0 * DAY_S,
        Range("s", HOUR_S, 3650 * DAY_S),
        "how long files that no row names stay in the trash, where they are moved after a day; "
        "whole days are counted; `prsm archive adopt` takes segments out of it again",
    )
    trash_share_per_hour: float = setting(
        0.01,
        Range("share", 0.0001, 1.0),
        "which share of all files of the archive is deleted from the trash in an hour at most; one "
        "file at least; a mistake is seen before all is gone",
    )
    download_idle_s: float = setting(
        120.0,
        Range("s", 1, HOUR_S),
        "how long a third party may take nothing of its download before it is given up",
    )
    scrub_days: float = setting(
        30.0,
        Range("days", 0, 3650),
        "within how many days every kept file is read again and compared with its digest; 0: never",
    )
    scrub_bytes_per_s: int = setting(
        20 * MB,
        Range("bytes/s", 100 * KB, 100 * GB),
        "how fast kept files are read at most to verify them; the disk is for others, too",
    )
    x_accel_redirect_path: str = setting(
        "",
        "path",
        "where the web server in front finds the folder `archive`, as `/prsm-archive/`, so that it "
        "sends the files (X-Accel-Redirect); empty: the manager sends them",
    )


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
        "are told to wait",
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


@frozen
class ReleaseSettings:
    """Releases of the agent."""

    signer: str = setting(
        "/run/prsm-signer/sign.sock",
        "path",
        "the socket of the signing process, which alone can read its keys",
    )
    bundle_bytes: int = setting(
        2 * GB,
        Range("bytes", KB, 100 * GB),
        "largest file of a release that is taken; wheels for six platforms are 500 MB",
    )

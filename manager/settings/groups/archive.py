"""Settings of the manager: the archive of pages."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["ArchiveSettings"]

KB, MB, GB = 1000, 1000**2, 1000**3
HOUR_S, DAY_S = 3600, 86400


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
        "how often segments are rewritten without withdrawn captures",
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

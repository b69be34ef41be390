"""The tables of the ledger.

What changes with each page (queues, counters, new keys) is one row of `journal` and one of
`seen_recent` a commit; `jobs`, `blocks` and the runs of `seen_sets` are brought up to date behind
it, a slice at a time.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "CRAWL_TABLES",
    "NEW_IN_3",
    "NEW_IN_4",
    "NEW_IN_6",
    "NEW_IN_7",
    "NEW_IN_8",
    "OLDEST",
    "REPORT_TABLES",
    "TABLES",
    "VERSION",
]

VERSION: Final = 8

OLDEST: Final = 5
"""The version of the oldest program that can use such a ledger: to that a release may go
back after its trial. A change that only adds something leaves it unchanged (ADR 146)."""

NEW_IN_3: Final = (
    # Addresses that are left alone for longer than usual: after 429, 503, errors, Retry-After.
    """
    CREATE TABLE rests (
        address TEXT PRIMARY KEY,
        host TEXT NOT NULL,               -- that was asked last
        reason TEXT NOT NULL,
        strikes INTEGER NOT NULL,
        until_ms INTEGER NOT NULL         -- since 1970
    ) WITHOUT ROWID
    """,
)

NEW_IN_4: Final = (
    """
    CREATE INDEX jobs_by_address ON jobs (address) WHERE address <> '' AND finished = 0
    """,
)

NEW_IN_6: Final = (
    # What a start must know of the open segment, a row a commit (open_index.py).
    """
    CREATE TABLE open_index (
        id INTEGER PRIMARY KEY,
        segment TEXT NOT NULL,            -- sealed name
        before_bytes INTEGER NOT NULL,    -- that the rows before tell of
        size_bytes INTEGER NOT NULL,      -- that this one and they tell of
        sha256 TEXT NOT NULL,             -- of these bytes
        captures INTEGER NOT NULL,        -- in them
        first_ms INTEGER NOT NULL,        -- when the oldest and the newest of them were fetched
        last_ms INTEGER NOT NULL,
        lines BLOB NOT NULL               -- of the index, of the captures since the row before
    )
    """,
)

NEW_IN_7: Final = (
    # Units of which not a single page came, with the job that tried; failure: as `HostFailure`.
    """
    CREATE TABLE IF NOT EXISTS failed (
        unit TEXT,
        kind TEXT,
        round INTEGER,
        job INTEGER NOT NULL,
        failure TEXT NOT NULL,
        PRIMARY KEY (unit, kind, round)
    ) WITHOUT ROWID
    """,
)

NEW_IN_8: Final = (
    # Hosts whose newest robots.txt asks for a Crawl-delay.
    """
    CREATE TABLE IF NOT EXISTS crawl_delays (
        host TEXT PRIMARY KEY,
        delay_ms INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
)

# The crawl itself.
CRAWL_TABLES: Final = (
    # One row: numbers to continue from, and how far the append-only files are committed.
    """
    CREATE TABLE state (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        secret BLOB NOT NULL,             -- keys the hashes of the seen-sets
        next_job INTEGER NOT NULL,
        next_serial INTEGER NOT NULL,     -- of segments
        segment TEXT NOT NULL,            -- sealed name of the open one; '': none
        segment_bytes INTEGER NOT NULL,
        links_bytes INTEGER NOT NULL,
        log INTEGER NOT NULL,             -- serial of the open crawl log
        log_bytes INTEGER NOT NULL,
        log_since_ms INTEGER NOT NULL
    )
    """,
    # Numbers that change with pages are as of the last save; the journal has the later changes.
    """
    CREATE TABLE jobs (
        number INTEGER PRIMARY KEY,
        job TEXT NOT NULL,                -- the order, JSON
        host TEXT NOT NULL,
        address TEXT NOT NULL,
        finished INTEGER NOT NULL,
        pages INTEGER NOT NULL,
        kept INTEGER NOT NULL,
        response_bytes INTEGER NOT NULL,
        queue TEXT NOT NULL,              -- JSON: of each level [low, stored, [gone, ...]]
        queued INTEGER NOT NULL,          -- URLs in it
        met INTEGER NOT NULL              -- URLs that ever entered it
    )
    """,
    "CREATE INDEX jobs_unfinished ON jobs (number) WHERE finished = 0",
    # id: number of the job, level and last position, 31, 2 and 30 bits: blocks of a queue lie
    # together.
    "CREATE TABLE blocks (id INTEGER PRIMARY KEY, urls BLOB NOT NULL)",
    # Jobs whose blocks are being deleted, a slice with each commit.
    "CREATE TABLE garbage (job INTEGER PRIMARY KEY)",
    # What happened to queues and counters since the jobs were saved, a row a commit.
    """
    CREATE TABLE journal (id INTEGER PRIMARY KEY, generation INTEGER NOT NULL,
        entries BLOB NOT NULL)
    """,
    # Keys that are in no run yet, a row a commit: 8 bytes for each, then 4 for each one's job.
    """
    CREATE TABLE seen_recent (id INTEGER PRIMARY KEY, generation INTEGER NOT NULL,
        keys BLOB NOT NULL)
    """,
    """
    CREATE TABLE seen_runs (number INTEGER PRIMARY KEY, keys INTEGER NOT NULL,
        words INTEGER NOT NULL)
    """,
    *NEW_IN_3,
    *NEW_IN_4,
    *NEW_IN_6,
    *NEW_IN_7,
    *NEW_IN_8,
)

# What the manager has not acknowledged yet. These are as in version 1.
REPORT_TABLES: Final = (
    """
    CREATE TABLE closed_logs (
        serial INTEGER PRIMARY KEY,
        since_ms INTEGER NOT NULL,
        until_ms INTEGER NOT NULL,
        size_bytes INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE finished (
        unit TEXT,
        kind TEXT,
        round INTEGER,
        pages INTEGER NOT NULL,
        response_bytes INTEGER NOT NULL,
        reason TEXT NOT NULL,
        PRIMARY KEY (unit, kind, round)
    ) WITHOUT ROWID
    """,
    # A batch is known by its numbers, so they are never given again.
    "CREATE TABLE outside (id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT NOT NULL, referer TEXT)",
    """
    CREATE TABLE addresses (
        host TEXT PRIMARY KEY,
        addresses TEXT NOT NULL,          -- JSON
        told INTEGER NOT NULL             -- whether the manager knows it
    ) WITHOUT ROWID
    """,
    "CREATE INDEX addresses_to_tell ON addresses (host) WHERE told = 0",
)

TABLES: Final = CRAWL_TABLES + REPORT_TABLES

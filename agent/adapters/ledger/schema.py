"""The tables of the ledger.

`seen` and `queue` are clustered by job, so that dropping a job and walking its queue touch
neighbouring pages, whatever else is known.
"""

from __future__ import annotations

from typing import Final

__all__ = ["TABLES", "VERSION"]

VERSION: Final = 1

TABLES: Final = (
    # One row: numbers to go on with, and how far the append-only files are committed.
    """
    CREATE TABLE state (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        secret BLOB NOT NULL,             -- keys the hashes of `seen`
        next_job INTEGER NOT NULL,
        next_position INTEGER NOT NULL,
        next_serial INTEGER NOT NULL,     -- of segments
        segment TEXT NOT NULL,            -- sealed name of the open one; '': none
        segment_bytes INTEGER NOT NULL,
        links_bytes INTEGER NOT NULL,
        log INTEGER NOT NULL,             -- serial of the open crawl log
        log_bytes INTEGER NOT NULL,
        log_since_ms INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE jobs (
        number INTEGER PRIMARY KEY,
        job TEXT NOT NULL,                -- the order, JSON
        host TEXT NOT NULL,
        address TEXT NOT NULL,
        pages INTEGER NOT NULL,
        kept INTEGER NOT NULL,
        response_bytes INTEGER NOT NULL,
        queued INTEGER NOT NULL,
        finished INTEGER NOT NULL
    )
    """,
    "CREATE TABLE seen (job INTEGER, key INTEGER, PRIMARY KEY (job, key)) WITHOUT ROWID",
    """
    CREATE TABLE queue (
        job INTEGER,
        position INTEGER,
        url TEXT NOT NULL,
        depth INTEGER NOT NULL,
        redirects INTEGER NOT NULL,
        referer TEXT,
        attempts INTEGER NOT NULL,
        PRIMARY KEY (job, position)
    ) WITHOUT ROWID
    """,
    # Jobs whose seen-set and queue are being deleted, a slice with each commit.
    "CREATE TABLE garbage (job INTEGER PRIMARY KEY)",
    """
    CREATE TABLE closed_logs (
        serial INTEGER PRIMARY KEY,
        since_ms INTEGER NOT NULL,
        until_ms INTEGER NOT NULL,
        size_bytes INTEGER NOT NULL
    )
    """,
    # What the manager has not acknowledged yet.
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

"""Brings a ledger of an older version up to date.

Version 1: seen-set and queue were tables with a row for each URL. Version 2: no rests were kept.
Version 3: jobs were not found by their address. Version 4: no URL said when it is tried again.
Version 5: the open segment's index was in the segment only. Version 6: nothing said which jobs
failed. Version 7: no Crawl-delay was kept.

Everything is kept: jobs, queues, known URLs, and what the manager must still learn, whose tables
are the same. It is one transaction; killed in between, the ledger is of version 1 as before.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final

import numpy as np

from agent.adapters.ledger.jobs.journal import BLOCK_URLS, block_id, pack, record
from agent.adapters.ledger.schema import (
    CRAWL_TABLES,
    NEW_IN_3,
    NEW_IN_4,
    NEW_IN_6,
    NEW_IN_7,
    NEW_IN_8,
    OLDEST,
    VERSION,
)
from agent.adapters.ledger.seen_sets.run_writer import write_run
from agent.adapters.ledger.seen_sets.runs import JOB_STEP, RUN_KEYS, Pair
from agent.pipeline.ledger import QueuedUrl

__all__ = ["from_version_1", "from_version_2_on"]

_ADDED: Final = (
    (3, NEW_IN_3),
    (4, NEW_IN_4),
    (6, NEW_IN_6),
    (7, NEW_IN_7),
    (8, NEW_IN_8),
)
_OLD: Final = ("state", "jobs", "seen", "queue", "garbage")


def from_version_1(connection: sqlite3.Connection, seen: Path) -> None:
    """Convert a ledger; `seen` is the folder of its runs. Raises sqlite3.Error, DiskFullError."""
    run = connection.execute
    run("PRAGMA cache_spill = ON")  # a large ledger does not fit into memory
    run("BEGIN IMMEDIATE")
    for table in _OLD:
        run(f"ALTER TABLE {table} RENAME TO {table}_1")
    for statement in CRAWL_TABLES:
        run(statement)
    run(
        "INSERT INTO state SELECT one, secret, next_job, next_serial, segment, segment_bytes, "
        "links_bytes, log, log_bytes, log_since_ms FROM state_1"
    )
    run(
        "INSERT INTO jobs SELECT number, job, host, address, finished, pages, kept, "
        "response_bytes, '{}', 0, 0 FROM jobs_1"
    )
    for job, count, blocks in _blocks(connection):
        connection.executemany("INSERT INTO blocks VALUES (?,?)", blocks)
        run(
            "UPDATE jobs SET queue = ?1, queued = ?2, met = ?2 WHERE number = ?3",
            (f'{{"0":[1,{count + 1},[]]}}', count, job),
        )
    seen.mkdir(parents=True, exist_ok=True)
    for number, (keys, jobs) in enumerate(_keys(connection), 1):
        state = write_run(seen, number, [(keys, jobs)], len(keys))
        run("INSERT INTO seen_runs VALUES (?,?,?)", (number, state.keys, state.words))
    for table in _OLD:
        run(f"DROP TABLE {table}_1")
    run(f"PRAGMA user_version = {VERSION}")
    run(f"PRAGMA application_id = {OLDEST}")
    run("COMMIT")
    run("PRAGMA cache_spill = OFF")


def from_version_2_on(connection: sqlite3.Connection, version: int) -> None:
    """Convert a ledger of version 2 to 7, to which only something is added.

    Raises sqlite3.Error.
    """
    run = connection.execute
    run("BEGIN IMMEDIATE")
    for since, statements in _ADDED:
        for statement in statements if version < since else ():
            run(statement)
    run(f"PRAGMA user_version = {VERSION}")
    run(f"PRAGMA application_id = {OLDEST}")
    run("COMMIT")


def _blocks(connection: sqlite3.Connection) -> Iterator[tuple[int, int, list[tuple[int, bytes]]]]:
    """Yield of each job its number, how many URLs wait, and their blocks."""
    rows = connection.execute(
        "SELECT job, position, url, depth, redirects, referer, attempts FROM queue_1 "
        "WHERE job IN (SELECT number FROM jobs_1 WHERE finished = 0) ORDER BY job, position"
    )
    for job, group in groupby(rows, itemgetter(0)):
        records = [
            record(QueuedUrl(0, url, job, depth, redirects, referer), attempts)
            for _, _, url, depth, redirects, referer, attempts in group
        ]
        blocks = []
        for start in range(0, len(records), BLOCK_URLS):
            part = records[start : start + BLOCK_URLS]
            blocks.append((block_id(job, 0, start + len(part)), pack(part)))
        yield job, len(records), blocks


def _keys(connection: sqlite3.Connection) -> Iterator[Pair]:
    """Yield the keys of jobs that are not done and their jobs, sorted, a run at a time."""
    rows = connection.execute(
        "SELECT key, job FROM seen_1 WHERE job IN (SELECT number FROM jobs_1 WHERE finished = 0)"
    )
    while part := rows.fetchmany(RUN_KEYS):
        keys = np.array([key for key, _ in part], np.int64).view(np.uint64)
        jobs = np.array([job for _, job in part], np.uint32)
        keys = keys + jobs.astype(np.uint64) * np.uint64(JOB_STEP)
        order = np.argsort(keys)
        yield keys[order], jobs[order]

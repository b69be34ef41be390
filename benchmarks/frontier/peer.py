"""The same operations on plain SQLite tables with a row for each URL, and the bare append.

python -m benchmarks.frontier.peer FOLDER HOSTS SIZE MEASURED
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import sys
import time
from hashlib import blake2b
from pathlib import Path

from benchmarks.frontier.traffic import COMMIT_URLS, url_of_page

_TABLES = (
    "CREATE TABLE seen (job INTEGER, key INTEGER, PRIMARY KEY (job, key)) WITHOUT ROWID",
    """CREATE TABLE queue (job INTEGER, position INTEGER, url TEXT, referer TEXT,
       PRIMARY KEY (job, position)) WITHOUT ROWID""",
)


def main() -> None:
    """Run one size."""
    folder, hosts, size, measured = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    folder.mkdir(parents=True)
    connection = sqlite3.connect(folder / "peer.sqlite", isolation_level=None)
    for setting in ("journal_mode = WAL", "synchronous = FULL", "cache_size = -32768"):
        connection.execute(f"PRAGMA {setting}")
    for table in _TABLES:
        connection.execute(table)
    chance = random.Random(7)
    fill(connection, hosts, size, chance)
    cpu_s = time.process_time()
    work(connection, hosts, size, measured, chance)
    cpu_s = time.process_time() - cpu_s
    append_s = time.process_time()
    append(folder / "appended", measured)
    append_s = time.process_time() - append_s
    result = {
        "us_per_url": round(cpu_s / measured * 1e6, 2),
        "append_us_per_url": round(append_s / measured * 1e6, 2),
    }
    print(json.dumps(result))


def fill(connection: sqlite3.Connection, hosts: int, size: int, chance: random.Random) -> None:
    """Enter so many keys, in the order of the table, which is the quickest way."""
    rows = sorted((chance.randrange(1, hosts + 1), chance.getrandbits(63)) for _ in range(size))
    connection.execute("BEGIN")
    connection.executemany("INSERT OR IGNORE INTO seen VALUES (?,?)", rows)
    connection.executemany(
        "INSERT INTO queue VALUES (?,?,?,?)",
        (
            (job, place, url_of_page(job, place), url_of_page(job, 0))
            for place, (job, _) in enumerate(rows)
        ),
    )
    connection.execute("COMMIT")


def work(
    connection: sqlite3.Connection, hosts: int, size: int, measured: int, chance: random.Random
) -> None:
    """Find, queue, take and remove URLs, a commit for every 250."""
    run = connection.execute
    run("BEGIN")
    for place in range(size, size + measured):
        job = chance.randrange(1, hosts + 1)
        url = url_of_page(job, place)
        digest = blake2b(url.encode(), digest_size=8).digest()
        key = int.from_bytes(digest, "big", signed=True)
        if run("SELECT 1 FROM seen WHERE job = ? AND key = ?", (job, key)).fetchone() is None:
            run("INSERT INTO seen VALUES (?,?)", (job, key))
            run("INSERT INTO queue VALUES (?,?,?,?)", (job, place, url, url_of_page(job, 0)))
        taken = run("SELECT position, url FROM queue WHERE job = ? LIMIT 1", (job,)).fetchone()
        run("DELETE FROM queue WHERE job = ? AND position = ?", (job, taken[0]))
        if place % COMMIT_URLS == 0:
            run("COMMIT")
            run("BEGIN")
    run("COMMIT")


def append(path: Path, count: int) -> None:
    """Write as many lines as there are URLs, and sync as often."""
    line = b"x" * 99 + b"\n"
    with path.open("wb", buffering=0) as file:
        for start in range(0, count, COMMIT_URLS):
            file.write(line * min(COMMIT_URLS, count - start))
            os.fsync(file.fileno())


if __name__ == "__main__":
    main()

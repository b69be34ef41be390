"""Remembers the last whole capture of each URL, in a SQLite file beside the ledger.

A row is found by 64 bits for its host and 64 for its URL, keyed with the file's secret, so that no
site can make two URLs one. A host's rows lie together: writing what a night has brought touches
few pages of the file, and an unknown URL of a host in work costs a look at a page in memory. A host
that was unknown when the list in force came stays so until the next list: a list's URLs are asked
for once, so what it brought itself need not be looked for.

An appended entry waits in memory until a commit has made it durable, and goes to the file in
batches from a thread. A crash forgets a batch at most, and then its pages are stored whole once
more: the file may know less than the segments hold, never more. A file that cannot be read, or in
which an entry to forget cannot be deleted, is begun again for the same reason.
"""

from __future__ import annotations

import math
import secrets
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

from agent.pipeline.messages.pages import Earlier
from agent.pipeline.ports import Clock

__all__ = ["BATCH_ROWS", "EarlierFile", "remove_earlier"]

BATCH_ROWS: Final = 4096
CACHE_KIB: Final = 8 * 1024
HOSTS_REMEMBERED: Final = 4096
FLUSH_S: Final = 60.0
BUSY_S: Final = 30.0
DAY_MS: Final = 86_400_000
SWEEP_S: Final = 7 * 86_400.0  # an agent may run for years, and must not remember each of them
VERSION: Final = 1

_TABLES: Final = f"""
    CREATE TABLE earlier (
        host INTEGER,
        url INTEGER,
        fetched_at_ms INTEGER NOT NULL,
        digest BLOB NOT NULL,
        etag TEXT NOT NULL,
        modified TEXT NOT NULL,
        PRIMARY KEY (host, url)
    ) WITHOUT ROWID;
    CREATE TABLE secret (bytes BLOB NOT NULL);
    PRAGMA user_version = {VERSION};
"""
_FIND: Final = (
    "SELECT fetched_at_ms, digest, etag, modified FROM earlier "
    "WHERE host = ? AND url = ? AND fetched_at_ms > ?"
)

Row = tuple[int, int, int, bytes, str, str]
Submit = Callable[[Callable[[], None]], object]


class EarlierFile:
    """Fulfils `agent.pipeline.ports.EarlierCaptures` for one process at a time."""

    def __init__(
        self, path: Path, clock: Clock, whole_days: float, submit: Submit | None = None
    ) -> None:
        """Open the file, or begin one.

        whole_days: older captures are no longer known, so that each page is stored whole at
        least so often. submit: runs a write; None: a separate thread.
        """
        self._path = path
        self._clock = clock
        self._whole_ms = round(whole_days * DAY_MS)
        self._thread: ThreadPoolExecutor | None = None
        if submit is None:
            self._thread = ThreadPoolExecutor(1, "earlier")
            submit = self._thread.submit
        self._submit = submit
        self._appended: list[Row] = []
        self._durable: list[Row] = []
        self._writing: Future[None] | None = None
        self._sweep_s = -math.inf  # from when on rows that are too old go
        self._list_begun = False
        self._look_again = False  # set by the thread that writes
        self._is_damaged = False  # by the same
        self._flushed_s = clock.monotonic_s()
        self._reader = _empty_database()
        self._secret = secrets.token_bytes(16)
        self._host = lru_cache(HOSTS_REMEMBERED)(self._hash)
        self._knows = lru_cache(HOSTS_REMEMBERED)(self._is_known)
        try:
            self._begin()
        except sqlite3.DatabaseError:
            self.clear()

    def begin_list(self) -> None:
        """Use the captures of earlier lists, as soon as they are written."""
        self._list_begun = True

    def look_up(self, host: str, url: str) -> Earlier | None:
        """Return what a URL's last whole capture was, where it is known and not too old."""
        if self._look_again:
            self._look_again = False
            self._knows.cache_clear()
        host_hash = self._host(host)
        if not self._knows(host_hash):
            return None
        since_ms = self._clock.epoch_ms() - self._whole_ms
        found = self._ask(_FIND, (host_hash, self._hash(url), since_ms))
        if found is None:
            return None
        fetched_at_ms, digest, etag, modified = found
        return Earlier(fetched_at_ms, f"sha256:{digest.hex()}", etag, modified)

    def remember(self, host: str, url: str, earlier: Earlier) -> None:
        """Take a capture that was appended."""
        digest = bytes.fromhex(earlier.digest.removeprefix("sha256:"))
        keys = self._host(host), self._hash(url)
        row = (*keys, earlier.fetched_at_ms, digest, earlier.etag, earlier.modified)
        self._appended.append(row)

    def committed(self) -> None:
        """Take note that all that was appended is durable."""
        if self._is_damaged:
            self.clear()
        self._durable += self._appended
        self._appended.clear()
        late = self._clock.monotonic_s() - self._flushed_s >= FLUSH_S
        if len(self._durable) >= BATCH_ROWS or late or self._list_begun:
            self._flush()

    def forget(self, hosts: Sequence[str]) -> None:
        """Forget hosts: their captures are deleted."""
        keys = {self._host(host) for host in hosts}
        self._appended = [row for row in self._appended if row[0] not in keys]
        self._durable = [row for row in self._durable if row[0] not in keys]
        self._wait()
        try:
            with closing(_connect(self._path)) as connection:
                rows = [(key,) for key in keys]
                connection.executemany("DELETE FROM earlier WHERE host = ?", rows)
        except sqlite3.DatabaseError:
            self.clear()
        self._knows.cache_clear()

    def close(self) -> None:
        """Write what is durable, and let go."""
        self._flush()
        self._wait()
        if self._thread is not None:
            self._thread.shutdown()
        self._reader.close()
        if self._is_damaged:
            remove_earlier(self._path)

    def _flush(self) -> None:
        self._flushed_s = self._clock.monotonic_s()
        begun, self._list_begun = self._list_begun, False
        rows, self._durable = sorted(self._durable), []
        if not (rows or begun):
            return
        before = None
        if rows and self._flushed_s >= self._sweep_s:  # it looks at every row
            before = self._clock.epoch_ms() - self._whole_ms
            self._sweep_s = self._flushed_s + SWEEP_S

        def write() -> None:
            if rows:
                self._is_damaged |= not _write(self._path, rows, before)
            if begun:
                self._look_again = True

        outcome = self._submit(write)
        self._writing = outcome if isinstance(outcome, Future) else None

    def _wait(self) -> None:
        if self._writing is not None:
            self._writing.result()

    def clear(self) -> None:
        """Know nothing from now on, also where there is no room for an empty file.

        For a file that is broken, or whose segments are gone.
        """
        self._appended.clear()
        self._durable.clear()
        self._wait()
        self._reader.close()
        remove_earlier(self._path)
        try:
            self._begin()
        except sqlite3.OperationalError:
            self._reader = _empty_database()
        self._is_damaged = False
        self._host.cache_clear()
        self._knows.cache_clear()

    def _begin(self) -> None:
        self._reader.close()
        self._reader = _connect(self._path)
        version = self._reader.execute("PRAGMA user_version").fetchone()[0]
        if version != VERSION:
            if version or self._reader.execute("SELECT 1 FROM sqlite_master").fetchone():
                self._reader.close()
                raise sqlite3.DatabaseError(f"{self._path}: version {version}")
            self._reader.executescript(_TABLES)
            self._reader.execute("INSERT INTO secret VALUES (?)", (secrets.token_bytes(16),))
        self._secret = self._reader.execute("SELECT bytes FROM secret").fetchone()[0]

    def _ask(self, query: str, values: tuple[int, ...]) -> tuple[int, bytes, str, str] | None:
        try:
            found: tuple[int, bytes, str, str] | None = self._reader.execute(
                query, values
            ).fetchone()
        except sqlite3.DatabaseError:
            return None
        return found

    def _is_known(self, host_hash: int) -> bool:
        return self._ask("SELECT 1 FROM earlier WHERE host = ? LIMIT 1", (host_hash,)) is not None

    def _hash(self, text: str) -> int:
        digest = blake2b(text.encode(), digest_size=8, key=self._secret).digest()
        return int.from_bytes(digest, "big", signed=True)


def _empty_database() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


def remove_earlier(path: Path) -> None:
    """Remove the memory in a file that no process has open."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _write(path: Path, rows: Sequence[Row], before_ms: int | None) -> bool:
    """Enter rows, and delete those that are too old; where there is no room, forget.

    Tell whether the file is whole.
    """
    try:
        with suppress(sqlite3.OperationalError), closing(_connect(path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR REPLACE INTO earlier VALUES (?,?,?,?,?,?)", rows)
            if before_ms is not None:
                connection.execute("DELETE FROM earlier WHERE fetched_at_ms <= ?", (before_ms,))
            connection.execute("COMMIT")
    except sqlite3.DatabaseError:
        return False
    return True

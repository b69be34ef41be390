"""Rules of robots.txt that are not in memory, in a file beside the ledger, for one process.

It is no durable state: a process begins with an empty one, and what cannot be written or read is
fetched from its host again.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

__all__ = ["RulesFile"]

NAME: Final = "robots.sqlite"
_BEGIN: Final = (
    "PRAGMA journal_mode = OFF",
    "PRAGMA synchronous = OFF",
    "PRAGMA cache_size = -4096",  # KiB
    "CREATE TABLE rules (host TEXT PRIMARY KEY, packed BLOB NOT NULL) WITHOUT ROWID",
)


class RulesFile:
    """Fulfils `agent.pipeline.ports.RulesStore`."""

    def __init__(self, folder: Path) -> None:
        """Begin without any rules; those of the process before are deleted."""
        path = folder / NAME
        path.unlink(missing_ok=True)
        self._connection: sqlite3.Connection | None = sqlite3.connect(path, isolation_level=None)
        for statement in _BEGIN:
            self._run(statement)

    def put(self, host: str, packed: bytes) -> None:
        """Keep the rules of a host in place of its earlier ones."""
        self._run("INSERT OR REPLACE INTO rules (host, packed) VALUES (?,?)", host, packed)

    def get(self, host: str) -> bytes | None:
        """Return the rules of a host; None: they are not here."""
        rows = self._run("SELECT packed FROM rules WHERE host = ?", host)
        return rows[0][0] if rows else None

    def drop(self, host: str) -> None:
        """Forget the rules of a host."""
        self._run("DELETE FROM rules WHERE host = ?", host)

    def close(self) -> None:
        """Close the file; nothing is kept or found after that."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _run(self, statement: str, *values: object) -> list[tuple[bytes]]:
        """Return the rows of a statement. After a failure, as of a full disk, nothing is here."""
        if self._connection is None:
            return []
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error:
            self.close()
            return []

"""Rows of the crawl logs that are closed and not handed on yet."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agent.adapters.ledger.crawl_log import ClosedLog, log_path
from agent.adapters.ledger.database import Database, Query

__all__ = ["ClosedLogs"]

_SERIALS: Final = Query[tuple[int]]("SELECT serial FROM closed_logs")
_LOGS: Final = Query[tuple[int, int, int, int]](
    "SELECT serial, since_ms, until_ms, size_bytes FROM closed_logs ORDER BY serial"
)


class ClosedLogs:
    """The closed logs of a folder."""

    def __init__(self, database: Database, directory: Path) -> None:
        self._database = database
        self._directory = directory

    def committed(self) -> list[ClosedLog]:
        """Return the logs by the last commit, oldest first."""
        return [
            ClosedLog(serial, log_path(self._directory, serial), since_ms, until_ms, size_bytes)
            for serial, since_ms, until_ms, size_bytes in self._database.ask_committed(_LOGS)
        ]

    def serials(self) -> set[int]:
        """Return the numbers of the logs."""
        return {serial for (serial,) in self._database.ask(_SERIALS)}

    def add(self, serial: int, since_ms: int, until_ms: int, size_bytes: int) -> None:
        """Add a log to the open transaction."""
        self._database.run(
            "INSERT INTO closed_logs (serial, since_ms, until_ms, size_bytes) VALUES (?,?,?,?)",
            (serial, since_ms, until_ms, size_bytes),
        )

    def forget(self, serial: int) -> bool:
        """Forget a log; return whether it was there."""
        return bool(self._database.run("DELETE FROM closed_logs WHERE serial = ?", (serial,)))

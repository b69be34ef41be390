"""The addresses that are left alone for longer than usual, so that a restart does not forget it.

A small table: a row for each address that answered 429 or 503, asked for time, or does not answer.
"""

from __future__ import annotations

from agent.adapters.ledger.database import Database
from agent.pipeline.ports.ledger_rows import Rest

__all__ = ["Rests"]


class Rests:
    """All of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Rest]:
        """Return all."""
        rows = self._database.ask("SELECT address, host, reason, strikes, until_ms FROM rests")
        return [
            Rest(str(address), str(host), str(reason), int(str(strikes)), int(str(until_ms)))
            for address, host, reason, strikes, until_ms in rows
        ]

    def keep(self, rest: Rest) -> None:
        """Remember a rest; it replaces the earlier one of its address."""
        self._database.run(
            "INSERT OR REPLACE INTO rests (address, host, reason, strikes, until_ms) "
            "VALUES (?,?,?,?,?)",
            (rest.address, rest.host, rest.reason, rest.strikes, rest.until_ms),
        )

    def forget(self, address: str) -> None:
        """Forget an address."""
        self._database.run("DELETE FROM rests WHERE address = ?", (address,))

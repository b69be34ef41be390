"""The addresses in back-off, which a restart must not forget.

A small table: a row for each address that answered 429 or 503, asked for time, or does not answer.
"""

from __future__ import annotations

from typing import Final

from agent.adapters.ledger.database import Database, Query
from agent.pipeline.ledger import AddressBackoff

__all__ = ["BackoffRows"]

_ALL: Final = Query[tuple[str, str, str, int, int]](
    "SELECT address, host, reason, strikes, until_ms FROM rests"
)


class BackoffRows:
    """Rows of the addresses in back-off."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[AddressBackoff]:
        """Return all."""
        return [AddressBackoff(*row) for row in self._database.ask(_ALL)]

    def keep(self, rest: AddressBackoff) -> None:
        """Remember a rest; it replaces the earlier one of its address."""
        self._database.run(
            "INSERT OR REPLACE INTO rests (address, host, reason, strikes, until_ms) "
            "VALUES (?,?,?,?,?)",
            (rest.address, rest.host, rest.reason, rest.strikes, rest.until_ms),
        )

    def forget(self, address: str) -> None:
        """Forget an address."""
        self._database.run("DELETE FROM rests WHERE address = ?", (address,))

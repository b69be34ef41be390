"""The installation id, by which a database, its files and its agents know each other."""

from __future__ import annotations

from manager.db import installation
from manager.db.engine import Database

__all__ = ["installation_id"]


def installation_id(db: Database) -> str:
    """Return the installation id of a database. Raises SettingError, BusyError."""
    with db.read() as tx:
        return installation.installation_of(tx).uuid

"""Settings of the manager: the database and the files beside it."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["DatabaseSettings"]


@frozen
class DatabaseSettings:
    """Locations of the manager's tables and files."""

    url: str = setting(
        "",
        "URL",
        "database with the manager's tables; empty: SQLite in the data directory; "
        "postgresql://user@host/name for several managers",
        secret=True,
    )
    files_folder: str = setting(
        "",
        "path",
        "folder for logs, captures and other files of the manager; empty: the data directory; "
        "several managers on one database need one that all of them see",
    )
    leader_timeout_s: float = setting(
        6.0,
        Range("s", 2, 600),
        "how long the leader of several managers may be silent before another one takes its place",
    )

"""Self-check of a manager: problems of its machine, for /readyz, alerts and the log.

`look` asks the file systems, which may hang where a share is away, so the clock calls it; all
others are answered from what the last look found.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from manager.db import Database
from manager.db.connections import sqlite_file
from manager.operations.alert import Alert
from manager.operations.machine_conditions import Condition, alert_of, conditions_of
from manager.settings import SETTINGS_FILE, Settings, exposed_secrets
from manager.store import Layout, StoreError
from manager.store.file_system import FileSystem
from manager.store.owner_marks import apart_folders
from shared.messages import Message

__all__ = ["SelfCheck", "check_folders"]

_log: Final = logging.getLogger(__name__)
_REAL: Final = FileSystem()


def check_folders(layout: Layout, system: FileSystem = _REAL) -> None:
    """Raise StoreError where the folders that are there take no files; makes none itself."""
    there = [folder for folder in (layout.data, layout.kept) if folder.is_dir()]
    _refuse(conditions_of(None, [*there, *apart_folders(layout)], (), 0, system))


def _refuse(found: Sequence[Condition]) -> None:
    forbidding = [one.message for one in found if one.forbids_start]
    if forbidding:
        raise StoreError("app.folders_unusable", problems=forbidding)


@dataclass(eq=False)
class SelfCheck:
    """Conditions of this manager's machine as the last look found them; any thread may ask.

    config: the file of the settings; None: the one in the data directory.
    """

    settings: Settings
    layout: Layout
    system: FileSystem = _REAL
    config: Path | None = None
    _db: Database | None = None
    _found: Sequence[Condition] = ()
    _others: list[Callable[[], Sequence[Condition]]] = field(default_factory=list)

    def add(self, conditions: Callable[[], Sequence[Condition]]) -> None:
        """Add the conditions of another part of this manager, which logs them itself."""
        self._others.append(conditions)

    def watch(self, db: Database) -> None:
        """Look at the damage of a database, too."""
        self._db = db

    def start(self) -> None:
        """Look for the first time. Raises StoreError where a manager cannot begin."""
        _refuse(self.look())

    def look(self) -> Sequence[Condition]:
        """Check folders, secrets and database; return the conditions.

        The log names new conditions, and those that are over.
        """
        layout, settings = self.layout, self.settings
        config = (self.config or settings.data / SETTINGS_FILE).absolute()
        found = conditions_of(
            self._db,
            (layout.data, layout.kept, *apart_folders(layout), *self._of_database()),
            exposed_secrets(settings, config),
            settings.alerts.disk_inodes,
            self.system,
        )
        before = {(one.code, one.subject) for one in self._found}
        for one in found:
            if (one.code, one.subject) not in before:
                _log.warning("%s", one.message)
        now = {(one.code, one.subject) for one in found}
        for one in self._found:
            if (one.code, one.subject) not in now:
                _log.info("over: %s", one.message)
        self._found = tuple(found)
        return self._found

    def _of_database(self) -> list[Path]:
        """Return the folder of SQLite's file and journal."""
        url = self.settings.database.url
        file = sqlite_file(url) if url else None
        return [] if file is None else [file.absolute().parent]

    @property
    def conditions(self) -> Sequence[Condition]:
        """Return the conditions of the last look, and damage of the database that was met since."""
        known = None if self._db is None else self._db.damage.known
        found = (*self._found, *(one for conditions in self._others for one in conditions()))
        if known is None or any(one.subject == known.file for one in self._found):
            return found
        return (*conditions_of(self._db, (), (), 0), *found)

    @property
    def blocker(self) -> Message | None:
        """Return the condition that keeps anything from being stored; None: there is none."""
        return next((one.message for one in self.conditions if one.stops), None)

    def alerts(self) -> list[Alert]:
        """Return the conditions that are alerts."""
        return [alert_of(one) for one in self.conditions if one.is_alert]

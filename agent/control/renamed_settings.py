"""The settings that this site gives by old names, for its own people and for the manager's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from shared.errors import SettingError
from shared.settings import Renamed

__all__ = ["RenamedSettings"]


class RenamedSettings:
    """The result of the last reading of the settings."""

    def __init__(self, read: Callable[[], tuple[Renamed, ...]]) -> None:
        """read: reads the file and the command line. Raises SettingError."""
        self._read = read
        self.found = read()

    def refresh(self) -> None:
        """Read the settings again; a file that cannot be read changes nothing."""
        with suppress(SettingError):
            self.found = self._read()

"""The installation whose agent this is: learned when it joins, or with its first sync.

Invariant: an id that was learned changes only when the home joins again, so no other manager that
answers at the same address takes its place.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from agent.settings.home import write_whole
from shared.archive.errors import DiskFullError
from shared.wire.installation import read_installation

__all__ = ["KnownInstallation"]


class KnownInstallation:
    """The id of an installation, in a file beside the key."""

    def __init__(self, path: Path | None, manager: str) -> None:
        """path: None: nothing is kept. manager: the URL for which the id is good."""
        self._path = path
        self._manager = manager
        self.id = self._read()

    def learn(self, shown: str) -> None:
        """Keep the id of the manager that answered, where none is known."""
        if not self.id:
            self.join(shown)

    def join(self, shown: str) -> None:
        """Keep the id of the manager that this home joined; empty: it says none."""
        self.id = read_installation(shown)
        if self._path is None:
            return
        if not self.id:
            self._path.unlink(missing_ok=True)
            return
        kept = {"manager": self._manager, "installation": self.id}
        with suppress(DiskFullError):  # it is learned again with a sync
            write_whole(self._path, [json.dumps(kept).encode()])

    def _read(self) -> str:
        if self._path is None:
            return ""
        try:
            kept = json.loads(self._path.read_bytes())
            manager, shown = kept["manager"], kept["installation"]
        except (OSError, ValueError, KeyError, TypeError):
            return ""
        return read_installation(str(shown)) if manager == self._manager else ""

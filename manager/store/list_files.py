"""Server lists (M1) as files: made once per generation, streamed from there.

Invariant: a file holds the complete gzip of one agent's list of one generation, or is not there.
The tables are the truth: files are removed at start, because a machine that lost power may have
kept the file of a generation whose transaction it lost.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Final

from manager.store.durable_files import OpenFile, open_new, write_whole
from shared.wire.server_list import ListLine, encode

__all__ = ["ListFiles"]

KEPT: Final = 2  # the newest, and the one before, which a slow agent may still be reading
ENDING: Final = ".gz"


class ListFiles:
    """The folder of lists, one folder an agent."""

    def __init__(self, folder: Path, *, open_file: OpenFile = open_new) -> None:
        self._folder = folder
        self._open = open_file

    def clear(self) -> None:
        """Remove all lists; each is made again when it is next asked for. Only before serving."""
        for folder in self._folder.iterdir():
            shutil.rmtree(folder)

    def forget(self, agent_id: int) -> None:
        """Remove the lists of one agent."""
        shutil.rmtree(self._of(agent_id), ignore_errors=True)

    def open(self, agent_id: int, generation: int) -> BinaryIO | None:
        """Return the open list of this generation, or None where it was not made yet."""
        try:
            return self._path(agent_id, generation).open("rb")
        except FileNotFoundError:
            return None

    def write(self, agent_id: int, generation: int, lines: Iterable[ListLine]) -> BinaryIO:
        """Write the list of a generation, prune old ones, and return it open for reading.

        Of two that write the same list at once the last stays; both are complete.
        """
        folder = self._of(agent_id)
        folder.mkdir(mode=0o700, exist_ok=True)
        path = self._path(agent_id, generation)
        write_whole(path, iter(encode(lines)), open_file=self._open)
        written = path.open("rb")
        self._prune(folder)
        return written

    def _prune(self, folder: Path) -> None:
        made = [path for path in folder.iterdir() if path.suffix == ENDING]
        for path in sorted(made, key=lambda path: int(path.stem))[:-KEPT]:
            path.unlink(missing_ok=True)

    def _of(self, agent_id: int) -> Path:
        return self._folder / str(int(agent_id))

    def _path(self, agent_id: int, generation: int) -> Path:
        return self._of(agent_id) / f"{int(generation)}{ENDING}"

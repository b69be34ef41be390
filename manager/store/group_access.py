"""Group permissions of archive folders, for a web server in front.

An administrator gives the folder `archive` a group that the web server is in and this user too.
Folders and files that are sent get the same group, and it may read them, whatever the umask is.
Invariant: without a web server in front no user but this one reads anything.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from manager.store.errors import StoreError
from shared.frozen import frozen

__all__ = ["GroupAccess"]

FOLDER: Final = stat.S_IRGRP | stat.S_IXGRP
FILE: Final = stat.S_IRGRP


@frozen
class GroupAccess:
    """archive: the folder whose group may read what is put into it; None: no group may.

    Its methods raise StoreError where the folder has a group that this user is not in.
    """

    archive: Path | None = None

    def make_folder(self, folder: Path) -> None:
        """Make a folder, with those above it, if there is none."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._give(folder, FOLDER)

    def give(self, file: Path) -> None:
        """Give the group read access to a file."""
        self._give(file, FILE)

    def give_all(self, folders: Iterable[Path]) -> None:
        """Give the group read access to older files, also those of a restore."""
        for root in folders:
            for folder, _, names in os.walk(root):
                with contextlib.suppress(FileNotFoundError):
                    self._give(Path(folder), FOLDER)
                for name in names:
                    with contextlib.suppress(FileNotFoundError):
                        self._give(Path(folder, name), FILE)

    def _give(self, path: Path, rights: int) -> None:
        if self.archive is None:
            return
        group, now = self.archive.stat().st_gid, path.stat()
        try:
            if now.st_gid != group:
                os.chown(path, -1, group)
            if now.st_mode & rights != rights:
                path.chmod(stat.S_IMODE(now.st_mode) | rights)
        except PermissionError as error:
            raise StoreError(
                "store.front_group",
                path=str(path),
                group=group,
                archive=str(self.archive),
                why=error.strerror,
            ) from error

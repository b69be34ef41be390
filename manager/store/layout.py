"""Paths in the data directory.

    prsm.toml        settings, if any            prsm.sqlite   tables, unless they are elsewhere
    prsm.sock        socket of prsm commands     prsm.lock     the serving manager
    spool/           bodies as they come in; emptied at start
    lists/<agent id>/ the list of a generation as sent; can be made again from the tables

And in the same directory, or in one that several managers on one database share:

    logs/<agent id>/ one Parquet file a crawl log, named by the SHA-256 of its body
    rejected/        bodies that were refused, each with the reason
    archive/segments/<agent id>/  captures as WARC, unless they are in an object store
    archive/index/<agent id>/     the index of each segment: .parquet, .cdxj
    archive/daily/   the received segments of each of the last days, a file a day
    archive/results/ selections that were made as files for third parties
    uploads/         partially received segments, one file an upload
    incoming/        whole segments that wait to be verified
    transfers/       logs of received files, one a week
    releases/        files of releases, each named by its SHA-256
    trash/<day>/     files that no row named, under their paths; kept archive.trash_retention_s

Invariant: no name from the network is ever part of a path; agents are numbers here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from manager.store.errors import StoreError
from manager.store.group_access import GroupAccess

__all__ = ["FOLDERS", "Layout"]

FOLDERS: Final = frozenset(
    {
        *("spool", "lists", "logs", "rejected", "archive"),
        *("uploads", "incoming", "transfers", "releases", "trash"),
    }
)
"""The names of the folders in a data directory, or in one that several managers share."""


class Layout:
    """The folders and files of one data directory."""

    def __init__(self, data: Path, shared: Path | None = None, *, fronted: bool = False) -> None:
        """shared: where logs and refused bodies lie; None: in the data directory.

        fronted: a web server in front reads the archive.
        """
        self.data = data
        self.fronted = fronted
        self.database = data / "prsm.sqlite"
        self.socket = data / "prsm.sock"  # of the prsm commands
        self.lock = data / "prsm.lock"  # of the server process that uses this directory
        self.spool = data / "spool"  # bodies that are being received or worked on
        self.lists = data / "lists"  # server lists as they are sent

        self.kept = shared or data  # what the paths of reports are relative to
        self.logs = self.kept / "logs"  # crawl logs as Parquet
        self.rejected = self.kept / "rejected"  # bodies that were refused
        self.uploads = self.kept / "uploads"  # segments of which a part has come
        self.incoming = self.kept / "incoming"  # segments that have come and are not accepted yet
        self.transfer_logs = self.kept / "transfers"  # of received files, one a week
        self.releases = self.kept / "releases"  # the files of releases
        self.trash = self.kept / "trash"  # files that no row named, by the day they were moved

        self.archive = self.kept / "archive"
        self.segments = self.archive / "segments"  # captures that the manager keeps
        self.indexes = self.archive / "index"  # the index of each segment
        self.results = self.archive / "results"  # selections as files
        self.daily = self.archive / "daily"  # files of the last days, by day of arrival
        # A web server in front sends from these, and its group reads the archive beside this user.
        self.sent = (self.segments, self.indexes, self.results)
        self.access = GroupAccess(self.archive if fronted else None)

    @property
    def filled(self) -> tuple[Path, ...]:
        """The folders of files that cannot be made again, or cost others much."""
        return (*self.sent, self.uploads, self.incoming, self.logs, self.releases, self.trash)

    def create(self) -> None:
        """Make what is missing, private to this user but what a web server in front sends.

        Raises StoreError where it cannot.
        """
        private = GroupAccess()
        for folder, access in (
            *((folder, private) for folder in (self.data, self.spool, self.logs, self.lists)),
            *((folder, self.access) for folder in (self.archive, *self.sent)),
            *((folder, private) for folder in (self.rejected, self.daily, self.uploads)),
            *((folder, private) for folder in (self.incoming, self.transfer_logs, self.releases)),
        ):
            try:
                access.make_folder(folder)
            except FileExistsError as error:
                raise _no_folder(folder) from error
            except OSError as error:
                raise StoreError(
                    "store.directory_not_writable", path=str(folder), why=error.strerror
                ) from error
        if (self.trash.exists() or self.trash.is_symlink()) and not self.trash.is_dir():
            raise _no_folder(self.trash)

    def log_file(self, agent_id: int, sha256: str) -> Path:
        """Return where the log with this body is kept; the agent's folder is made."""
        folder = self.logs / str(int(agent_id))
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / f"{_checked(sha256)}.parquet"

    def index_file(self, key: str) -> Path:
        """Return where the index of the segment under a key is kept."""
        assert re.fullmatch(r"[0-9]{1,19}/[0-9a-f]{64}\.warc\.gz", key), "a key that we made"
        return self.indexes / (key.removesuffix(".warc.gz") + ".parquet")


def _no_folder(path: Path) -> StoreError:
    if path.is_symlink():
        target = str(path.readlink())
        return StoreError("store.directory_is_link", path=str(path), target=target)
    return StoreError("store.directory_is_file", path=str(path))


def _checked(sha256: str) -> str:
    assert re.fullmatch(r"[0-9a-f]{64}", sha256), "a digest that we computed"
    return sha256

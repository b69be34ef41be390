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
from shared.frozen import frozen

__all__ = ["FOLDERS", "Layout"]

FOLDERS: Final = frozenset(
    {
        *("spool", "lists", "logs", "rejected", "archive"),
        *("uploads", "incoming", "transfers", "releases", "trash"),
    }
)
"""The names of the folders in a data directory, or in one that several managers share."""


@frozen
class Layout:
    """The folders and files of one data directory.

    shared: where logs and refused bodies lie; None: in the data directory. fronted: a web server
    in front reads the archive.
    """

    data: Path
    shared: Path | None = None
    fronted: bool = False

    @property
    def kept(self) -> Path:
        """The folder that the paths of reports are relative to."""
        return self.shared or self.data

    @property
    def spool(self) -> Path:
        """Bodies that are being received or worked on."""
        return self.data / "spool"

    @property
    def logs(self) -> Path:
        """Crawl logs as Parquet."""
        return self.kept / "logs"

    @property
    def lists(self) -> Path:
        """Server lists as they are sent."""
        return self.data / "lists"

    @property
    def rejected(self) -> Path:
        """Bodies that were refused."""
        return self.kept / "rejected"

    @property
    def archive(self) -> Path:
        """Folders from which a web server in front may send, and some more."""
        return self.kept / "archive"

    @property
    def access(self) -> GroupAccess:
        """Group that reads the archive besides this user."""
        return GroupAccess(self.archive if self.fronted else None)

    @property
    def sent(self) -> tuple[Path, ...]:
        """The folders that a web server in front sends from."""
        return self.segments, self.indexes, self.results

    @property
    def segments(self) -> Path:
        """Captures that the manager keeps."""
        return self.archive / "segments"

    @property
    def indexes(self) -> Path:
        """The index of each segment."""
        return self.archive / "index"

    @property
    def results(self) -> Path:
        """Selections as files."""
        return self.archive / "results"

    @property
    def daily(self) -> Path:
        """Files of the last days, by day of arrival."""
        return self.archive / "daily"

    @property
    def uploads(self) -> Path:
        """Segments of which a part has come."""
        return self.kept / "uploads"

    @property
    def incoming(self) -> Path:
        """Segments that have come and are not accepted yet."""
        return self.kept / "incoming"

    @property
    def transfer_logs(self) -> Path:
        """Logs of received files, one a week."""
        return self.kept / "transfers"

    @property
    def releases(self) -> Path:
        """The files of releases."""
        return self.kept / "releases"

    @property
    def trash(self) -> Path:
        """Files that no row named, by the day on which they were moved there."""
        return self.kept / "trash"

    @property
    def filled(self) -> tuple[Path, ...]:
        """The folders of files that cannot be made again, or cost others much."""
        return (*self.sent, self.uploads, self.incoming, self.logs, self.releases, self.trash)

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.data / "prsm.sqlite"

    @property
    def socket(self) -> Path:
        """The Unix socket of the prsm commands."""
        return self.data / "prsm.sock"

    @property
    def lock(self) -> Path:
        """The file whose lock says that a server process uses this directory."""
        return self.data / "prsm.lock"

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

"""The agent's home: the places of its files, and the replacement of a small file.

Invariant: `write_whole` leaves the old file or the new one, never half of one, and the new one is
on the disk when it returns. Nothing outside the home is ever written. A disk without room is
DiskFullError, wherever it is met: it is no defect, and waiting may help.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from agent.settings.settings_file import SETTINGS_FILE
from shared.archive.errors import DiskFullError
from shared.errors import SettingError
from shared.frozen import frozen
from shared.full_disk import NO_ROOM

__all__ = ["PART", "Home", "full_disk_said", "sync_folder", "write_whole"]

PART: Final = ".part"  # the ending of files that are being written; removed at start


@frozen
class Home:
    """The names of everything an agent keeps. `docs/partner.md` lists them for people."""

    path: Path

    @property
    def settings(self) -> Path:
        """The settings, written by the partner."""
        return self.path / SETTINGS_FILE

    @property
    def key(self) -> Path:
        """The agent's key, mode 0600."""
        return self.path / "key.json"

    @property
    def new_key(self) -> Path:
        """A key that the manager has not confirmed yet."""
        return self.path / "key.new.json"

    @property
    def installation(self) -> Path:
        """The id of the installation that this agent belongs to."""
        return self.path / "installation.json"

    @property
    def lock(self) -> Path:
        """Locked by the process that works here."""
        return self.path / "lock"

    @property
    def link_state(self) -> Path:
        """Return the file of the link's memory: sequence number, minute, commands done."""
        return self.path / "link.json"

    @property
    def hold(self) -> Path:
        """Return the file of pause and drain requests, kept over restarts."""
        return self.path / "hold.json"

    @property
    def synced(self) -> Path:
        """Return the file of the version that last completed a sync."""
        return self.path / "synced.json"

    @property
    def status(self) -> Path:
        """Return the status file of the running process."""
        return self.path / "status.json"

    @property
    def month(self) -> Path:
        """Return the file of the bytes fetched in this month."""
        return self.path / "month.json"

    @property
    def load(self) -> Path:
        """Return the file of the machine's recent load."""
        return self.path / "load.json"

    @property
    def robot_log(self) -> Path:
        """Return the log file of the agent, which is bounded."""
        return self.path / "robot.log"

    @property
    def list(self) -> Path:
        """The server list (M1) in force."""
        return self.path / "list.gz"

    @property
    def outbox(self) -> Path:
        """Reports that the manager has not acknowledged."""
        return self.path / "outbox"

    @property
    def refused(self) -> Path:
        """Reports that the manager will not take, each with its reason."""
        return self.outbox / "refused"

    @property
    def sent(self) -> Path:
        """Crawl logs that were acknowledged, kept for a week."""
        return self.path / "sent"

    @property
    def crawl(self) -> Path:
        """The durable state of the crawl: ledger, open log, segments."""
        return self.path / "crawl"

    @property
    def segments(self) -> Path:
        """Captures as WARC, one file open and the others sealed."""
        return self.crawl / "segments"

    @property
    def collection(self) -> Path:
        """Return the folder of collection: see `agent.collection`."""
        return self.path / "collection"

    def make(self) -> None:
        """Make the folders, readable by this user only. Raises SettingError."""
        try:
            for folder in (
                *(self.path, self.outbox, self.refused, self.sent, self.crawl),
                self.collection,
            ):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SettingError(
                "agent_errors.home_not_made", home=str(self.path), why=error.strerror
            ) from error


def write_whole(target: Path, chunks: Iterable[bytes], *, mode: int = 0o600) -> int:
    """Replace a file so that its name appears only when it is complete; return its bytes.

    Whatever goes wrong, in the chunks or on the disk, leaves the old file or none. Raises
    DiskFullError.
    """
    part = target.with_name(target.name + PART)
    size_bytes = 0
    try:
        with full_disk_said(target):
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
            with os.fdopen(handle, "wb") as file:
                for chunk in chunks:
                    file.write(chunk)
                    size_bytes += len(chunk)
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
            sync_folder(target.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return size_bytes


@contextlib.contextmanager
def full_disk_said(path: Path) -> Iterator[None]:
    """Turn the system's words for a full disk into DiskFullError."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise DiskFullError("agent_errors.no_room", path=str(path), why=error.strerror) from error


def sync_folder(folder: Path) -> None:
    """Make the names in a folder as durable as the files behind them."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

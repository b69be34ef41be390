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

from shared.archive.errors import DiskFullError
from shared.errors import SettingError
from shared.full_disk import NO_ROOM

__all__ = ["PART", "SETTINGS_FILE", "Home", "full_disk_said", "sync_folder", "write_whole"]

SETTINGS_FILE: Final = "prs.toml"
PART: Final = ".part"  # the ending of files that are being written; removed at start


class Home:
    """The names of everything an agent keeps. `docs/partner.md` lists them for people."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings = path / SETTINGS_FILE  # written by the partner
        self.key = path / "key.json"  # the agent's key, mode 0600
        self.new_key = path / "key.new.json"  # one that the manager has not confirmed yet
        self.installation = path / "installation.json"  # the id of the one that it belongs to
        self.lock = path / "lock"  # locked by the process that works here
        self.link_state = path / "link.json"  # sequence number, minute, commands done
        self.hold = path / "hold.json"  # pause and drain requests, kept over restarts
        self.synced = path / "synced.json"  # the version that last completed a sync
        self.status = path / "status.json"  # of the running process
        self.month = path / "month.json"  # bytes fetched in this month
        self.load = path / "load.json"  # the machine's recent load
        self.robot_log = path / "robot.log"  # the log of the agent, which is bounded
        self.scope = path / "scope.json"  # scope of the crawl, as the manager last said it
        self.list = path / "list.gz"  # the server list (M1) in force
        self.outbox = path / "outbox"  # reports that the manager has not acknowledged
        self.refused = self.outbox / "refused"  # those that it will not take, with reasons
        self.sent = path / "sent"  # crawl logs that were acknowledged, kept for a week
        self.crawl = path / "crawl"  # the durable state: ledger, open log, segments
        self.segments = self.crawl / "segments"  # captures as WARC: one file open, others sealed
        self.collection = path / "collection"  # see `agent.collection`

    def make(self) -> None:
        """Make the folders, readable by this user only. Raises SettingError."""
        try:
            for folder in (
                self.path,
                self.outbox,
                self.refused,
                self.sent,
                self.crawl,
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

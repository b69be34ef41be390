"""The mark of the last commit, in a file beside the ledger: how far files had been committed.

A ledger that was restored from a backup knows less than lies beside it: what its newer self had
committed looks like the rest of a write that a crash cut short, which a start takes back. The mark
tells them apart. It is written after each commit and not synced, so after a loss of power it may
be older than the ledger, and then says nothing; it is never newer than the newest ledger.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Final

from agent.adapters.ledger.crawl_log import LogState
from agent.adapters.ledger.segments import SegmentState
from shared.frozen import frozen

__all__ = ["CommitMark", "Committed"]

FILE: Final = "committed"
LONGEST_BYTES: Final = 4096


@frozen
class Committed:
    """The numbers of a ledger that a commit stored."""

    next_job: int
    segments: SegmentState
    log: LogState

    def is_behind(self, other: Committed) -> bool:
        """Return whether another commit of the same ledger certainly came later."""
        mine, theirs = self.segments, other.segments
        return (
            other.next_job > self.next_job
            or theirs.next_serial > mine.next_serial
            or (
                bool(mine.name) and theirs.name == mine.name and theirs.size_bytes > mine.size_bytes
            )
            or other.log.serial > self.log.serial
            or (other.log.serial == self.log.serial and other.log.size_bytes > self.log.size_bytes)
        )


class CommitMark:
    """The mark of one ledger, written by its only process."""

    def __init__(self, folder: Path, secret: bytes) -> None:
        """Read what is there; a mark of another ledger counts as none."""
        self._ledger = blake2b(secret, digest_size=8, person=b"commit mark").hexdigest()
        self._secret = secret
        self.times_behind = 0
        self.last: Committed | None = None
        self._file = os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            values = json.loads(os.pread(self._file, LONGEST_BYTES, 0))
            if values["ledger"] == self._ledger:
                self.last = Committed(
                    int(values["next_job"]),
                    SegmentState(**values["segments"]),
                    LogState(**values["log"]),
                )
                self.times_behind = int(values["times_behind"])
        except (ValueError, KeyError, TypeError):
            self.last = None  # none yet, or half a one

    @property
    def name(self) -> str:
        """Return what tells the reports of this ledger from those of its newer self."""
        again = str(self.times_behind).encode() if self.times_behind else b""
        return blake2b(self._secret + again, digest_size=4).hexdigest()

    def write(self, committed: Committed) -> None:
        """Note a commit; without room nothing is noted."""
        values = {
            "ledger": self._ledger,
            "times_behind": self.times_behind,
            "next_job": committed.next_job,
            "segments": asdict(committed.segments),
            "log": asdict(committed.log),
        }
        data = json.dumps(values).encode()
        with contextlib.suppress(OSError):
            os.pwrite(self._file, data.ljust(LONGEST_BYTES // 4), 0)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

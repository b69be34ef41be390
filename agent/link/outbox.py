"""Reports on their way to the manager, kept on the disk until it has them.

A report is a file `NUMBER.KIND.KEY`: `log` is a crawl log (M3), `hosts` new hosts (M2), as they
are sent, byte for byte. NUMBER orders them; KEY names what they were made from, so that a report
which is made again after a crash is not sent twice.

Invariants: a report is whole and on the disk before anything forgets what it was made from; it
stays until it is acknowledged, or is moved to `refused/` with the reason beside it. Nothing is
deleted but acknowledged hosts and, after a week, acknowledged logs.
Source: seed 004, 5.1.7 (`transfer.log.yyyymmddhhMM`, kept for a week).
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Final, Literal

from agent.settings.home import PART, Home, full_disk_said, sync_folder, write_whole
from shared.errors import FormatError
from shared.frozen import frozen
from shared.messages import Message, message_of_row, row_of_message
from shared.wire.crawl_log import (
    NAME_LINE_LIMIT_BYTES,
    LogName,
    decode_name,
    encode_name,
)

__all__ = ["Outbox", "Refused", "Report", "ReportKind"]

ReportKind = Literal["log", "hosts"]

REASON: Final = ".reason"
SENT_PREFIX: Final = "transfer.log."
_NAME: Final = re.compile(r"([0-9]{8,})\.(log|hosts)\.([a-z0-9-]{1,80})")


@frozen
class Report:
    """One report that waits."""

    number: int
    kind: ReportKind
    key: str
    size_bytes: int
    path: Path


_BY_NUMBER: Final = attrgetter("number", "kind", "key")


@frozen
class Refused:
    """A report that the manager will not take."""

    name: str
    size_bytes: int
    reason: Message


class Outbox:
    """The folder of waiting reports; one process at a time works in it.

    Its threads may use it at once: one makes reports while another sends them.
    """

    def __init__(self, home: Home, *, agent: str, limit_bytes: int, keep_logs_s: float) -> None:
        """Open it, and remove what a crash left half written."""
        self._home = home
        self._agent = agent
        self._limit_bytes = limit_bytes
        self._keep_logs_s = keep_logs_s
        self._folder = threading.RLock()  # held while the folder is read or changed
        self._making = threading.Lock()  # held while a report is written, which may take long
        for part in home.outbox.glob(f"*{PART}"):
            part.unlink()

    def retune(self, *, limit_bytes: int, keep_logs_s: float) -> None:
        """Take other limits."""
        self._limit_bytes = limit_bytes
        self._keep_logs_s = keep_logs_s

    def put_log(self, key: str, minute: str, body: Iterable[bytes]) -> Report:
        """Keep a crawl log; body: its gzip part. One that is here already is returned unchanged."""
        name = encode_name(LogName(self._agent, minute))
        return self._put("log", key, chain([name], body))

    def put_hosts(self, key: str, body: Iterable[bytes]) -> Report:
        """Keep new hosts; body: the gzip list."""
        return self._put("hosts", key, body)

    def waiting(self) -> list[Report]:
        """Return the reports that wait, oldest first."""
        with self._folder:
            return sorted(_reports(self._home.outbox), key=_BY_NUMBER)

    def refused(self) -> list[Refused]:
        """Return what the manager refused, oldest first, each with its reason."""
        found = []
        with self._folder:
            for report in sorted(_reports(self._home.refused), key=_BY_NUMBER):
                reason = _read_reason(_reason_path(report.path))
                found.append(Refused(report.path.name, report.size_bytes, reason))
        return found

    @property
    def full(self) -> Message | None:
        """Return why the crawl must pause for reports; None: there is room."""
        waiting = self.waiting()
        size_bytes = sum(report.size_bytes for report in waiting)
        if size_bytes <= self._limit_bytes:
            return None
        return Message(
            "agent.outbox_full",
            reports=len(waiting),
            size_bytes=size_bytes,
            limit_bytes=self._limit_bytes,
        )

    def acknowledged(self, report: Report, epoch_ms: int) -> None:
        """Take a report out that the manager has: hosts are deleted, a log is kept a while."""
        with self._folder, full_disk_said(report.path):
            if report.kind == "hosts":
                report.path.unlink(missing_ok=True)
                sync_folder(self._home.outbox)
                return
            target = self._free_name(self._home.sent / f"{SENT_PREFIX}{_minute(report.path)}")
            # The age of a log counts from now; a second attempt after a crash finds it moved.
            os.utime(report.path, (epoch_ms / 1000, epoch_ms / 1000))
            report.path.replace(target)
            sync_folder(self._home.sent)
            sync_folder(self._home.outbox)
            self.clean(epoch_ms)

    def refuse(self, report: Report, reason: Message) -> None:
        """Set a report aside with the reason; moved back into the outbox it is sent again.

        The file of the reason has the sentence, for people, and its code and parameters below.
        """
        target = self._home.refused / report.path.name
        with self._folder, full_disk_said(target):
            said = f"{reason}\n{row_of_message(reason)}\n"
            write_whole(_reason_path(target), [said.encode()])
            report.path.replace(target)
            sync_folder(self._home.refused)
            sync_folder(self._home.outbox)

    def clean(self, epoch_ms: int) -> None:
        """Delete acknowledged logs that are older than the time they are kept."""
        with self._folder:
            for path in self._home.sent.glob(f"{SENT_PREFIX}*"):
                if epoch_ms / 1000 - path.stat().st_mtime > self._keep_logs_s:
                    path.unlink()

    def _put(self, kind: ReportKind, key: str, chunks: Iterable[bytes]) -> Report:
        with self._making:
            with self._folder:
                known = [*_reports(self._home.outbox), *_reports(self._home.refused)]
            for report in known:
                if (report.kind, report.key) == (kind, key):
                    return report
            number = max((report.number for report in known), default=0) + 1
            path = self._home.outbox / f"{number:08d}.{kind}.{key}"
            if not _NAME.fullmatch(path.name):
                raise FormatError("agent_errors.report_key", key=key[:80])
            size_bytes = write_whole(path, chunks)
            return Report(number, kind, key, size_bytes, path)

    def _free_name(self, path: Path) -> Path:
        target, number = path, 1
        while target.exists():
            number += 1
            target = path.with_name(f"{path.name}-{number}")
        return target


def _reports(folder: Path) -> Iterator[Report]:
    for path in folder.iterdir():
        match = _NAME.fullmatch(path.name)
        if match is None:
            continue
        number, kind, key = match.groups()
        known: ReportKind = "log" if kind == "log" else "hosts"
        yield Report(int(number), known, key, path.stat().st_size, path)


def _reason_path(report: Path) -> Path:
    return report.with_name(report.name + REASON)


def _read_reason(path: Path) -> Message:
    """Return a reason; of an older version there is the sentence only."""
    try:
        lines = path.read_text("utf-8").strip().splitlines()
    except FileNotFoundError:
        return Message("agent.reason_removed")
    found = message_of_row(lines[1]) if len(lines) > 1 else None
    return found or Message.of_text("\n".join(lines))


def _minute(log: Path) -> str:
    with log.open("rb") as file:
        line = file.readline(NAME_LINE_LIMIT_BYTES)
    return decode_name(line.removesuffix(b"\n")).minute

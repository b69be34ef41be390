"""The open crawl log (M3), and closed ones until they are handed on.

`crawl-NUMBER.log` has plain lines, append-only. A transaction closes a log: it adds the file to the
table of closed ones, and the next number becomes the open one. So a line is in exactly one log,
whatever happens. It is compressed when it is sent.

Sections: `#Round=` and `#MaxTransfer=` stand wherever the lines after them belong to another round
or kind than those before, with `#Refetch=1` where they were fetched again to be compared;
`#Since=` and `#Until=` are put at the head when the log is read. A line of a probe has the parts of
its time behind the status line: `X-Crawl-Time: lookup=4.2 connect=31.0 first-byte=87.5`.
`#Probed=URL` of a unit, in a section of crawls: its crawl continues its probe of the same round.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from agent.adapters.ledger.append_file import AppendedFile
from agent.adapters.ledger.database import Database, Query
from agent.adapters.ledger.trash import Trash
from agent.pipeline.messages.requests import FetchAnswer
from agent.pipeline.messages.robots import RulesDue
from shared.archive.segment import OpenFile
from shared.frozen import frozen
from shared.wire.crawl_log import Comment, encode_line, request_line
from shared.wire.gzip_stream import compress
from shared.wire.orders import OrderKind

__all__ = [
    "PROBE_PAGES",
    "ClosedLog",
    "ClosedLogs",
    "CrawlLog",
    "LogState",
    "discard_logs",
    "log_path",
    "logs_since",
]

PROBE_PAGES: Final = 50
"""`#MaxTransfer` of all but a crawl, as the source has it; 0 stands for a crawl."""

CHUNK_BYTES: Final = 1 << 18

_EXPLAINED: Final = ("retry", "malformed")
_NAME: Final = re.compile(r"crawl-([0-9]{8,})\.log")
_SERIALS: Final = Query[tuple[int]]("SELECT serial FROM closed_logs")
_LOGS: Final = Query[tuple[int, int, int, int]](
    "SELECT serial, since_ms, until_ms, size_bytes FROM closed_logs ORDER BY serial"
)


@frozen
class LogState:
    """Committed state of the open log."""

    serial: int
    size_bytes: int
    since_ms: int


@frozen
class ClosedLog:
    """A finished log that waits to be handed on.

    key: its name for ever, so that no receiver takes it twice.
    """

    serial: int
    path: Path
    since_ms: int
    until_ms: int
    size_bytes: int

    @property
    def key(self) -> str:
        """Return the name of the report that is made of it."""
        return f"log-{self.serial:08d}"

    def body(self) -> Iterator[bytes]:
        """Yield its gzip part, as the manager takes it."""
        return compress(self._plain())

    def _plain(self) -> Iterator[bytes]:
        for name, value in (("Since", self.since_ms), ("Until", self.until_ms)):
            yield encode_line(Comment(f"{name}={value}"))
        with self.path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk


class CrawlLog:
    """The log that grows."""

    def __init__(
        self,
        directory: Path,
        committed: LogState,
        open_file: OpenFile = io.FileIO,
        trash: Trash | None = None,
    ) -> None:
        """Open the folder as the last commit left it. trash: takes what no commit names."""
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._open_file = open_file
        self._section: tuple[int, OrderKind] | None = None
        self._serial = committed.serial
        self._since_ms = committed.since_ms
        path = log_path(directory, committed.serial)
        self._file = AppendedFile(path, committed.size_bytes, open_file, trash)

    @property
    def state(self) -> LogState:
        """Return the present state of the file."""
        return LogState(self._serial, self._file.size_bytes, self._since_ms)

    def append(self, requests: Sequence[FetchAnswer]) -> None:
        """Append requests; raises DiskFullError, and then none of them is there."""
        lines, section = [], self._section
        for one in requests:
            due = one.due
            if section is None or section[0] != due.round or section[1] != due.kind:
                section = (due.round, due.kind)
                lines += _head(*section)
            lines.append(
                request_line(
                    one.request.url,
                    one.request_bytes,
                    one.response_bytes,
                    max(0, round(one.elapsed_ms)),
                    _header(one),
                )
            )
        self._file.append(b"".join(lines))
        self._section = section

    def count_probe(self, unit: str, round_number: int) -> None:
        """Append that a unit's probe counts as part of its crawl; raises DiskFullError."""
        section: tuple[int, OrderKind] = (round_number, "crawl")
        lines = [] if section == self._section else _head(*section)
        self._file.append(b"".join((*lines, encode_line(Comment(f"Probed={unit}")))))
        self._section = section

    def sync(self) -> None:
        """Bring everything appended safely to the disk."""
        self._file.sync()

    def rotate(self, now_ms: int) -> ClosedLog:
        """Begin a new log; return the one before, synced and closed by the next transaction."""
        before = self._file
        since_ms = min(self._since_ms, now_ms)  # a clock may have been set back
        closed = ClosedLog(self._serial, before.path, since_ms, now_ms, before.size_bytes)
        self._file = AppendedFile(log_path(self._directory, self._serial + 1), 0, self._open_file)
        before.close()
        self._serial += 1
        self._since_ms = now_ms
        self._section = None
        return closed

    def remove_unknown(self, closed: set[int], trash: Trash) -> None:
        """Move away logs that are neither open nor closed: handed on, or another ledger's."""
        for path in self._directory.iterdir():
            match = _NAME.fullmatch(path.name)
            if match and int(match[1]) != self._serial and int(match[1]) not in closed:
                trash.take(path)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def log_path(directory: Path, serial: int) -> Path:
    """Return the file of a log."""
    return directory / f"crawl-{serial:08d}.log"


def logs_since(directory: Path, serial: int) -> dict[int, Path]:
    """Return the logs of a folder from a number on, by number."""
    found = ((_NAME.fullmatch(path.name), path) for path in directory.glob("*"))
    numbered = {int(match[1]): path for match, path in found if match}
    return {number: numbered[number] for number in sorted(numbered) if number >= serial}


def discard_logs(directory: Path, trash: Trash) -> None:
    """Move all logs away: a new ledger would write over them."""
    for path in directory.glob("*"):
        if _NAME.fullmatch(path.name):
            trash.take(path)


def _header(one: FetchAnswer) -> bytes:
    """Return the header of the answer, or why there is none; of a probe with its times."""
    header = one.header or _outcome(one)
    due = one.due
    if due.kind != "probe":
        return header
    lookup_ms = due.lookup_ms if isinstance(due, RulesDue) else None
    times = (("lookup", lookup_ms), ("connect", one.connect_ms), ("first-byte", one.first_byte_ms))
    parts = [f" {name}={took_ms:.1f}" for name, took_ms in times if took_ms]
    if not parts:
        return header
    # Behind the first line, whatever a site sends of the same name: the first one is ours.
    first, newline, rest = header.partition(b"\n")
    return first + newline + f"X-Crawl-Time:{''.join(parts)}\r\n".encode() + rest


def _outcome(one: FetchAnswer) -> bytes:
    """Return why there is no answer; where the code says too little, in words too."""
    text = f"X-Crawl-Outcome: {one.outcome}\r\n"
    if one.outcome in _EXPLAINED and one.detail:
        words = "".join(letter if letter.isprintable() else " " for letter in one.detail)
        text += f"X-Crawl-Reason: {words}\r\n"
    return text.encode()


def _head(round_number: int, kind: OrderKind) -> list[bytes]:
    """Return the head that precedes lines of a round and kind."""
    pages = 0 if kind == "crawl" else PROBE_PAGES
    comments = [f"Round={round_number}", f"MaxTransfer={pages}"]
    if kind == "refetch":
        comments.append("Refetch=1")
    return [encode_line(Comment(text)) for text in comments]


class ClosedLogs:
    """The closed logs of a folder."""

    def __init__(self, database: Database, directory: Path) -> None:
        self._database = database
        self._directory = directory

    def committed(self) -> list[ClosedLog]:
        """Return the logs by the last commit, oldest first."""
        return [
            ClosedLog(serial, log_path(self._directory, serial), since_ms, until_ms, size_bytes)
            for serial, since_ms, until_ms, size_bytes in self._database.ask_committed(_LOGS)
        ]

    def serials(self) -> set[int]:
        """Return the numbers of the logs."""
        return {serial for (serial,) in self._database.ask(_SERIALS)}

    def add(self, serial: int, since_ms: int, until_ms: int, size_bytes: int) -> None:
        """Add a log to the open transaction."""
        self._database.run(
            "INSERT INTO closed_logs (serial, since_ms, until_ms, size_bytes) VALUES (?,?,?,?)",
            (serial, since_ms, until_ms, size_bytes),
        )

    def forget(self, serial: int) -> bool:
        """Forget a log; return whether it was there."""
        return bool(self._database.run("DELETE FROM closed_logs WHERE serial = ?", (serial,)))

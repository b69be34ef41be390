"""A ledger in a folder, over several processes of which each may be killed."""

from __future__ import annotations

import resource
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

from agent.adapters.clock import SystemClock
from agent.adapters.ledger import LedgerOptions, SqliteLedger
from agent.adapters.ledger.seen_sets.runs import RunState
from agent.pipeline.ledger import Ledger
from shared.archive.encode import SegmentInfo
from shared.archive.errors import DiskFullError
from shared.archive.reader import iter_captures
from shared.wire.crawl_log import LogLine, decode_line

__all__ = ["OPTIONS", "TINY", "SqliteCase", "at_once", "captures_of", "lines_of", "open_ledger"]

INFO = SegmentInfo(software="prsm/test", operator="test", contact="mailto:robot@c.example")
OPTIONS = LedgerOptions(agent="a1.example", info=INFO, max_segment_bytes=1_000_000)
TINY = replace(OPTIONS, max_segment_bytes=3000, run_keys=4, journal_entries=8, jobs_in_memory=2)
"""Everything spills, merges and is let go of after a handful of URLs."""


def at_once(write: Callable[[], RunState]) -> Future[RunState]:
    """Write a run here and now, so that a test knows when it is there."""
    future: Future[RunState] = Future()
    try:
        future.set_result(write())
    except OSError as error:
        future.set_exception(error)
    except DiskFullError as error:
        future.set_exception(error)
    return future


def open_ledger(folder: Path, options: LedgerOptions = OPTIONS) -> SqliteLedger:
    """Open the ledger of a folder."""
    return SqliteLedger.open(folder, options, SystemClock(), submit=at_once)


def captures_of(folder: Path) -> list[str]:
    """Return the URLs of all captures in a ledger's folder, in the order they were written."""
    segments = sorted((folder / "segments").glob("*.warc.gz*"))
    urls = []
    for path in segments:
        if path.name.removesuffix(".open").endswith(".warc.gz"):
            with path.open("rb") as file:
                urls += [stored.capture.url for stored in iter_captures(file)]
    return urls


def lines_of(folder: Path) -> list[LogLine]:
    """Return the lines of all crawl logs in a ledger's folder, oldest first."""
    return [
        line
        for path in sorted((folder / "logs").iterdir())
        for number, text in enumerate(path.read_bytes().splitlines(), 1)
        if isinstance(line := decode_line(number, text), LogLine)
    ]


class SqliteCase:
    """The ledger of the contract suite; a full disk is a limit on the size of files."""

    def __init__(self, folder: Path, options: LedgerOptions = OPTIONS) -> None:
        self._folder = folder
        self._options = options
        self._ledger: SqliteLedger | None = None

    def start(self) -> Ledger:
        self._kill()
        self._ledger = open_ledger(self._folder, self._options)
        return self._ledger

    def captures(self) -> list[str]:
        return captures_of(self._folder)

    def log_urls(self) -> list[str]:
        return [line.url for line in lines_of(self._folder)]

    def fill_disk(self, full: bool) -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 if full else hard, hard))

    def end(self) -> None:
        self.fill_disk(False)
        self._kill()

    def _kill(self) -> None:
        if self._ledger is not None:
            self._ledger.abandon()
        self._ledger = None

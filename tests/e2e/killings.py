"""What an agent had done each time it was killed, and whether that was all it lost.

Words, for one kill:

    life        the time from the kill before (or the beginning) to this one; a request belongs to
                the life in which the site saw it begin (`mono_start` in the simulated web's log),
                so a life ends when the sites have read all that the dead process had sent
    started     requests for pages that began in the life, robots.txt left out
    acknowledged  captures that this life's commits made durable: those behind the last committed
                length of the segments before, up to the committed length that the ledger names
    in flight   started, less acknowledged: a request that is still under way, an answer in a page
                worker, or one that is written and not committed
    twice       pages of the life that were asked for again in a later one

The promise, by count: `twice <= in flight` for each single kill; by name: what was acknowledged is
never asked for again, and it is still there at the end.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import time
from bisect import bisect_left
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from shared.archive.reader import iter_captures
from shared.archive.segment import OPEN_SUFFIX
from tests.agent.app.scene import Scene
from tests.shared.archive.foreign import foreign_records

__all__ = ["Kill", "Killings"]

_OPEN_STATES = frozenset({"01", "08"})  # established, and closed by the other side only
LOOK_EVERY = 20  # kills: what lies on the disk is read by readers that are not ours


@dataclass
class Kill:
    """One of them. `url`s are pages, and what they redirect to."""

    at: float  # monotonic seconds
    acknowledged: set[str]
    started: list[str] = field(default_factory=list)
    twice: int = 0

    @property
    def in_flight(self) -> int:
        """Return how many requests had begun and were not acknowledged."""
        return len(self.started) - len(self.acknowledged)


class Killings:
    """All kills of one crawl."""

    def __init__(self, it: Scene) -> None:
        self._it = it
        self.kills: list[Kill] = []
        self._read: dict[str, int] = {}  # bytes of each segment whose captures are known
        self._known: set[str] = set()
        self._listening = _sockets_of(it.web.process.pid)

    def after_kill(self) -> None:
        """Take note of what the dead process had committed; changes nothing of it."""
        self._it.until("the sites to read all that was sent", self._sites_are_left)
        at = time.monotonic()
        fresh = self._fresh_captures()
        doubled = fresh & self._known
        assert not doubled, f"kept a second time: {sorted(doubled)[:3]}"
        self._known |= fresh
        self.kills.append(Kill(at, fresh))
        if len(self.kills) % LOOK_EVERY == 0:
            self._look()

    def judge(self) -> None:
        """Compare all that sites saw with all that is kept, at the end of the crawl."""
        it = self._it
        check_segments(it.home / "crawl" / "segments")
        kept, expected = it.captures(), it.web.expected()
        assert set(kept) >= expected.captures
        assert set(kept.values()) == {1}, "each page is kept once, however often it was fetched"
        lost = self._known - _all_captures(it.home / "crawl" / "segments")
        assert not lost, f"{len(lost)} captures were acknowledged and are lost: {sorted(lost)[:3]}"
        # A request whose page was still being worked on is sent, and logged, once more.
        assert not it.logged() - it.times_requested(), "no line without a request"
        assert set(it.logged()) >= expected.captures
        self._count_requests()
        for number, kill in enumerate(self.kills, 1):
            assert kill.twice <= kill.in_flight, (
                f"kill {number}: {kill.twice} pages were fetched again, {kill.in_flight} in flight"
            )

    def report(self, what: str, say: Callable[[str, object], None]) -> None:
        """Say what came out, for `make faults`."""
        twice = [kill.twice for kill in self.kills]
        in_flight = [kill.in_flight for kill in self.kills]
        working = sum(bool(kill.started) for kill in self.kills)
        say(f"{what}: kills", len(self.kills))
        say(f"{what}: pages fetched twice", sum(twice))
        print(
            f"\n{what}: {len(self.kills)} kills, {working} of them of a process that had begun "
            f"requests; 0 captures lost; {sum(twice)} pages fetched twice, {sum(in_flight)} in "
            f"flight (at one kill {max(twice)} and {max(in_flight)} at most)"
        )

    def _count_requests(self) -> None:
        """Sort the sites' log by lives."""
        ends = [kill.at for kill in self.kills]
        acknowledged: dict[str, int] = {}
        for number, kill in enumerate(self.kills):
            acknowledged |= dict.fromkeys(kill.acknowledged, number)
        lives: dict[str, list[int]] = {}
        for event in self._it.requests():
            url, life = self._it.url_of(event), bisect_left(ends, float(event["mono_start"]))
            lives.setdefault(url, []).append(life)
            if life < len(self.kills):
                self.kills[life].started.append(url)
        for url, numbers in lives.items():
            last = max(numbers)
            done_in = acknowledged.get(url, len(self.kills))
            assert last <= done_in, f"{url} was acknowledged in life {done_in}, asked for in {last}"
            for number in set(numbers) - {last}:
                self.kills[number].twice += 1
            assert len(numbers) == len(set(numbers)), f"{url} was asked for twice in one life"

    def _sites_are_left(self) -> bool:
        """Say whether no connection is open at the sites, nor waits there to be accepted."""
        web = self._it.web
        return not _connections_to(web.port) and _sockets_of(web.process.pid) <= self._listening

    def _fresh_captures(self) -> set[str]:
        """Return the URLs of what was committed since the last time."""
        folder = self._it.home / "crawl"
        fresh: set[str] = set()
        for path, size in _committed(folder).items():
            name = path.name.removesuffix(OPEN_SUFFIX)
            begin = self._read.get(name, 0)
            if size > begin:
                fresh |= _captures(path, begin, size)
                self._read[name] = size
        return fresh

    def _look(self) -> None:
        """Read what the next process would find with readers that are not ours."""
        folder = self._it.home / "crawl"
        for path, size in _committed(folder).items():
            _check_segment(path, size)


def _sockets_of(pid: int) -> int:
    """Return how many sockets a process has open."""
    found = 0
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found += str(descriptor.readlink()).startswith("socket:")
    return found


def _connections_to(port: int) -> int:
    """Return how many TCP connections to a port of this machine its owner has not closed."""
    found = 0
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, here, _, state = line.split()[:4]
        found += int(here.rpartition(":")[2], 16) == port and state in _OPEN_STATES
    return found


def check_segments(folder: Path) -> None:
    """Read every segment with two readers that are not ours; digests must be right."""
    for path in sorted(folder.iterdir()):
        if path.name.removesuffix(OPEN_SUFFIX).endswith(".warc.gz"):
            _check_segment(path, path.stat().st_size)


def _check_segment(path: Path, size: int) -> None:
    with path.open("rb") as file:
        records = foreign_records(file.read(size))
    assert all(one.block_ok for one in records), f"{path.name}: a record is broken"
    theirs = [one for one in records if one.kind in ("response", "revisit")]
    with path.open("rb") as file:
        ours = [one.capture.url for one in iter_captures(file) if one.offset < size]
    assert [one.fields["WARC-Target-URI"] for one in theirs] == ours


def _committed(folder: Path) -> dict[Path, int]:
    """Return the segments and how many bytes of each are committed, without changing anything."""
    if not (folder / "ledger.sqlite").exists():
        return {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-journal"):
            if (folder / name).exists():
                shutil.copy(folder / name, scratch)
        with closing(sqlite3.connect(Path(scratch) / "ledger.sqlite")) as database:
            if not database.execute("PRAGMA table_info(state)").fetchall():
                return {}
            rows = database.execute("SELECT segment, segment_bytes FROM state").fetchall()
    named, named_bytes = rows[0] if rows else ("", 0)
    sizes: dict[Path, int] = {}
    for path in sorted((folder / "segments").glob("*.warc.gz")):
        sizes[path] = path.stat().st_size
    for path in sorted((folder / "segments").glob(f"*.warc.gz{OPEN_SUFFIX}")):
        if path.name.removesuffix(OPEN_SUFFIX) == named:
            assert path.stat().st_size >= named_bytes, f"{path.name}: committed bytes are missing"
            sizes[path] = named_bytes
    return sizes


def _captures(path: Path, begin: int, end: int) -> set[str]:
    """Return the URLs of the captures in a part of a segment, robots.txt left out."""
    with tempfile.TemporaryFile() as part, path.open("rb") as file:
        file.seek(begin)
        part.write(file.read(end - begin))
        part.seek(0)
        urls = [stored.capture.url for stored in iter_captures(part)]
    pages = [url for url in urls if "/robots" not in url]
    assert len(pages) == len(set(pages)), "each page is kept once"
    return set(pages)


def _all_captures(folder: Path) -> set[str]:
    found: set[str] = set()
    for path in folder.iterdir():
        if path.name.removesuffix(OPEN_SUFFIX).endswith(".warc.gz"):
            found |= _captures(path, 0, path.stat().st_size)
    return found

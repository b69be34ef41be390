"""Killed at random moments, and at single system calls: nothing acknowledged is ever lost.

`make test-all` kills some twenty times each way; `make faults` as often as PRSM_KILLS says (200),
and at each of the first sixty syncs and writes of a process.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.adapters.clock import SystemClock
from agent.adapters.ledger import LedgerOptions, SqliteLedger
from shared.archive.encode import SegmentInfo
from shared.archive.reader import iter_captures
from tests.agent.app.scene import Scene, scene
from tests.programs import program
from tests.shared.archive.foreign import foreign_records
from tools.demo.system import BIN

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(7200)]

KILLS = int(os.environ.get("PRSM_KILLS", "20"))
CALLS = ("fsync,fdatasync", "pwrite64", "ftruncate,rename,unlink")
CALLS_KILLED = 60 if KILLS >= 200 else 6
LOOK_EVERY = 10  # kills: what lies on the disk is looked at record by record
UNCOMMITTED_S = 3.0  # a commit comes four times a second; a loaded machine is slower
INTERVAL_S = 0.4
OPTIONS = LedgerOptions("prs1", SegmentInfo("prsm/test", "test", "mailto:robot@c.example"))


class Killings:
    """What was on the disk when the agent had died, and what sites had seen."""

    def __init__(self, it: Scene) -> None:
        self._it = it
        self.killed_at: list[float] = []
        self.acknowledged: Counter[str] = Counter()

    def after_kill(self) -> None:
        """Note the time; now and then look at what the next process would find."""
        self.killed_at.append(time.monotonic())
        if len(self.killed_at) % LOOK_EVERY == 0:
            self._look()

    def _look(self) -> None:
        folder = self._it.home / "crawl"
        ledger = SqliteLedger.open(folder, OPTIONS, SystemClock())
        committed = self._it.captures()
        ledger.abandon()
        check_segments(folder / "segments")
        lost = self.acknowledged - committed
        assert not lost, f"{len(lost)} captures were acknowledged and are lost: {list(lost)[:3]}"
        self.acknowledged = committed

    def judge(self) -> int:
        """Compare all that sites saw with all that is kept; return how many pages came twice."""
        it = self._it
        check_segments(it.home / "crawl" / "segments")
        kept, expected = it.captures(), it.web.expected()
        assert set(kept) >= expected.captures
        assert set(kept.values()) == {1}, "each page is kept once, however often it was fetched"
        assert not self.acknowledged - kept
        # A request whose page was still being worked on is sent, and logged, once more.
        assert not it.logged() - it.times_requested(), "no line without a request"
        assert set(it.logged()) >= expected.captures
        times: dict[str, list[float]] = {}
        for event in it.requests():
            times.setdefault(it.url_of(event), []).append(float(event["mono_end"]))
        twice = 0
        for url, ends in times.items():
            for end in sorted(ends)[:-1]:
                twice += 1
                in_flight = any(-UNCOMMITTED_S < end - killed < 1 for killed in self.killed_at)
                assert in_flight, f"{url} was asked for twice, though it was not in flight"
        return twice


def check_segments(folder: Path) -> None:
    """Read every segment with two readers that are not ours; digests must be right."""
    for path in sorted(folder.iterdir()):
        if not path.name.removesuffix(".open").endswith(".warc.gz"):
            continue
        records = foreign_records(path.read_bytes())
        assert all(one.block_ok for one in records), f"{path.name}: a record is broken"
        with path.open("rb") as file:
            ours = [stored.capture.url for stored in iter_captures(file)]
        theirs = [one for one in records if one.kind in ("response", "revisit")]
        assert [one.fields["WARC-Target-URI"] for one in theirs] == ours


def report(what: str, killings: Killings, twice: int, say: Callable[[str, object], None]) -> None:
    """Say what came out, for `make faults`."""
    kills = len(killings.killed_at)
    say(f"{what}: kills", kills)
    say(f"{what}: pages fetched twice", twice)
    print(f"\n{what}: {kills} kills, 0 captures lost, {twice} pages fetched twice")


def test_killed_at_random_moments(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Whenever the agent dies, while it starts too, the next one goes on from its last commit."""
    chance = random.Random(11)
    pages = max(20, KILLS * 12 // 10)
    with scene(tmp_path, hosts=10, pages_mean=pages, interval_s=INTERVAL_S) as it:
        it.give_all()
        killings = Killings(it)
        for _ in range(KILLS):
            seen = len(it.web.requests())
            it.agent.start()
            if chance.random() < 0.85:
                it.until("a request", lambda seen=seen: len(it.web.requests()) > seen)  # type: ignore[misc]
            time.sleep(chance.random() * 0.8)
            it.agent.kill()
            killings.after_kill()
        assert it.once(seconds=1200) == 0, it.said()
        report("random moments", killings, killings.judge(), record_property)


def test_killed_at_each_sync_and_write(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """At whichever system call that changes the disk it dies, the state agrees with itself."""
    tracer = program("strace")
    with scene(tmp_path, hosts=10, pages_mean=60, interval_s=INTERVAL_S) as it:
        it.give_all()
        killings = Killings(it)
        step = 60 // CALLS_KILLED
        for calls in CALLS:
            for number in range(1, 61, step):
                it.agent.program.words = [
                    *(tracer, "-f", "-qq", "-o", str(tmp_path / "strace.log")),
                    *("-e", f"trace={calls}", "-e", f"inject={calls}:signal=KILL:when={number}"),
                    *(str(BIN / "prs"), "run"),
                ]
                it.agent.start()
                process = it.agent.program.process
                assert process is not None
                end = time.monotonic() + 20
                while process.poll() is None and time.monotonic() < end:
                    time.sleep(0.02)
                it.agent.kill()  # a process that calls it less often
                killings.after_kill()
        assert it.once(seconds=1200) == 0, it.said()
        report("system calls", killings, killings.judge(), record_property)

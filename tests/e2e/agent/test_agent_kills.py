"""Killed at random moments, and at single system calls: nothing acknowledged is ever lost.

`make test-all` kills some twenty times each way, or as often as PRSM_KILLS says (`make faults`: a
hundred times); from 200 on also at each of the first sixty syncs and writes of a process, and at
all its other calls that change the disk.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.agent.app.scene import Scene, scene
from tests.e2e.killings import Killings
from tests.programs import program
from tools.demo.system import BIN

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(7200)]

KILLS = int(os.environ.get("PRSM_KILLS", "20"))
EVERY = KILLS >= 200
INTERVAL_S = 0.4
FEW = (1, 7, 13, 19, 25, 31)

# Calls, and which of them, counted in each thread, end the process. Commits are made quickly, so
# that sixty syncs are some seconds. Writes go to pipes and sockets too: every fifth is enough.
CALLS: tuple[tuple[str, Iterable[int]], ...] = (
    ("fsync,fdatasync", range(1, 61) if EVERY else FEW),
    ("pwrite64", range(1, 61) if EVERY else FEW),
    ("write", range(1, 301, 5) if EVERY else (60, 200)),
    ("rename", range(1, 31) if EVERY else (1, 9)),
    ("unlink", range(1, 16) if EVERY else (1, 5)),
    ("ftruncate", range(1, 7) if EVERY else (1,)),
)
COMMIT_S = 0.05
LONGEST_LIFE_S = 30.0
MISSES = 2  # in a row: a process does not make so many of these calls

# A busy machine is slow, and a request that is given up would be sent again in the same life.
PATIENT = ("--set", "limits.first_byte_s=60", "--set", "limits.total_s=90")

QUICK = ("--set", "politeness.interval_s=0.05")

_ENDED_AT = re.compile(r"^\d+ +(\w+)\((?:-?\d+<([^>]*)>|\"([^\"]*)\")?.*= \?$", re.MULTILINE)


def test_killed_at_random_moments(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Whenever the agent dies, while it starts too, the next one goes on from its last commit."""
    rng = random.Random(11)
    pages = max(20, KILLS * 12 // 10)
    with scene(tmp_path, hosts=10, pages_mean=pages, interval_s=INTERVAL_S) as it:
        it.give_all()
        killings = Killings(it)
        it.agent.program.words = ["prs", "run", *PATIENT]
        for _ in range(KILLS):
            seen = len(it.web.requests())
            it.agent.start()
            if rng.random() < 0.85:
                it.until("a request", lambda seen=seen: len(it.web.requests()) > seen)  # type: ignore[misc]
            time.sleep(rng.random() * 0.8)
            it.agent.kill()
            killings.after_kill()
        assert it.once(*PATIENT, *QUICK, seconds=1200) == 0, it.said()
        killings.judge()
        killings.report("random moments", record_property)


def test_killed_at_each_sync_and_write(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """At whichever system call that changes the disk it dies, the state agrees with itself."""
    tracer = program("strace")
    # So many pages that hardly a process finds nothing left to do.
    with scene(
        tmp_path, hosts=10, pages_mean=KILLS * 4, pages_sigma=0.2, interval_s=INTERVAL_S
    ) as it:
        it.give_all()
        killings = Killings(it)
        ended_at: Counter[str] = Counter()
        for calls, numbers in CALLS:
            missed = 0
            for number in numbers:
                place = _kill_at(it, tracer, tmp_path / "strace.log", calls, number)
                killings.after_kill()
                ended_at[place] += 1
                missed = 0 if place else missed + 1
                if missed == MISSES:
                    break
        assert it.once(*PATIENT, *QUICK, seconds=1200) == 0, it.said()
        killings.judge()
        killings.report("system calls", record_property)
        for place, count in ended_at.most_common():
            print(f"{count:5d} {place or 'killed from outside: it makes no more of these calls'}")
        places = {place.split()[-1] for place in ended_at if place}
        missing = {"ledger.sqlite-wal", "*.warc.gz.open", "crawl-*.log"} - places
        assert not EVERY or not missing, f"no kill hit {missing}; it hit {sorted(places)}"


def _kill_at(it: Scene, tracer: str, log: Path, calls: str, number: int) -> str:
    """Run the agent until its so manieth call; return that call and its file, or "": none came.

    The tracer is the grandchild (-D), so that it is the agent whose end is waited for, and who is
    killed if nothing else happens.
    """
    log.unlink(missing_ok=True)
    it.agent.program.words = [
        *(tracer, "-D", "-f", "-y", "-qq", "-o", str(log)),
        *("-e", f"trace={calls}", "-e", "signal=none"),
        *("-e", f"inject={calls}:signal=KILL:when={number}"),
        *(str(BIN / "prs"), "run", *PATIENT, "--set", f"disk.commit_interval_s={COMMIT_S}"),
        # Otherwise it is a page worker that is killed at its own so manieth write.
        *(("--set", "pages.workers=0") if calls == "write" else ()),
    ]
    it.agent.start()
    process = it.agent.program.process
    assert process is not None
    end = time.monotonic() + LONGEST_LIFE_S
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    it.agent.kill()
    return _place(log)


def _place(log: Path) -> str:
    """Return the call in which a traced process ended, without numbers that are of one run."""
    match = _ENDED_AT.search(log.read_text(errors="replace")) if log.exists() else None
    if match is None:
        return ""
    name = (match[2] or match[3] or "").rpartition("/")[2]
    for pattern, general in (
        (r".*\.warc\.gz\.links\.gz(\.open)?", r"*.warc.gz.links.gz\1"),
        (r".*\.warc\.gz(\.open)?", r"*.warc.gz\1"),
        (r"crawl-\d+\.log", "crawl-*.log"),
        (r"\d+\.(log|hosts)\..*?(\.part)?", r"*.\1\2"),
        (r"(pipe|socket|anon_inode).*", r"\1"),
        (r"memfd.*", "memfd"),
    ):
        name = re.sub(rf"^{pattern}$", general, name)
    return f"{match[1]} {name}"

"""Savings of a filter before the exact set: the module `dedup` and the ledger on disk.

The exact set knows a million other URLs of the job. Pages of a hundred links go through
`Dedup.handle`; a commit every ten pages. The same links, the same ledger, another memory each time;
"none" asks the exact set about every link. In turns, the best of five rounds.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final
from unittest.mock import patch

from agent.adapters.clock import SystemClock
from agent.adapters.ledger.ledger import LedgerOptions, SqliteLedger
from agent.modules.counts import StopCounts
from agent.modules.dedup import Dedup
from agent.modules.limits import CrawlLimits, SeenUrls
from agent.modules.seen import STRUCTURES, Seen, make_seen
from agent.pipeline.messages.jobs import Job
from agent.pipeline.messages.pages import Candidate
from benchmarks.dedup.stream import Stream
from shared.archive.encode import SegmentInfo

__all__ = ["us_per_link"]

HOST = "http://www.example.jp:80/"
PAGE_LINKS = 100
PAGES_A_COMMIT = 10
ROUNDS = 5


ALL: Final[Mapping[str, SeenUrls]] = {
    "none": SeenUrls("none"),
    **{name: SeenUrls(name) for name in STRUCTURES},
    "lru+sbfl, k=4, 1 %": SeenUrls("lru+sbfl", hashes=4, false_positive_rate=0.01),
}
"""Each structure with its defaults, and the point of seed 003's figure 10."""


class Nothing:
    """A memory that remembers nothing."""

    def meet(self, keys: Sequence[int]) -> list[bool]:
        """Report all keys as new."""
        return [False] * len(keys)

    def forget(self, key: int) -> None:
        """Do nothing: no key is kept."""


def us_per_link(stream: Stream, links: int, size: int, known: int) -> dict[str, dict[str, float]]:
    """Return CPU microseconds a link, and questions to the exact set a link, for each memory."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        before = Path(scratch) / "before"
        _prepare(before, known)
        for _ in range(ROUNDS):
            for name, asked in ALL.items():
                folder = Path(scratch) / "run"
                shutil.copytree(before, folder)
                run = _run(replace(asked, urls=size), stream, links, folder)
                shutil.rmtree(folder)
                if name not in found or run["us_per_link"] < found[name]["us_per_link"]:
                    found[name] = run
    return found


def _open(folder: Path) -> SqliteLedger:
    info = SegmentInfo("prsm", "benchmark", "http://robot.example.org/")
    return SqliteLedger.open(folder, LedgerOptions("bench", info), SystemClock())


def _prepare(folder: Path, known: int) -> None:
    ledger = _open(folder)
    ledger.open_job(Job(1, HOST, "crawl", 1))
    for start in range(0, known, 10_000):
        ledger.add_new(1, [f"{HOST}{number:x}" for number in range(start, start + 10_000)])
        ledger.commit()
    ledger.close()


def _run(asked: SeenUrls, stream: Stream, links: int, folder: Path) -> dict[str, float]:
    ledger = _open(folder)
    questions = 0
    ask = ledger.add_new

    def counted(job: int, urls: Sequence[str]) -> list[bool]:
        nonlocal questions
        questions += len(urls)
        return ask(job, urls)

    def make(asked: SeenUrls) -> Seen:
        return make_seen(asked) if asked.structure != "none" else Nothing()

    limits = CrawlLimits(pages_per_host=10**9, seen=asked)
    with patch("agent.modules.dedup.make_seen", make):
        dedup = Dedup(ledger, limits, StopCounts())
    candidates = [
        Candidate(
            f"http://www.example.jp/pages/{key & 0xFFFF_FFFF_FFFF:x}.html", HOST, 1, 1, 0, HOST
        )
        for key in stream.keys[:links].tolist()
    ]
    begun = time.process_time()
    with patch.object(ledger, "add_new", counted):
        for page, start in enumerate(range(0, links, PAGE_LINKS), 1):
            for _ in dedup.handle_candidates(candidates[start : start + PAGE_LINKS]):
                pass
            if page % PAGES_A_COMMIT == 0:
                ledger.commit()
        ledger.commit()
    took = time.process_time() - begun
    ledger.close()
    return {"us_per_link": took / links * 1e6, "asked_per_link": questions / links}

"""Measure the work on pages: in this process, in worker processes, and its lower limit.

    python -m benchmarks.pages

The limit is what the C libraries alone take on the same bytes in the same run: lexbor's parse,
isal's gzip, one SHA-1. In workers, all processes' CPU time counts. Pages are worked on again and
again, so nothing is read from a disk; CPU time, the best of several rounds. In this process each
round begins without memory of the references of earlier pages; workers know them from the second.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from isal import igzip_lib
from selectolax.lexbor import LexborHTMLParser

from agent.adapters.allocator import keep_freed_memory
from agent.adapters.pages.pool import WorkerOptions, WorkerPages
from agent.adapters.pages.worker_start import by_command
from agent.app.startup.page_work import page_worker
from agent.modules.limits import PageLimits
from agent.modules.page.addresses import forget_references
from agent.modules.page.work import work_on
from agent.pipeline.messages.pages import Fetched, PageWork
from agent.settings import Settings
from agent.settings.groups.pages import PageSettings
from benchmarks.pages.forms import forms
from benchmarks.pages.samples import real, simulated

ROUNDS: Final = 5
UNDER_WAY: Final = 200  # pages with the workers at a time
LIMITS: Final = PageLimits("PRS")
TICKS: Final = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print a table and the result line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pages", type=int, default=3000, help="through workers, a round")
    chosen = arguments.parse_args()
    keep_freed_memory()
    load = os.getloadavg()[0]
    result: dict[str, object] = {"benchmark": "pages", "load": round(load, 1)}
    for name, pages in (("simulated", simulated()), ("real", real())):
        if not pages:
            print("no documentation is installed: run make bench-crawl once, as root")
            result[name] = None
            continue
        result[name] = _measured(name, pages, chosen.pages)
    print("RESULT", json.dumps(result))


def _measured(name: str, pages: list[Fetched], count: int) -> dict[str, float]:
    works = [work_on(page, LIMITS) for page in pages]
    size = sum(len(page.capture.body) for page in pages) / len(pages)
    links = sum(len(work.links.urls) for work in works) / len(works)
    print(f"{name}: {len(pages)} pages of {size:.0f} bytes with {links:.0f} different links")
    limit_us = _best_us(_least, pages)
    inline_us = _best_us(lambda page: work_on(page, LIMITS), pages)
    if name == "real":
        count //= 4
    workers_us, parent_us = _through_workers(pages, count, _real_door)
    crossing_us, _ = _through_workers(pages, count, _echo_door)
    figures = {
        "limit_us": limit_us,
        "in_process_us": inline_us,
        "in_workers_us": workers_us,
        "of_it_parent_us": parent_us,
        "crossing_us": crossing_us,
        "pages_per_cpu_s_in_process": 1e6 / inline_us,
        "pages_per_cpu_s_in_workers": 1e6 / workers_us,
        "limit_over_in_process": limit_us / inline_us,
        "limit_over_in_workers": limit_us / workers_us,
    }
    figures = {key: round(value, 3 if value < 2 else 1) for key, value in figures.items()}
    for key, value in (figures | forms(pages, works)).items():
        print(f"  {key:36} {value:>10}")
    return figures


def _least(page: Fetched) -> None:
    body = page.capture.body
    LexborHTMLParser(body)
    igzip_lib.compress(body, 2, igzip_lib.COMP_GZIP)
    hashlib.sha1(body, usedforsecurity=False).digest()


def _best_us(work: Callable[[Fetched], object], pages: Sequence[Fetched]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        forget_references()
        begun = time.process_time()
        for page in pages:
            work(page)
        best = min(best, time.process_time() - begun)
    return best / len(pages) * 1e6


def _real_door() -> WorkerPages:
    settings = Settings(home=Path(), pages=PageSettings(workers=1))
    workers = page_worker(settings, _unexpected)
    assert isinstance(workers, WorkerPages)
    return workers


def _echo_door() -> WorkerPages:
    command = [sys.executable, "-m", "benchmarks.pages.echo"]
    return WorkerPages(WorkerOptions(workers=1), by_command(command), {}, _no_archive, _unexpected)


def _unexpected(reason: str, example: str) -> None:
    raise RuntimeError(f"no page should stop a worker here: {reason}, {example}")


def _no_archive(page: Fetched, unread: str) -> PageWork:
    raise RuntimeError(f"no page should stop a worker here: {page.url}, {unread}")


def _through_workers(
    pages: list[Fetched], count: int, make: Callable[[], WorkerPages]
) -> tuple[float, float]:
    """Return microseconds a page: of all processes, and of this one."""

    async def scenario() -> tuple[float, float]:
        workers = make()
        await _feed(workers, pages, 2 * len(pages))
        rounds = []
        for _ in range(ROUNDS):
            own, others = time.process_time(), _cpu_s(workers.workers)
            await _feed(workers, pages, count)
            own, others = time.process_time() - own, _cpu_s(workers.workers) - others
            rounds.append(((own + others) / count * 1e6, own / count * 1e6))
        workers.close()
        return min(rounds)

    return asyncio.run(scenario())


async def _feed(workers: WorkerPages, pages: list[Fetched], count: int) -> None:
    left, done = count, 0
    over = asyncio.Event()

    def start() -> None:
        nonlocal left
        left -= 1
        workers.start(pages[left % len(pages)], take)

    def take(_: PageWork) -> None:
        nonlocal done
        done += 1
        if left:
            start()
        elif done == count:
            over.set()

    for _ in range(min(UNDER_WAY, count)):
        start()
    await over.wait()


def _cpu_s(pids: Sequence[int]) -> float:
    """Return the CPU time of processes, to within a hundredth of a second."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


if __name__ == "__main__":
    main()

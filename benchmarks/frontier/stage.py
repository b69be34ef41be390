"""One size: open the ledger, fill it up to the size, measure, and die by SIGKILL.

    python -m benchmarks.frontier.stage FOLDER HOSTS SIZE MEASURED

MEASURED: URLs; 0: fill it only. The last line on standard output is JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

from agent.adapters.clock import SystemClock
from agent.adapters.ledger import LedgerOptions, SqliteLedger
from agent.pipeline.ledger import QueuedUrl
from agent.pipeline.messages.jobs import Job
from agent.runners.garbage_collection import Garbage
from benchmarks.frontier.traffic import (
    PAGE_LINKS,
    Traffic,
    address_of,
    host_of_job,
    job_of_page,
    url_of_page,
)
from shared.archive.encode import SegmentInfo

COMMIT_PAGES = 250
LIST_SLICE = 10_000


def main() -> None:
    """Run one stage."""
    folder, hosts, size, measured = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    options = LedgerOptions(
        agent="bench.example", info=SegmentInfo("prsm/bench", "bench", "mailto:robot@bench.example")
    )
    started = time.perf_counter()
    ledger = SqliteLedger.open(folder, options, SystemClock())
    opened_s = time.perf_counter() - started
    page_file = folder / "pages"
    page = int(page_file.read_text()) if page_file.exists() else 0
    if not page:
        open_jobs(ledger, hosts)
    filled, fill_cpu_s = page, time.process_time()
    beside_s = threads_s()
    page = fill(ledger, hosts, page, size)
    fill_cpu_s = time.process_time() - fill_cpu_s
    # Runs are written and merged beside the crawl, seldom and long: every URL bears its share.
    beside_us = (threads_s() - beside_s) / (page - filled) * 1e6 if page > filled else 0.0
    started = time.perf_counter()
    traffic = Traffic(ledger, hosts, page)
    ready_s = time.perf_counter() - started
    Garbage().begin(time.monotonic())  # as the crawl loop does
    traffic.pass_through(min(5000, measured))  # every host of the first turns wants its robots.txt
    pauses = Pauses(ledger)
    loop_s, wall_s = time.thread_time(), time.perf_counter()
    traffic.pass_through(measured)
    loop_s, wall_s = time.thread_time() - loop_s, time.perf_counter() - wall_s
    page_file.write_text(str(traffic.next_page // PAGE_LINKS * PAGE_LINKS))
    look_ups = min(measured, page)
    known_s = time.process_time()
    traffic.look_up(look_ups)
    known_s = time.process_time() - known_s
    result = {
        "hosts": hosts,
        "known": ledger.known,
        "queued": ledger.waiting(),
        "loop_us_per_url": round(loop_s / max(1, measured) * 1e6, 2),
        "beside_us_per_url": round(beside_us, 2),
        "us_per_known_url": round(known_s / max(1, look_ups) * 1e6, 2),
        "wall_us_per_url": round(wall_s / max(1, measured) * 1e6, 2),
        "fill_us_per_url": round(fill_cpu_s / (page - filled) * 1e6, 2) if page > filled else 0.0,
        "worst_commit_ms": round(pauses.worst_s * 1000, 1),
        "opened_s": round(opened_s, 3),
        "ready_s": round(ready_s, 3),
        "rss_mb": peak_rss_mb(),
        "disk_mb": round(sum(one.stat().st_size for one in folder.rglob("*.*")) / 1e6, 1),
    }
    print(json.dumps(result), flush=True)
    job = 1
    ledger.add_new(job, ["http://lost.example/"])  # never committed
    ledger.push([QueuedUrl(0, "http://lost.example/", job, 0, 0, None)])
    os.kill(os.getpid(), signal.SIGKILL)


def threads_s() -> float:
    """Return the CPU seconds of the threads beside this one."""
    return time.process_time() - time.thread_time()


class Pauses:
    """The longest commit since it was made."""

    def __init__(self, ledger: SqliteLedger) -> None:
        self.worst_s = 0.0
        commit = ledger.commit

        def timed() -> None:
            started = time.perf_counter()
            commit()
            self.worst_s = max(self.worst_s, time.perf_counter() - started)

        ledger.commit = timed


def open_jobs(ledger: SqliteLedger, hosts: int) -> None:
    """Take a list of so many hosts, all of them placed."""
    for number in range(1, hosts + 1):
        assert ledger.new_job_number() == number
        host = host_of_job(number)
        ledger.open_job(Job(number, host, "crawl", 1))
        ledger.place_job(number, host, address_of(number))
        if number % LIST_SLICE == 0:
            ledger.commit()
    ledger.commit()


def fill(ledger: SqliteLedger, hosts: int, page: int, size: int) -> int:
    """Meet new pages until so many are known; return the next page."""
    pages = 0
    while page < size:
        job = job_of_page(page, hosts)
        urls = [url_of_page(job, one) for one in range(page, page + PAGE_LINKS)]
        new = ledger.add_new(job, urls)
        referer = url_of_page(job, 0)
        ledger.push(
            QueuedUrl(0, url, job, 2, 0, referer)
            for url, is_new in zip(urls, new, strict=True)
            if is_new
        )
        page += PAGE_LINKS
        pages += 1
        if pages % COMMIT_PAGES == 0:
            ledger.commit()
    ledger.commit()
    return page


def peak_rss_mb() -> float:
    """Return the most memory that this process had."""
    status = Path("/proc/self/status").read_text()
    line = next(one for one in status.splitlines() if one.startswith("VmHWM"))
    return round(int(line.split()[1]) / 1000, 1)


if __name__ == "__main__":
    main()

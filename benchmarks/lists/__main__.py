"""Pause of an agent's loop while it takes a list; `make bench-lists`.

One agent's crawl without its manager, and a web without end on loopback in another process. Hosts
that stay in every list are fetched all the time; the others come, stay, change, move away and
begin a new round in each of the lists. Printed of each list: seconds until it was in force,
the longest time in which the loop served no connection, by the clock and of its processor (which
tells the program from a busy machine), and the pages that were fetched meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from agent.adapters.clock import SystemClock
from agent.app.session.session import CrawlSession
from agent.pipeline.messages.jobs import ServerList
from agent.runners.event_gathering import new_event_loop
from agent.settings import Settings
from shared.wire.orders import ListHead, Order

BEAT_S: Final = 0.005
STAY: Final = 200  # hosts that are fetched all the time
REST_S: Final = 3.0  # between two lists


def settings(folder: Path) -> Settings:
    """Return an agent's settings: loopback may be crawled, and without a rest."""
    site = Settings(home=folder)
    gentle = replace(
        site.politeness,
        interval_s=0.0,
        fast_host_interval_s=0.0,
        delay_factor=0.0,
        burst_requests=0,
    )
    network = replace(site.network, parallel_hosts=300)
    dns = replace(site.dns, allowed_networks=("127.0.0.0/8",))
    robot = replace(site.robot, contact="benchmark@example.org")
    return replace(site, politeness=gentle, network=network, dns=dns, robot=robot)


def unit(place: int, port: int) -> str:
    """Return a host; each has a separate address."""
    return f"http://127.{1 + (place >> 16)}.{place >> 8 & 255}.{place & 255}:{port}/"


def lists(units: int, port: int) -> Iterator[tuple[str, ServerList]]:
    """Yield the lists, in the order in which they are taken, and what each of them is."""
    generation = 1
    first = [Order(unit(place, port)) for place in range(STAY)]

    def made(round_number: int, orders: list[Order]) -> ServerList:
        nonlocal generation
        generation += 1
        return ServerList(ListHead(round_number, generation), (*first, *orders))

    yield "the first hosts", made(1, [])
    # Nothing is asked of those that wait behind the ones that are fetched.
    many = [Order(unit(place, port)) for place in range(STAY, units)]
    yield f"{units} units, nearly all new", made(1, many)
    yield "the same, and one changed", made(1, [replace(many[0], interval_ms=60_000), *many[1:]])
    yield "every second one moved away", made(1, many[::2])
    yield "a new round", ServerList(ListHead(2, generation + 1), (*first, *many[::2]))


@dataclass(slots=True)
class Longest:
    """The longest delay of a beat of the loop: seconds of the clock, and of its processor."""

    clock_s: float = 0.0
    cpu_s: float = 0.0

    async def watch(self) -> None:
        """Beat without an end."""
        while True:
            due_s, cpu_s = time.monotonic() + BEAT_S, time.thread_time()
            await asyncio.sleep(BEAT_S)
            self.clock_s = max(self.clock_s, time.monotonic() - due_s)
            self.cpu_s = max(self.cpu_s, time.thread_time() - cpu_s)


async def measure(folder: Path, units: int, port: int) -> list[dict[str, object]]:
    """Crawl, and take one list after the other."""
    session = CrawlSession(
        settings(folder),
        folder / "crawl",
        "bench.example",
        SystemClock(),
        may_send=lambda: True,
        may_start=lambda: True,
    )
    longest = Longest()
    crawl, watch = asyncio.ensure_future(session.run()), asyncio.ensure_future(longest.watch())
    rows: list[dict[str, object]] = []
    for name, server_list in lists(units, port):
        pages, begun_s = session.reports.counters().pages, time.monotonic()
        longest.clock_s = longest.cpu_s = 0.0
        await session.list.replace(server_list)
        await session.list.report_finished_again()
        await asyncio.sleep(2 * BEAT_S)
        took_s = time.monotonic() - begun_s
        rows.append(
            {
                "list": name,
                "seconds": round(took_s, 2),
                "longest_pause_ms": round(longest.clock_s * 1000),
                "of_its_processor_ms": round(longest.cpu_s * 1000),
                "pages_meanwhile": session.reports.counters().pages - pages,
            }
        )
        print(json.dumps(rows[-1]), flush=True)
        await asyncio.sleep(REST_S)
        if crawl.done():
            crawl.result()  # what ended it
    watch.cancel()
    await session.halt()
    await session.close()
    return rows


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.lists")
    parser.add_argument("--units", type=int, default=100_000)
    arguments = parser.parse_args()
    words = [sys.executable, "-m", "benchmarks.lists.web"]
    with tempfile.TemporaryDirectory() as folder:
        web = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            assert web.stdout is not None
            port = int(web.stdout.readline())
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                rows = runner.run(measure(Path(folder), arguments.units, port))
        finally:
            web.terminate()
            web.wait()
    print("RESULT", json.dumps({"units": arguments.units, "rows": rows}))


if __name__ == "__main__":
    main()

"""Costs of a whole agent by its known URLs: a page, its memory, the time until it continues.

`prsm serve` hands the hosts of an endless web out and `prs run` crawls them for a while. Each size
has its own manager and agent, whose ledger is filled up to the size, which a crawl would
take hours for; nothing else reaches into a program. Then they crawl in turns.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, Final

from agent.adapters.clock import SystemClock
from agent.adapters.ledger import LedgerOptions, SqliteLedger
from agent.pipeline.ledger import QueuedUrl
from agent.settings import Home
from benchmarks.crawl.measure import measure
from benchmarks.crawl.nginx import Served, serve
from benchmarks.crawl.ours import AGENT, MANAGER
from benchmarks.frontier.endless import PLACES, address, path
from shared.archive.encode import SegmentInfo
from tools.demo.system import BIN, Agent, Manager, wait_for
from tools.held_port import HeldPort

__all__ = ["crawl_at"]

NAME: Final = "bench.example"
HOSTS_SOON_S: Final = 600.0  # a million hosts are taken up in minutes
COMMIT_URLS: Final = 50_000
LONGEST_END_S: Final = 120.0
LINKS: Final = 10
ENDED_IN_TIME: Final = 124
"""What timeout(1) ends with where it had to end the command."""


def crawl_at(
    sizes: list[int], hosts: int, seconds: float, turns: int, scratch: Path
) -> list[dict[str, Any]]:
    """Crawl for so many seconds at each size, in turns; return a row for each size.

    A row: the cost of its least turn, of all else the most.
    """
    with (
        HeldPort() as port,
        serve(scratch, scratch / "nginx", port, PLACES) as nginx,
        ExitStack() as managers,
    ):
        agents, known = {}, {}
        for size in sorted(sizes):
            place = scratch / str(size)
            manager = Manager(place / "manager", MANAGER).start()
            managers.callback(manager.stop)
            agents[size] = _with_hosts(manager, nginx, hosts, place)
            known[size] = _fill(agents[size], hosts, size)
        of_size: dict[int, list[dict[str, Any]]] = {size: [] for size in agents}
        for turn in range(turns):
            for size, agent in agents.items():
                of_size[size].append(_crawl(agent, nginx, seconds, scratch))
                print(
                    json.dumps({"known": size, "turn": turn + 1, **of_size[size][-1]}), flush=True
                )
    return [
        {"known": known[size], "hosts": hosts, **_of_turns(rows)} for size, rows in of_size.items()
    ]


def _of_turns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    row = {name: max(turn[name] for turn in rows) for name in rows[0]}
    row["us_per_page"] = min(turn["us_per_page"] for turn in rows)
    row["turns"] = [turn["us_per_page"] for turn in rows]
    return row


def _with_hosts(manager: Manager, nginx: Served, hosts: int, scratch: Path) -> Agent:
    """Return an agent that has all hosts as its work and has begun with the first."""
    scratch.mkdir(parents=True, exist_ok=True)
    token = manager.prsm("agents", "token", NAME)["token"]
    agent = Agent(scratch / "agent", NAME, AGENT).enrol(manager.url, token)
    listed = scratch / "tops.txt"
    listed.write_text("".join(f"http://{address(one)}:{nginx.port}/\n" for one in range(hosts)))
    manager.prsm("hosts", "import", str(listed))
    agent.prs("run", "--once", "--quiet")  # a round needs an agent that has called
    manager.prsm("rounds", "start", "--method", "random", "--no-probe")
    agent.start()
    try:
        wait_for("the first page", lambda: nginx.take_log().urls, seconds=HOSTS_SOON_S)
    finally:
        agent.stop()
    nginx.take_log()
    return agent


def _fill(agent: Agent, hosts: int, size: int) -> int:
    """Add pages of its hosts until the agent knows so many; return how many it knows."""
    ledger = SqliteLedger.open(
        Home(agent.home).crawl,
        LedgerOptions(NAME, SegmentInfo("prsm/bench", NAME, "mailto:benchmark@example.org")),
        SystemClock(),
    )
    try:
        width = max(1, len(str(size // hosts - 1)))
        jobs = [(row.job.number, row.job.unit) for row in ledger.each_job() if not row.finished]
        entered = 0
        for first in count(0, LINKS):
            for job, top in jobs:
                if ledger.known >= size:
                    return ledger.known
                _meet(ledger, job, [top[:-1] + path(first + one, width) for one in range(LINKS)])
                entered += LINKS
                if entered % COMMIT_URLS == 0:
                    ledger.commit()
        raise AssertionError("a list without end ended")
    finally:
        ledger.close()


def _meet(ledger: SqliteLedger, job: int, urls: list[str]) -> None:
    new = ledger.add_new(job, urls)
    ledger.push(
        QueuedUrl(0, url, job, 2, 0, urls[0])
        for url, is_new in zip(urls, new, strict=True)
        if is_new
    )


def _crawl(agent: Agent, nginx: Served, seconds: float, scratch: Path) -> dict[str, Any]:
    words = ["timeout", str(seconds), str(BIN / "prs"), "run", "--once", "--quiet"]
    begun_s = time.time()
    cost = measure(words, seconds + LONGEST_END_S, scratch / "measured", **agent.environment)
    if cost.status != ENDED_IN_TIME:
        said = (scratch / "measured" / "output.txt").read_text()
        sys.exit(f"prs run ended with {cost.status} before its time: {said[-2000:]}")
    fetched = nginx.take_log()
    status = json.loads(agent.prs("status", "--json"))["status"]
    return {
        "pages": fetched.urls,
        "us_per_page": round(cost.cpu_s / max(1, fetched.urls) * 1e6, 1),
        "first_page_s": round(fetched.first_s - begun_s, 1),
        "rss_mb": round(cost.peak_bytes / 1e6),
        "worst_pause_ms": round(status["worst_pause_ms"]),
        "worst_commit_ms": round(status["worst_commit_ms"]),
        "loop_ms": round(cost.loop_ms, 2),
    }

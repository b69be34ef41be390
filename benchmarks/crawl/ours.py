"""Our crawl: `prsm serve` hands the hosts out, `prs run --once` fetches them.

Shipped commands only. The agent keeps everything on that it has by default: robots.txt, queues and
seen-sets on disk, WARC, crawl log, permits. Set otherwise are the interval (0), the network that
may be crawled (loopback), and how soon manager and agent call each other, or the end would be
waited for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fastwarc.warc import ArchiveIterator, WarcRecordType

from benchmarks.crawl.measure import Cost, measure
from tools.demo.system import BIN, Agent, Manager

__all__ = ["Archived", "Pauses", "crawl"]

MANAGER: Final = """\
[policy]
tick_s = 0.5
sync_interval_s = 3.0
pending_sync_interval_s = 1.0
permit_s = 86400.0

[dns]
allowed_networks = ["127.0.0.0/8"]
"""

AGENT: Final = """\
[robot]
contact = "benchmark@example.org"

[links]
disabled_kinds = ["well_known"]

[politeness]
interval_s = 0.0
fast_host_interval_s = 0.0
delay_factor = 0.0
burst_requests = 0

[network]
parallel_hosts = 300

[dns]
allowed_networks = ["127.0.0.0/8"]

[disk]
reserve_bytes = 100000000
"""


@dataclass(frozen=True, slots=True)
class Archived:
    """Response and revisit records of answers with status 200 in the WARC, robots.txt not counted.

    urls: distinct targets among them.
    """

    records: int
    urls: int


@dataclass(frozen=True, slots=True)
class Pauses:
    """The longest time that the loop which fetches did one thing only, and by a commit; ms."""

    worst_ms: float
    worst_commit_ms: float


def crawl(tops: list[str], seconds: float, scratch: Path) -> tuple[Cost, Archived, Pauses]:
    """Crawl the hosts of some top pages; return what the agent cost, archived, and held up."""
    manager = Manager(scratch / "manager", MANAGER).start()
    try:
        token = manager.prsm("agents", "token", "bench.example")["token"]
        home = scratch / "agent"
        agent = Agent(home, "bench.example", AGENT).enrol(manager.url, token)
        listed = scratch / "tops.txt"
        listed.write_text("\n".join(tops))
        manager.prsm("hosts", "import", str(listed))
        agent.prs("run", "--once", "--quiet")  # a round needs an agent that has called
        manager.prsm("rounds", "start", "--method", "random", "--no-probe")
        words = [str(BIN / "prs"), "run", "--once"]
        cost = measure(words, seconds, scratch / "measured", **agent.environment)
        status = json.loads(agent.prs("status", "--json"))["status"]
    finally:
        manager.stop()
    pauses = Pauses(status["worst_pause_ms"], status["worst_commit_ms"])
    return cost, _archived(home), pauses


def _archived(home: Path) -> Archived:
    targets = []
    for segment in (*home.rglob("*.warc.gz"), *home.rglob("*.warc.gz.open")):
        kinds = WarcRecordType.response | WarcRecordType.revisit
        with segment.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=kinds, parse_http=True):
                target = record.headers["WARC-Target-URI"]
                if record.http_headers.status_code == 200 and not target.endswith("/robots.txt"):
                    targets.append(target)
    return Archived(len(targets), len(set(targets)))

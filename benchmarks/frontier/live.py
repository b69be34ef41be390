"""Hosts that all have turns, by the clock: a shipped agent before nginx on loopback.

Every host has a separate address, a robots.txt and pages without end. `prsm serve` hands all of
them out and `prs run` crawls them for a while, each at one interval. The CPU time is of all
processes of the agent, its start and the list included. Invariant: requests are counted and judged
from the log of nginx.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.crawl.measure import Cost, measure
from benchmarks.crawl.nginx import Logged, Served, serve
from benchmarks.crawl.ours import AGENT, MANAGER
from benchmarks.crawl.politeness import judge
from benchmarks.frontier.endless import PLACES, address
from tools.demo.system import BIN, Agent, Manager
from tools.held_port import HeldPort

__all__ = ["Live", "crawl_failing", "crawl_live", "figures_of"]

NAME: Final = "bench.example"
LONGEST_END_S: Final = 120.0
ENDED_IN_TIME: Final = 124
"""What timeout(1) ends with where it had to end the command."""
LATE: Final = 1.2
"""How much later than in the ideal case an address may have its first request."""


@dataclass(frozen=True, slots=True)
class Live:
    """Size of the crawl. in_memory: addresses; of more, each one is loaded for its turn."""

    hosts: int
    interval_s: float
    seconds: float
    in_memory: int

    def settings(self) -> str:
        """Return the agent's settings: as shipped, but for the interval, loopback and memory."""
        quick = "interval_s = 0.0\nfast_host_interval_s = 0.0\ndelay_factor = 0.0\n"
        quick += "burst_requests = 0\n"
        assert quick in AGENT
        polite = f"interval_s = {self.interval_s}\nfast_host_interval_s = {self.interval_s}\n"
        parallel = "\n[network]\nparallel_hosts = 300\n"
        assert parallel in AGENT
        settings = AGENT.replace(quick, polite).replace(parallel, "")
        return f"{settings}\n[memory]\naddresses = {self.in_memory}\n"


FAILURES: Final = """
        if ($host ~ "[0369]$") { return 503; }
        if ($host ~ "[147]$") { return 444; }
        location / { return 500; }
    """
"""Configuration of a web that has no page: a third of its hosts answers 503, a third cuts the
connection (444 is nginx's word for that), the others answer 500."""


def crawl_failing(live: Live, scratch: Path) -> dict[str, Any]:
    """Crawl hosts that all fail for a while; the names of the figures begin with `failing_`."""
    found = crawl_live(live, scratch, FAILURES)
    return {
        name.replace("live_", "failing_", 1): value
        for name, value in found.items()
        if "page" not in name and "share" not in name
    }


def crawl_live(live: Live, scratch: Path, places: str = PLACES) -> dict[str, Any]:
    """Crawl for a while; return the figures, whose names begin with `live_`.

    places: what the web answers, in nginx's words.
    """
    with HeldPort() as port, serve(scratch, scratch / "nginx", port, places) as nginx:
        manager = Manager(scratch / "manager", MANAGER).start()
        try:
            agent = _with_hosts(manager, live, nginx, scratch)
            cost = _run(agent, live.seconds, scratch)
        finally:
            manager.stop()
        requests = nginx.take_requests()
    status = json.loads(agent.prs("status", "--json"))["status"]
    return figures_of(live, requests, cost) | {
        "live_worst_pause_ms": round(status["worst_pause_ms"])
    }


def _with_hosts(manager: Manager, live: Live, nginx: Served, scratch: Path) -> Agent:
    token = manager.prsm("agents", "token", NAME)["token"]
    agent = Agent(scratch / "agent", NAME, live.settings()).enrol(manager.url, token)
    listed = scratch / "tops.txt"
    tops = (f"http://{address(number)}:{nginx.port}/\n" for number in range(live.hosts))
    listed.write_text("".join(tops))
    manager.prsm("hosts", "import", "--wait", str(listed))
    agent.prs("run", "--once", "--quiet")  # a round needs an agent that has called
    manager.prsm("rounds", "start", "--method", "random", "--no-probe")
    nginx.take_requests()
    return agent


def _run(agent: Agent, seconds: float, scratch: Path) -> Cost:
    words = ["timeout", str(seconds), str(BIN / "prs"), "run", "--quiet"]
    cost = measure(words, seconds + LONGEST_END_S, scratch / "measured", **agent.environment)
    if cost.status != ENDED_IN_TIME:
        said = (scratch / "measured" / "output.txt").read_text()
        sys.exit(f"prs run ended with {cost.status} before its time: {said[-2000:]}")
    return cost


def figures_of(live: Live, requests: list[Logged], cost: Cost) -> dict[str, Any]:
    """Return the figures of a crawl. Times begin with the first request of all.

    live_ideal_s: max(addresses / rate, interval), where rate is the turns a second of the process
    that fetches, of the time in which it ran or waited for a processor: others use this machine
    too. In 1.2 times that each address is to have its first request, in once more that its page.
    live_loop_turns_per_s: by the CPU time of that process alone. live_waited_for_cpu: the share of
    the time in which it could have run, but others had the processors.
    """
    begin_s = min(one.start_s for one in requests)
    first_s: dict[str, float] = {}
    page_s: dict[str, float] = {}
    for one in sorted(requests, key=lambda request: request.start_s):
        first_s.setdefault(one.address, one.start_s - begin_s)
        if one.path != "/robots.txt" and one.status == 200:
            page_s.setdefault(one.address, one.start_s - begin_s)
    rate = len(requests) / (cost.busiest_cpu_s + cost.busiest_waited_s)
    ideal_s = max(live.hosts / rate, live.interval_s)
    due_s = LATE * ideal_s
    politeness = judge(requests, live.interval_s)
    return {
        "live_hosts": live.hosts,
        "live_interval_s": live.interval_s,
        "live_in_memory": live.in_memory,
        "live_turns": len(requests),
        "live_turns_per_s": round(len(requests) / cost.cpu_s),
        "live_loop_turns_per_s": round(len(requests) / cost.busiest_cpu_s),
        "live_cores_used": round(cost.cpu_s / cost.wall_s, 2),
        "live_waited_for_cpu": round(cost.busiest_waited_s / cost.wall_s, 2),
        "live_share_of_turns": _share_of_turns(live, requests, begin_s),
        "live_rss_mb": round(cost.peak_bytes / 1e6),
        "live_without_request": live.hosts - len(first_s),
        "live_without_page": live.hosts - len(page_s),
        "live_first_request_last_host_s": round(max(first_s.values()), 1),
        "live_first_page_last_host_s": round(max(page_s.values(), default=-1.0), 1),
        "live_ideal_s": round(ideal_s, 1),
        "live_late_first_requests": sum(when > due_s for when in first_s.values()),
        "live_late_first_pages": sum(when > due_s + ideal_s for when in page_s.values()),
        "live_least_gap_s": politeness.least_gap_s,
        "live_violations": politeness.violations,
        "live_loop_ms": round(cost.loop_ms, 2),
    }


def _share_of_turns(live: Live, requests: list[Logged], begin_s: float) -> float:
    """Return which share of the turns that the interval allows took place."""
    last_s = max(one.start_s for one in requests)
    took_s = sum(one.end_s - one.start_s for one in requests) / len(requests)
    possible = live.hosts * (last_s - begin_s) / (live.interval_s + took_s)
    return round(len(requests) / possible, 3)

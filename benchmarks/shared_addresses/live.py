"""Sites behind shared addresses by the clock: shipped agents before a shipped manager.

simweb serves them and its log is the judge: requests of one registrable domain keep the interval,
and all requests to an address keep its rate. Times are a tenth of the defaults: the interval 2 s
for 20 s, the floor of an address 0.02 s for 0.2 s. What the programs take for themselves (ticks,
syncs, the 10 s between two counts of domains) is not scaled, and so weighs ten times as much.
"""

from __future__ import annotations

import json
import math
import sqlite3
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.progress import say
from benchmarks.shared_addresses.rates import allowed_per_s, most_per_s
from manager.assignment.shared_addresses import whole_interval_s
from simweb.judging.log_reader import Event, read_log
from simweb.launcher import SimulatedWeb, Value
from simweb.sites.robots import ROBOTS_KINDS
from tools.demo.fleet import FleetOptions, start_agents, start_manager
from tools.demo.rounds import describe
from tools.demo.system import Agent, Manager

__all__ = ["Site", "crawl_crowd", "crawl_farm", "crawl_names", "figures_of"]

INTERVAL_S: Final = 2.0
LEAST_S: Final = 0.02
SPAN_S: Final = 20
STALL_S: Final = 300.0
LOOK_S: Final = 10.0
CROWD_S: Final = 60.0
ONE_CLOCK: Final = 10**6  # domains, so that no address is shared
ROBOTS: Final = "/robots.txt"


@dataclass(frozen=True, slots=True)
class Site:
    """A web behind few addresses, and who crawls it. seconds: when the crawl is ended; inf: never.

    capacity_per_s: requests that an address can answer; 0: any number. delay_factor: how many times
    as long as an answer took its address rests.
    """

    names: int
    domains: int
    addresses: int
    agents: int
    pages: int = 1
    shared: bool = True
    capacity_per_s: float = 0.0
    delay_factor: float = 0.0
    seconds: float = math.inf


def crawl_names(names: int, domains: int, agents: int, before_s: float, at: Path) -> dict[str, Any]:
    """Crawl names at two addresses, and for `before_s` with one clock an address.

    In so short a time most hosts have had a request or two and few are done, so hosts an hour
    before are reckoned: requests an hour over those that a host takes.
    """
    site = Site(names, domains, 2, agents)
    found = _crawl(site, at / "shared")
    before = _crawl(Site(names, domains, 2, agents, shared=False, seconds=before_s), at / "before")
    per_host = found["requests"] / found["hosts_done"]
    before_per_hour = (before["requests"] - 1) / before["seconds"] * 3600 / per_host
    return {
        "live_interval_s": INTERVAL_S,
        "live_hosts_done": found["hosts_done"],
        "live_seconds": found["seconds"],
        "live_hosts_per_hour": found["hosts_per_hour"],
        "live_hosts_per_hour_before": round(before_per_hour),
        "live_times": round(found["hosts_per_hour"] / before_per_hour, 1),
        "live_most_per_s_at_an_address": found["most_per_s"],
        "live_allowed_per_s": found["allowed_per_s"],
        "live_largest_group": found["largest_group"],
        "live_largest_group_before": before["largest_group"],
        "live_agents_at_an_address": found["agents_at_an_address"],
        "live_violations": found["violations"] + before["violations"],
    }


def crawl_farm(agents: int, at: Path) -> dict[str, Any]:
    """Crawl forty names at one address that answers two requests a second."""
    site = Site(40, 40, 1, agents, pages=2, capacity_per_s=2.0, delay_factor=10.0)
    found = _crawl(site, at / "farm")
    return {
        "live_farm_hosts_done": found["hosts_done"],
        "live_farm_hosts_per_hour": found["hosts_per_hour"],
        "live_farm_most_per_s": found["most_per_s"],
        "live_farm_allowed_per_s": found["allowed_per_s"],
        "live_farm_capacity_per_s": site.capacity_per_s,
        "live_farm_slowest_answer_s": found["slowest_answer_s"],
        "live_farm_refused": found["refused"],
        "live_farm_largest_group": found["largest_group"],
        "live_farm_violations": found["violations"],
    }


def crawl_crowd(names: int, at: Path) -> dict[str, Any]:
    """Crawl so many names at one address for a while, as one agent: of ten domains, and of all."""
    result: dict[str, Any] = {"crowd_names": names}
    for rule, domains in (("one_clock", 10), ("shared", names)):
        site = Site(names, domains, 1, 1, shared=domains > 10, seconds=CROWD_S)
        found = _crawl(site, at / rule)
        for key in ("requests", "most_per_s", "allowed_per_s", "rss_mb", "worst_pause_ms",
                    "largest_group", "violations"):  # fmt: skip
            result[f"crowd_{rule}_{key}"] = found[key]
    return result


def _crawl(site: Site, folder: Path) -> dict[str, Any]:
    """Crawl a site by one round without probes; return what its log says."""
    fleet = FleetOptions(
        interval_s=INTERVAL_S,
        page_workers=1,
        delay_factor=site.delay_factor,
        first_byte_s=30.0,
        total_s=60.0,
        report_s=10.0,  # a log each second is more than a busy machine takes
        shared_address_domains=20 if site.shared else ONE_CLOCK,
        shared_least_interval_s=LEAST_S,
    )
    with ExitStack() as stack:
        web = stack.enter_context(SimulatedWeb(folder / "web", **_web(site)))
        manager = start_manager(stack, folder, web.dns_port, fleet)
        agents = start_agents(stack, manager, folder, site.agents, web.dns_port, fleet)
        manager.prsm("hosts", "import", "--wait", str(folder / "web" / "seeds.txt"))
        manager.prsm("rounds", "start", "--method", "random", "--no-probe")
        _wait(manager, site.seconds)
        group = _largest_group(manager.data / "prsm.sqlite")
        costs = [_cost(one) for one in agents]
    whole_s = whole_interval_s(INTERVAL_S, site.domains, LEAST_S) if site.shared else INTERVAL_S
    verdict = web.judge(
        interval_ms=INTERVAL_S * 1000,
        per_domain=site.shared,
        address_interval_ms=whole_s * 1000,
        address_agents=site.agents if site.shared else 1,
    )
    if not verdict.ok:
        say("\n".join(verdict.lines()))
    figures = figures_of(list(read_log(web.log_path)), whole_s, site.agents)
    return figures | {
        "largest_group": group,
        "violations": sum(verdict.violations.values()),
        "rss_mb": max(rss_mb for rss_mb, _ in costs),
        "worst_pause_ms": max(pause_ms for _, pause_ms in costs),
    }


def _web(site: Site) -> Mapping[str, Value]:
    return {
        "hosts": site.names,
        "addresses": site.addresses,
        "domains": site.domains,
        "domain": "jp",
        "seeds": 0,
        "regions": max(site.agents, 1),
        "pages_mean": float(site.pages),
        "pages_sigma": 0.0,
        "outlinks_mean": 0.0,
        "delay_ms": 0.0,
        "bandwidth_kb_s": 0.0,
        "trouble_scale": 0.0,
        "robots": [f"{kind}={int(kind == 'allow')}" for kind in ROBOTS_KINDS],
        "address_per_s": site.capacity_per_s,
    }


def _wait(manager: Manager, seconds: float) -> None:
    """Wait until the round is over, or for so long."""
    before, changed_s = "", time.monotonic()
    end_s = changed_s + seconds
    while True:
        detail = manager.prsm("rounds", "show")
        now, now_s = describe(detail), time.monotonic()
        if now != before:
            say(f"  {now}")
            before, changed_s = now, now_s
        if detail["round"]["state"] == "finished" or now_s >= end_s:
            return
        if now_s - changed_s > STALL_S:
            sys.exit(f"the round has not advanced for {STALL_S:.0f} s: {now}")
        time.sleep(min(LOOK_S, max(0.0, end_s - now_s)))


def _cost(agent: Agent) -> tuple[int, int]:
    """Return the most memory of the process that fetches, in MB, and its longest pause, in ms."""
    process = agent.program.process
    assert process is not None
    status = Path(f"/proc/{process.pid}/status").read_text()
    most = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    said = json.loads(agent.prs("status", "--json"))["status"]
    return round(int(most.split()[1]) / 1000), round(said["worst_pause_ms"])


def _largest_group(database: Path) -> int:
    sizes = "SELECT count(*) AS size FROM hosts GROUP BY group_id"
    with closing(sqlite3.connect(database)) as connection:
        found: int = connection.execute(f"SELECT max(size) FROM ({sizes})").fetchone()[0]
    return found


def figures_of(events: Iterable[Event], whole_s: float, agents: int) -> dict[str, Any]:
    """Return what a log says of a crawl.

    A host is done with its first page: hosts an hour are of the time between the first request and
    the last. whole_s: the interval of an address.
    """
    at: dict[str, list[float]] = defaultdict(list)
    clients: dict[str, set[str]] = defaultdict(set)
    done: set[str] = set()
    slowest_s, refused = 0.0, 0
    for one in events:
        if one["event"] != "request":
            continue
        at[one["server"]].append(one["mono_start"])
        clients[one["server"]].add(one["client"])
        slowest_s = max(slowest_s, one["mono_end"] - one["mono_start"])
        refused += one["status"] == 429
        if one["status"] == 200 and one["path"] != ROBOTS:
            done.add(one["host"])
    times = [when for of_address in at.values() for when in of_address]
    seconds = max(times) - min(times)
    return {
        "requests": len(times),
        "hosts_done": len(done),
        "seconds": round(seconds, 1),
        "hosts_per_hour": round(len(done) / seconds * 3600),
        "most_per_s": round(max(most_per_s(one, SPAN_S) for one in at.values()), 3),
        "allowed_per_s": round(allowed_per_s(whole_s, agents, SPAN_S), 3),
        "agents_at_an_address": max(map(len, clients.values())),
        "slowest_answer_s": round(slowest_s, 2),
        "refused": refused,
    }

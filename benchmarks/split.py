"""One big host, crawled by one agent and then split among several: how long, and the same pages?

    python -m benchmarks.split [--pages 20000] [--agents 4] [--interval-s 0.002] [--delay-ms 20]

A simulated host whose first byte takes `--delay-ms`, a manager and agents, each a shipped command.
Both crawls keep the host's interval: alone, one agent rests so long after each answer; split, each
of n rests n times as long. So the time of a page falls from interval + latency to interval +
latency / n (docs/adr/0070), which is printed beside the measured time. Times are the simulated
web's, from the first request of a round to the last. Prints a table; the last line is `RESULT` and
JSON. Ends with an error where the pages differ, one was fetched twice, or the rate was not kept.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from manager.assignment.host_shares import most_requests
from simweb.launcher import SimulatedWeb
from tools.demo.system import Agent, Manager, wait_for

__all__ = ["main"]

MANAGER: Final = """\
[policy]
tick_s = 0.5
sync_interval_s = 1.0
pending_sync_interval_s = 0.5
syncs_per_s = 1000.0
log_timeout_s = 5.0
refetch_share = 0.0

[dns]
servers = ["127.0.0.1:{dns_port}"]
allowed_networks = ["127.0.0.0/8"]
"""
AGENT: Final = """\
[robot]
contact = "benchmark@example.org"

[links]
disabled_kinds = ["well_known"]

[politeness]
interval_s = {interval_s}
fast_host_interval_s = {interval_s}
delay_factor = 0.0

[network]
source_address = "127.10.{region}.1"

[dns]
servers = ["127.0.0.1:{dns_port}"]
allowed_networks = ["127.0.0.0/8"]

[disk]
reserve_bytes = 1000000
"""
NEAR: Final = 0.1  # of the mean delay: what simweb gives a client in the host's own region
SPAN_MS: Final = 1000
SECONDS: Final = 1800.0


@dataclass(frozen=True, slots=True)
class Crawl:
    """Requests of one round, as the host saw them. starts: seconds, of all requests, in order."""

    seconds: float
    agents: int
    pages: Counter[str]
    starts: tuple[float, ...]

    @property
    def most_in_a_second(self) -> int:
        """Return the most requests in any second."""
        most = first = 0
        for last, time in enumerate(self.starts):
            while time - self.starts[first] > SPAN_MS / 1000:
                first += 1
            most = max(most, last - first + 1)
        return most


@contextmanager
def system(folder: Path, asked: argparse.Namespace) -> Iterator[tuple[SimulatedWeb, Manager]]:
    """Run a web of one host, a manager that knows it, and the agents."""
    with ExitStack() as stack:
        web = stack.enter_context(
            SimulatedWeb(
                folder / "web",
                hosts=1,
                seeds=0,
                regions=1,
                pages_mean=float(asked.pages),
                pages_sigma=0.0,
                names_per_address=1.0,
                trouble_scale=0,
                delay_ms=asked.delay_ms / NEAR,
                bandwidth_kb_s=0.0,
                robots=["crawl-delay=0", "error=0", "forbid=0", "others=0", "disallow=0"],
                seed=asked.seed,
            )
        )
        manager = Manager(folder / "manager", MANAGER.format(dns_port=web.dns_port))
        stack.callback(manager.stop)
        manager.start()
        for region in range(asked.agents):
            name = f"a{region}.example"
            text = AGENT.format(interval_s=asked.interval_s, dns_port=web.dns_port, region=region)
            token = manager.prsm("agents", "token", name)["token"]
            agent = Agent(folder / name, name, text).enrol(manager.url, token)
            stack.callback(agent.stop)
            agent.start()
        manager.prsm("hosts", "import", "--wait", str(folder / "web" / "seeds.txt"))
        yield web, manager


def crawl(web: SimulatedWeb, manager: Manager, method: str) -> Crawl:
    """Run a round to its end and return what the host saw of it."""
    before = len(web.requests())
    manager.prsm("rounds", "start", "--method", method, "--no-probe")

    def over() -> bool:
        return bool(manager.prsm("rounds", "show")["round"]["state"] == "finished")

    wait_for("the round", over, seconds=SECONDS, every_s=1.0)
    requests: list[dict[str, Any]] = web.requests()[before:]
    starts = sorted(request["mono_start"] for request in requests)
    return Crawl(
        seconds=max(request["mono_end"] for request in requests) - starts[0],
        agents=len({request["client"] for request in requests}),
        pages=Counter(one["path"] for one in requests if one["path"] != "/robots.txt"),
        starts=tuple(starts),
    )


def faults(before: Crawl, after: Crawl, asked: argparse.Namespace) -> list[str]:
    """Return what must not be: other pages, pages fetched twice, more requests than allowed."""
    found = []
    if before.pages.keys() != after.pages.keys():
        only = before.pages.keys() ^ after.pages.keys()
        found.append(f"{len(only)} pages are in one crawl only, as {min(only)}")
    twice = [page for page, times in after.pages.items() if times > 1]
    if twice:
        found.append(f"{len(twice)} pages were fetched twice, as {twice[0]}")
    if after.agents != asked.agents:
        found.append(f"{after.agents} agents crawled the split host, not {asked.agents}")
    most = most_requests(SPAN_MS, round(asked.interval_s * 1000), asked.agents)
    if after.most_in_a_second > most:
        found.append(f"{after.most_in_a_second} requests in a second, where {most} are allowed")
    return found


def main() -> int:
    """Run both crawls, print a table and the result."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--interval-s", type=float, default=0.002)
    parser.add_argument("--delay-ms", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=21)
    asked = parser.parse_args()
    # Ended by SIGTERM, it ends its programs too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with (
        tempfile.TemporaryDirectory(prefix="prsm-split-") as folder,
        system(Path(folder), asked) as (web, manager),
    ):
        [host] = [one["key"] for one in manager.prsm("hosts", "list")["hosts"]]
        before = crawl(web, manager, "random")
        words = ("--pieces", str(asked.agents), "--interval-s", str(asked.interval_s))
        made = manager.prsm("hosts", "split", host, *words)
        after = crawl(web, manager, "keep")
        latency_s = _latency_s(web)
    alone_s, together_s = (
        asked.interval_s + latency_s,
        asked.interval_s + latency_s / asked.agents,
    )
    rows = (("one agent", before), (f"split among {after.agents}", after))
    for name, one in rows:
        rate = len(one.starts) / one.seconds
        print(
            f"{name:<18} {len(one.pages):>7,} pages {one.seconds:>8.1f} s {rate:>7.1f} requests/s,"
            f" {one.most_in_a_second} at most in a second"
        )
    result = {
        "pages": len(before.pages),
        "agents": asked.agents,
        "interval_s": asked.interval_s,
        "latency_s": round(latency_s, 4),
        "before_s": round(before.seconds, 1),
        "after_s": round(after.seconds, 1),
        "gain": round(before.seconds / after.seconds, 2),
        "gain_by_interval_and_latency": round(alone_s / together_s, 2),
        "same_pages": before.pages.keys() == after.pages.keys(),
        "fetched_twice": sum(times > 1 for times in after.pages.values()),
        "most_in_a_second": after.most_in_a_second,
        "allowed_in_a_second": most_requests(SPAN_MS, round(asked.interval_s * 1000), asked.agents),
        "units": sum(len(piece["units"]) for piece in made["pieces"]),
        "unevenness": round(made["unevenness"], 3),
    }
    wrong = faults(before, after, asked)
    for fault in wrong:
        print(fault, file=sys.stderr)
    print("RESULT " + json.dumps(result))
    return 1 if wrong else 0


def _latency_s(web: SimulatedWeb) -> float:
    """Return the median time that the host took for an answer."""
    times = sorted(one["mono_end"] - one["mono_start"] for one in web.requests())
    return float(times[len(times) // 2])


if __name__ == "__main__":
    sys.exit(main())

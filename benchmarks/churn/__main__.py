"""A live crawl while agents come and go: how much longer, and is anything lost or fetched twice?

    python -m benchmarks.churn [--agents 8] [--every-s 60] [--permit-s 20] [--quick | --fake-time]

A simulated web, a manager and agents, each a shipped command. One round is crawled undisturbed, a
second one on a fresh system while an agent leaves or returns every minute: by SIGKILL, by SIGSTOP,
or because its line to the manager passes nothing on. Every second absence ends before the agent's
permit does. Each round ends when the last unit is finished; times are the manager's. Lost is a page
that the web has and no accepted line of a crawl log speaks of. Politeness is judged from the log of
the web. Prints a table; the last line is `RESULT` and JSON; the exit code is 1 where a promise is
broken. `--fake-time`: a long crawl at the default permits and poll times instead, in fake time.
Source: seed 004, 8.2.2 (agents that stop during a crawl).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from benchmarks.churn.absences import Absence, Member, absences
from benchmarks.churn.fake_time import fake_time_result
from benchmarks.churn.result import Crawl, broken_promises, result_of
from benchmarks.faults.evidence.observations import Request, requests_of
from benchmarks.faults.transit.line import Line
from benchmarks.progress import say
from simweb.launcher import SimulatedWeb
from tools.demo.fleet import FleetOptions, start_agents, start_manager
from tools.demo.rounds import describe, run_round
from tools.demo.system import Manager

STALL_S: Final = 900.0
LINES: Final = "1000000000"
ROBOTS: Final = "/robots.txt"
QUICK: Final = {"hosts": 40, "pages_mean": 60.0, "interval_s": 0.5, "every_s": 12.0,
                "permit_s": 10.0, "agents": 4}  # fmt: skip


def _web(asked: argparse.Namespace, folder: Path) -> SimulatedWeb:
    return SimulatedWeb(
        folder,
        hosts=asked.hosts,
        regions=asked.agents,
        seeds=0,
        seed=asked.seed,
        pages_mean=asked.pages_mean,
        pages_sigma=0.4,
        delay_ms=5.0,
        bandwidth_kb_s=0.0,
        robots=["crawl-delay=0", "error=0"],
        trouble_scale=0,
    )


def _crawl(asked: argparse.Namespace, folder: Path, *, disturbed: bool) -> tuple[Crawl, list[str]]:
    """Run one round on a fresh system; return it, and how the crawl was impolite."""
    fleet = FleetOptions(
        interval_s=asked.interval_s,
        parallel_hosts=asked.parallel,
        probe_pages=2,
        page_workers=1,
        first_byte_s=asked.permit_s / 10,
        total_s=asked.permit_s / 5,  # a permit must last longer than a request and an interval
        log_grace_s=10.0,
        permit_s=asked.permit_s,
        grace_s=asked.grace_s,
    )
    with ExitStack() as stack:
        web = stack.enter_context(_web(asked, folder / "web"))
        manager = start_manager(stack, folder, web.dns_port, fleet)
        port = int(manager.url.rpartition(":")[2])
        lines = [Line(port) for _ in range(asked.agents)]
        for line in lines:
            stack.callback(line.close)
        agents = start_agents(
            stack, manager, folder, asked.agents, web.dns_port, fleet,
            url_of=lambda region: f"http://127.0.0.1:{lines[region].port}",
        )  # fmt: skip
        members = [Member(agent, line) for agent, line in zip(agents, lines, strict=True)]
        manager.prsm("hosts", "import", "--wait", str(folder / "web" / "seeds.txt"))
        detail, away = _round(asked, manager, members, disturbed=disturbed)
        begun_s = time.monotonic() - (time.time() - detail["round"]["crawling_ms"] / 1000)
        clients = {f"127.10.{number}.1": one.name for number, one in enumerate(agents)}
        requests = [
            one
            for one in requests_of(web.log_path, clients)
            if one.at_s >= begun_s and one.path != ROBOTS
        ]
        accepted, quarantined = _accepted(manager)
        found = [f"prsm check: {one}" for one in manager.prsm("check")["findings"]]
        verdict = web.judge(interval_ms=asked.interval_s * 1000)
        impolite = [] if verdict.ok else list(verdict.lines())
        expected = web.expected().captures
        lost = expected - accepted
        for url in sorted(lost)[:5]:
            say(f"    no accepted line: {url}")
        requests.sort(key=_moment)
    seconds = float(detail["round"]["elapsed_ms"]) / 1000
    crawl = Crawl(seconds, len(expected), len(lost), quarantined, requests, away)
    return crawl, [*impolite, *found]


def _moment(request: Request) -> float:
    return request.at_s


def _round(
    asked: argparse.Namespace, manager: Manager, members: list[Member], *, disturbed: bool
) -> tuple[dict[str, Any], list[Absence]]:
    """Run a round to its end; agents are away from when it crawls."""
    crawling, over = threading.Event(), threading.Event()
    away: list[Absence] = []

    def disturb() -> None:
        crawling.wait()
        long_s = max(asked.every_s, 1.5 * (asked.permit_s + asked.grace_s))
        for one in absences(
            members, asked.every_s, asked.permit_s / 4, long_s, lambda: not over.is_set()
        ):
            away.append(one)
            how = "short" if one.is_short else "long"
            say(f"    {one.agent} was {one.kind} for {one.back_s - one.left_s:.0f} s ({how})")

    def show(detail: dict[str, Any]) -> None:
        if detail["round"]["crawling_ms"] is not None:
            crawling.set()
        say(f"  {describe(detail)}")

    worker = threading.Thread(target=disturb, name="absences")
    if disturbed:
        worker.start()
    try:
        detail = run_round(manager, "default", stall_s=STALL_S, show=show, look_every_s=5.0)
    finally:
        over.set()
        crawling.set()
        if disturbed:
            worker.join()
    return detail, away


def _accepted(manager: Manager) -> tuple[set[str], int]:
    """Return the URLs of accepted lines that tell of a page, and how many were of others' units."""
    found, quarantined = set(), 0
    for line in manager.run("logs", "--limit", LINES, "--json").splitlines():
        one = json.loads(line)
        if one.get("quarantined"):
            quarantined += 1
        else:
            found.add(one["url"])
    return found, quarantined


def main() -> None:
    """Run both crawls and print the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--hosts", type=int, default=160)
    parser.add_argument("--pages-mean", type=float, default=80.0, help="pages a host")
    parser.add_argument("--interval-s", type=float, default=2.0, help="between two fetches")
    parser.add_argument("--parallel", type=int, default=20, help="requests under way, an agent")
    parser.add_argument("--every-s", type=float, default=60.0, help="one leaves or returns")
    parser.add_argument("--permit-s", type=float, default=20.0)
    parser.add_argument("--grace-s", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1, help="of the simulated web")
    parser.add_argument("--quick", action="store_true", help="four agents, small hosts")
    parser.add_argument("--fake-time", action="store_true", help="defaults, days in minutes")
    asked = parser.parse_args()
    if asked.fake_time:
        with tempfile.TemporaryDirectory(prefix="prsm-churn-") as folder:
            figures = fake_time_result(Path(folder), asked.agents, asked.hosts, asked.seed)
        for name, value in figures.items():
            say(f"  {name:32} {value:>10g}")
        print("RESULT " + json.dumps(figures))
        sys.exit(1 if figures["fake_lost"] else 0)
    if asked.quick:
        vars(asked).update(QUICK)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    begun, load = time.monotonic(), os.getloadavg()[0]
    crawls: list[Crawl] = []
    complaints: list[str] = []
    for disturbed in (False, True):
        say("agents come and go" if disturbed else "undisturbed")
        with tempfile.TemporaryDirectory(prefix="prsm-churn-") as folder:
            crawl, found = _crawl(asked, Path(folder), disturbed=disturbed)
        crawls.append(crawl)
        complaints += found
    result = result_of(crawls[0], crawls[1], asked.parallel)
    broken = broken_promises(result, complaints)
    say(f"\n{asked.agents} agents, {asked.hosts} hosts, permit {asked.permit_s:g} s, "
         f"a change each {asked.every_s:g} s")  # fmt: skip
    for name, value in result.items():
        say(f"  {name:28} {value:>10g}")
    for sentence in broken:
        say(f"broken: {sentence}")
    result |= {"permit_s": asked.permit_s, "interval_s": asked.interval_s, "broken": len(broken)}
    result |= {"load_before": round(load, 1), "wall_s": round(time.monotonic() - begun, 1)}
    print("RESULT " + json.dumps(result))
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()

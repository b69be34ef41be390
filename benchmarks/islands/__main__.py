"""Pages that only other hosts link to, fetched by several agents in two rounds.

    python -m benchmarks.islands [--agents 4] [--hosts 24] [--share 0.6] [--seed 1]

A simulated web in which `--share` of the hosts have a directory that one page of another host
links to and nothing else, and chains: a page of a directory that leads to a directory of the next
host. A manager and the agents are started by shipped commands. Pages are judged by the web's own
log: `missing` is the number of reachable pages that no agent was given after two rounds. The
traffic of the exchange is what the lines between agents and manager carried for M2 and M1, heads
and answers included. M1 has the units too, so it is an upper bound. The last line is `RESULT` and
JSON. Source: seed 004, 5.1.5, which left the traffic of deep foreign pages open.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from benchmarks.islands.exchange import FOUND, LIST, CountedLine
from benchmarks.progress import say
from simweb.launcher import SimulatedWeb
from simweb.sites.robots import ROBOTS_KINDS
from tools.demo.fleet import FleetOptions, start_agents, start_manager
from tools.demo.rounds import describe, run_round
from tools.demo.system import Manager

ROUNDS: Final = 2


def _show(detail: dict[str, Any]) -> None:
    say(f"round {detail['round']['number']}: {describe(detail)}")


def _web(options: argparse.Namespace, folder: Path) -> SimulatedWeb:
    return SimulatedWeb(
        folder,
        hosts=options.hosts,
        regions=options.agents,
        seeds=0,
        seed=options.seed,
        pages_mean=options.pages_mean,
        pages_max=200,
        islands=options.share,
        island_chain=True,
        validators_share=0.0,
        delay_ms=2.0,
        robots=["allow=1", *(f"{kind}=0" for kind in ROBOTS_KINDS if kind != "allow")],
        trouble_scale=0,
    )


def _fetched(web: SimulatedWeb) -> tuple[set[str], int]:
    """Return the URLs that were answered with a page, and the number of requests for pages."""
    asked = [one for one in web.requests() if one["path"] != "/robots.txt"]
    urls = {
        f"http://{one['host']}:{web.port}{one['path']}" for one in asked if one["status"] == 200
    }
    return urls, len(asked)


def _repeated(web: SimulatedWeb, probe_pages: int) -> tuple[int, int]:
    """Return how many requests fetched a page that another agent's probe had fetched before.

    First those of probes, then those of the crawls of owners: these would fetch nothing twice if
    they were handed what the others probed. To be asked after one round: the owner of a host is the
    agent that asked it for most.
    """
    asked: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in web.requests():
        if one["path"] != "/robots.txt":
            asked[one["host"]][one["client"]].append(one["path"])
    by_probes = by_owners = 0
    for agents in asked.values():
        owner = max(agents, key=lambda agent: len(agents[agent]))
        others = [paths for agent, paths in agents.items() if agent != owner]
        probed = {path for paths in others for path in paths}
        by_owners += len(probed & set(agents[owner][probe_pages:]))
        by_probes += sum(map(len, others)) - len(probed - set(agents[owner][:probe_pages]))
    return by_probes, by_owners


def _run(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    fleet = FleetOptions(
        interval_s=options.interval_s, probe_pages=options.probe_pages, page_workers=1
    )
    with ExitStack() as stack:
        web = stack.enter_context(_web(options, folder / "web"))
        reachable = set(web.expected().captures)
        manager = start_manager(stack, folder, web.dns_port, fleet)
        port = int(manager.url.rpartition(":")[2])
        lines = [CountedLine(port) for _ in range(options.agents)]
        for line in lines:
            stack.callback(line.close)
        start_agents(
            stack, manager, folder, options.agents, web.dns_port, fleet,
            url_of=lambda region: f"http://127.0.0.1:{lines[region].port}",
        )  # fmt: skip
        _import(manager, folder)
        rows: list[tuple[int, int, int, int]] = []
        for _ in range(ROUNDS):
            detail = run_round(manager, "random", stall_s=300.0, show=_show, look_every_s=2.0)
            fetched, requests = _fetched(web)
            got, before = len(reachable & fetched), sum(row[3] for row in rows)
            number, missing = detail["round"]["number"], len(reachable - fetched)
            rows.append((number, got, missing, requests - before))
            if len(rows) == 1:
                by_probes, by_owners = _repeated(web, options.probe_pages)
        found = manager.prsm("check")["findings"]
        sent = {path: sum(line.carried[path] for line in lines) for path in (FOUND, LIST)}
    say("\nround  fetched  missing  requests")
    for number, got, missing, requests in rows:
        say(f"{number:5}  {got:7}  {missing:7}  {requests:8}")
    for url in sorted(reachable - fetched)[:10]:
        say(f"missing: {url}")
    if found:
        raise SystemExit(f"`prsm check` found {len(found)} problems, the first: {found[0]}")
    _, got, missing, requests = rows[-1]
    pages = ROUNDS * max(1, got)
    all_requests = sum(row[3] for row in rows)
    return {
        "reachable": len(reachable),
        "fetched": got,
        "missing": missing,
        "missing_after_one": rows[0][2],
        "requests_per_page": round(all_requests / pages, 3),
        "requests_per_page_first": round(rows[0][3] / max(1, rows[0][1]), 3),
        "repeated_by_probes": by_probes,
        "repeated_by_owners": by_owners,
        "requests_per_page_without_probes": round(requests / max(1, got), 3),
        "found_bytes_per_page": round(sent[FOUND] / pages, 1),
        "list_bytes_per_page": round(sent[LIST] / pages, 1),
        "exchange_bytes_per_page": round(sum(sent.values()) / pages, 1),
    }


def _import(manager: Manager, folder: Path) -> None:
    manager.prsm("hosts", "import", "--wait", str(folder / "web" / "seeds.txt"))


def main() -> None:
    """Run both rounds and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="of the simulated web")
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--hosts", type=int, default=24)
    parser.add_argument("--share", type=float, default=0.6, help="of the hosts with an island")
    parser.add_argument("--pages-mean", type=float, default=12.0, help="pages a host")
    parser.add_argument("--probe-pages", type=int, default=4, help="pages of a probe")
    parser.add_argument("--interval-s", type=float, default=0.05, help="between two fetches")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="islands-") as folder:
        result = _run(options, Path(folder))
    say("RESULT " + json.dumps(result))
    if result["missing"]:
        raise SystemExit(f"{result['missing']} reachable pages were never fetched")


if __name__ == "__main__":
    main()

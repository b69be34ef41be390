"""Each page of the console, of a manager with 1,000 agents, 10^6 hosts and 10^7 log lines.

    python -m benchmarks.console [--agents 1000] [--hosts 1000000] [--lines 10000000]
                                 [--turns 20] [--only sqlite|postgresql] [--pages PART] [--no-whole]

The manager is the shipped command, which continues its work meanwhile. Each page is requested
once after the start; when the manager has done what it begins with over such a database, `--turns`
times, one after the other, by a logged-in person who reads English, then by one who reads
Japanese; at last lists as CSV to their end, and searches through all logs. Prints tables; the last
line is `RESULT` and JSON: of both databases together, and for each

    p95_ms       of the slowest page: 95 of 100 requests took no longer
    worst_page   which that is
    weight_kb    of the heaviest page with all that a browser loads for it, as transferred
    cpu_ms       median of the page that costs the manager and its database most, `dearest_page`:
                 the figure that others on the machine do not spoil
    first_ms     of the page that took longest to answer for the first time after the start
    counted_ms   of the page that took longest to be there with all its figures then
    floor_ms     p95 of /healthz in the same run: what no page can be faster than
    rss_mb       of the manager's process after the pages, and `peak_mb` its most, exports included
    fill_s       seconds for the rows and files, before anything is measured
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.console.data import HOST, Filled
from benchmarks.console.page_views import (
    LANGUAGES,
    PASSWORD,
    PageCost,
    addresses,
    log_in,
    measure_pages,
    p95,
    timed,
)
from benchmarks.console.served_manager import KINDS, Served, serve
from benchmarks.console.whole import Download, download, search_all
from tests.e2e.manager_process import prsm

DECISIONS = 5
"""Of people: hosts left out, tokens for scripts, lines of the block list."""


def main() -> int:
    """Fill, serve, measure every page, print."""
    asked = _arguments()
    filled = Filled(asked.agents, asked.hosts, asked.lines)
    of_kind: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        if asked.only not in (None, kind):
            continue
        with tempfile.TemporaryDirectory(prefix="prsm-console-") as name:
            data = Path(name) / "data"
            with serve(kind, data, filled) as served:
                much = f"{filled.agents:,} agents, {filled.hosts:,} hosts, {filled.lines:,} lines"
                print(f"{kind}: {much} made in {served.fill_s:.0f} s", flush=True)
                users = ("users", "add", "hana", "--role", "admin", "--password-stdin")
                prsm(data, *users, stdin=f"{PASSWORD}\n")
                prsm(data, "clients", "add", "library", "--contact", "library@bench.example")
                prsm(data, "clients", "token", "library")
                _decide(data)
                of_kind[kind] = _measured(kind, served, filled, asked)
    print("RESULT " + json.dumps(_of_both(of_kind) | of_kind))
    return 0


def _decide(data: Path) -> None:
    """Do what people at a centre do, so that each list has something in it."""
    for number in range(2, 2 + DECISIONS):
        host = HOST.format(number, number)
        prsm(data, "hosts", "exclude", host, "--reason", "its owner asked")
        prsm(data, "tokens", "add", f"nightly-{number}", "--user", "hana")
        prsm(data, "fleet", "block", f"/calendar/{number}/", "--reason", "never ends")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--hosts", type=int, default=1_000_000)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--pages", default="", help="only addresses with this in them")
    parser.add_argument("--no-whole", action="store_true", help="no exports, no whole searches")
    return parser.parse_args()


def _measured(
    kind: str, served: Served, filled: Filled, asked: argparse.Namespace
) -> dict[str, Any]:
    pid = served.manager.process.pid
    with served.manager.client(follow_redirects=True) as client:
        log_in(client)
        paths = [path for path in addresses(filled) if asked.pages in path]
        costs = [
            cost
            for language in LANGUAGES
            for cost in measure_pages(client, served, paths, asked.turns, language)
        ]
        floor_ms = p95([timed(client, "/healthz")[0] for _ in range(asked.turns)])
        _print_costs(kind, costs, floor_ms, served.background())
        rss_mb = _memory_mb(pid, "VmRSS")
        if not asked.no_whole:
            _print_whole(
                download(client, served, "/console/hosts.csv"),
                download(client, served, "/console/hosts.csv?sort=-volume"),
                download(client, served, "/console/hosts.csv?q=d7.example"),
                download(client, served, "/console/audit.csv"),
                download(client, served, "/console/probes/distances.csv"),
                search_all(client, served, host="nothing.example"),
                search_all(client, served, host=f"h{filled.hosts // 2}.d0.example", status="500"),
            )
    peak_mb = _memory_mb(pid, "VmHWM")
    print(f"memory of the manager: {rss_mb:.0f} MB after the pages, {peak_mb:.0f} at most\n")
    slowest = max(costs, key=lambda cost: cost.p95_ms)
    dearest = max(costs, key=lambda cost: cost.cpu_ms)
    first = max(costs, key=lambda cost: cost.first_ms)
    return {
        "p95_ms": round(slowest.p95_ms, 1),
        "worst_page": slowest.name,
        "weight_kb": round(max(cost.weight_kb for cost in costs), 1),
        "cpu_ms": round(dearest.cpu_ms, 1),
        "dearest_page": dearest.name,
        "first_ms": round(first.first_ms, 1),
        "first_page": first.name,
        "counted_ms": round(max(cost.counted_ms for cost in costs), 1),
        "floor_ms": round(floor_ms, 1),
        "rss_mb": round(rss_mb),
        "peak_mb": round(peak_mb),
        "fill_s": round(served.fill_s),
        "pages": len(costs),
    }


def _of_both(of_kind: dict[str, dict[str, Any]]) -> dict[str, Any]:
    worst = max(of_kind.values(), key=lambda one: float(one["p95_ms"]))
    weights = [one["weight_kb"] for one in of_kind.values()]
    return {name: worst[name] for name in ("p95_ms", "worst_page")} | {"weight_kb": max(weights)}


def _print_costs(kind: str, costs: list[PageCost], floor_ms: float, background: float) -> None:
    load = os.getloadavg()[0]
    print(f"\n{kind}, load {load:.1f}, the manager by itself {background:.2f} of a core:")
    print("    p95 ms    CPU ms  first ms   counted        kB  page")
    for cost in sorted(costs, key=lambda cost: -cost.p95_ms):
        print(f"{cost.p95_ms:10.1f}{cost.cpu_ms:10.1f}{cost.first_ms:10.1f}"
              f"{cost.counted_ms:10.1f}{cost.weight_kb:10.1f}"
              f"  {cost.name}")  # fmt: skip
    print(f"{floor_ms:10.1f}{'':40}  /healthz\n", flush=True)


def _print_whole(*done: Download | tuple[Download, float]) -> None:
    print("   first s   whole s     CPU s      rows        MB  as a whole")
    for each in done:
        one, longest_ms = each if isinstance(each, tuple) else (each, None)
        said = "" if longest_ms is None else f"  longest answer {longest_ms:.0f} ms"
        print(f"{one.first_s:10.2f}{one.whole_s:10.1f}{one.cpu_s:10.1f}{one.rows:10,}"
              f"{one.size_mb:10.1f}  {one.path}{said}", flush=True)  # fmt: skip


def _memory_mb(pid: int, name: str) -> float:
    found = re.search(rf"{name}:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1000


if __name__ == "__main__":
    sys.exit(main())

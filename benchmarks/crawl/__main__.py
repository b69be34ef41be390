"""This agent, Scrapy and crawlee on the same pages, side by side: `make bench-crawl`.

Prints what each costs, and `RESULT {json}` with `simulated` and `real`. All follow the same links:
those to pages, and those to what a browser loads with a page. Counted as pages are distinct URLs
that nginx answered with 200, robots.txt not counted. Ends with an error where our WARC does not
hold exactly the URLs that nginx saw, or where a peer missed more than a fiftieth of ours.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.crawl import ours
from benchmarks.crawl.limit import requests_per_s
from benchmarks.crawl.measure import Cost
from benchmarks.crawl.nginx import Fetched, Served, serve
from benchmarks.crawl.others import Peers
from benchmarks.crawl.web import Web, real_web, simulated_web

LONGEST_S: Final = 3600.0
PEERS: Final = ("scrapy", "crawlee")
REFERENCE: Final = "scrapy-reference"
LEAST_OF_REFERENCE: Final = 0.9
LEAST_OF_PAGES: Final = 0.98  # srcset, forms and the like lead us to some that peers do not see


@dataclass(frozen=True, slots=True)
class Run:
    """One crawler on one web."""

    name: str
    cost: Cost
    fetched: Fetched

    @property
    def pages_per_cpu_s(self) -> float:
        """Pages a second of CPU time, of all its processes."""
        return self.fetched.urls / self.cost.cpu_s

    @property
    def pages_per_s(self) -> float:
        """Pages a second, from the first answer to the last."""
        return self.fetched.urls / max(self.fetched.seconds, 0.001)

    def line(self) -> str:
        """Return the row of the table."""
        return (
            f"  {self.name:17}{self.fetched.urls:7}{self.fetched.html:9}"
            f"{self.pages_per_cpu_s:13.0f}{1e6 * self.cost.cpu_s / max(1, self.fetched.urls):11.0f}"
            f"{self.pages_per_s:10.0f}{self.cost.peak_bytes / 1e6:9.0f}"
        )


HEADING: Final = "  crawler            pages  of HTML  pages/CPU-s  us CPU/page   pages/s   MB RSS"


def main() -> None:
    """Crawl what is asked for, with whom it is asked for."""
    asked = _arguments()
    result: dict[str, Any] = {"load_before": round(os.getloadavg()[0], 2)}
    peers = Peers() if asked.crawlers != ["ours"] else None
    with tempfile.TemporaryDirectory(prefix="bench-crawl-", dir=asked.folder) as name:
        for kind in asked.webs:
            scratch, port = Path(name) / kind, _free_port()
            if kind == "simulated":
                web = simulated_web(scratch / "web", asked.hosts, asked.pages, port)
            else:
                web = real_web(scratch / "web")
            print(f"\n{kind}: {len(web.hosts)} hosts", flush=True)
            with serve(web.folder, scratch / "nginx", port) as nginx:
                result[kind] = _compare(asked.crawlers, peers, web, nginx, scratch)
    print("RESULT " + json.dumps(result))


def _compare(
    names: list[str], peers: Peers | None, web: Web, nginx: Served, scratch: Path
) -> dict[str, Any]:
    limit = requests_per_s(web.folder, web.hosts, nginx.port, scratch / "limit")
    nginx.take_log()
    print(f"  wrk: {limit:.0f} requests/s\n{HEADING}", flush=True)
    runs = {}
    for name in names:
        runs[name] = run = _run(name, peers, web, nginx, scratch)
        print(run.line(), flush=True)
    found: dict[str, Any] = {"limit_per_s": round(limit)} | {
        f"{name}_pages_per_cpu_s": round(run.pages_per_cpu_s) for name, run in runs.items()
    }
    found |= {f"{name}_pages": run.fetched.urls for name, run in runs.items()}
    if REFERENCE in runs and "scrapy" in runs:
        share = runs["scrapy"].pages_per_cpu_s / runs[REFERENCE].pages_per_cpu_s
        print(f"  Scrapy reaches {share:.0%} of what it does with the reference settings")
        if share < LEAST_OF_REFERENCE:
            sys.exit(f"that is less than {LEAST_OF_REFERENCE:.0%}: the comparison is not fair")
    mine = runs.get("ours")
    if mine is None:
        return found
    if mine.fetched.urls < web.pages:
        sys.exit(f"we found {mine.fetched.urls} pages of {web.pages}")
    for name, run in runs.items():
        if run.fetched.urls < LEAST_OF_PAGES * mine.fetched.urls:
            sys.exit(f"{name} found {run.fetched.urls} pages, we {mine.fetched.urls}")
        if name in PEERS:
            found[f"over_{name}"] = round(mine.pages_per_cpu_s / run.pages_per_cpu_s, 2)
    return found | {
        "pages": mine.fetched.urls,
        "pages_per_cpu_s": round(mine.pages_per_cpu_s),
        "pages_per_s": round(mine.pages_per_s),
        "rss_mb": round(mine.cost.peak_bytes / 1e6),
        "share_of_limit": round(mine.pages_per_s / limit, 3),
    }


def _run(name: str, peers: Peers | None, web: Web, nginx: Served, scratch: Path) -> Run:
    tops = web.tops(nginx.port)
    if name == "ours":
        cost, archived = ours.crawl(tops, LONGEST_S, scratch / name)
        fetched = nginx.take_log()
        if archived.urls != fetched.urls or archived.records < fetched.urls:
            sys.exit(f"nginx saw {fetched.urls} URLs, the WARC holds {archived}")
    else:
        assert peers is not None
        program, *more = name.split("-")
        cost = peers.run(program, tops, LONGEST_S, scratch / name, *more)
        fetched = nginx.take_log()
    if cost.status:
        sys.exit(f"{name} ended with {cost.status}: see its output, kept with --folder")
    return Run(name, cost, fetched)


def _arguments() -> argparse.Namespace:
    words = argparse.ArgumentParser(prog="python -m benchmarks.crawl", description=__doc__)
    words.add_argument("--pages", type=int, default=30_000, help="of the simulated web")
    words.add_argument("--hosts", type=int, default=300, help="of the simulated web")
    words.add_argument("--webs", nargs="+", default=["simulated", "real"])
    words.add_argument("--crawlers", nargs="+", default=["ours", *PEERS])
    words.add_argument("--check-scrapy", action="store_true", help="also with reference settings")
    words.add_argument("--folder", type=Path, help="for what is written; default: the system's")
    asked = words.parse_args()
    if asked.check_scrapy:
        asked.crawlers.append(REFERENCE)
    return asked


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    main()

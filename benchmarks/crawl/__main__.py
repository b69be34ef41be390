"""This agent, Scrapy and crawlee on the same pages, side by side: `make bench-crawl`.

Prints what each costs, and `RESULT {json}` with `simulated` and `real`. All follow the same links:
those to pages, and those to what a browser loads with a page. Ours runs before and after each peer
(runs.py). Counted as pages are distinct URLs that nginx answered with 200, robots.txt not counted.
Ends with an error where our WARC does not hold exactly the URLs that nginx saw, or where a peer
missed more than a fiftieth of ours.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.crawl import ours
from benchmarks.crawl.limit import requests_per_s
from benchmarks.crawl.nginx import Served, serve
from benchmarks.crawl.others import Peers
from benchmarks.crawl.runs import HEADING, OURS, Run, order, over, pages_per_cpu_s, pages_per_s
from benchmarks.crawl.web import Web, real_web, simulated_web
from tools.held_port import HeldPort

LONGEST_S: Final = 3600.0
PEERS: Final = ("scrapy", "crawlee")
REFERENCE: Final = "scrapy-reference"
LEAST_OF_REFERENCE: Final = 0.9
MEMORY: Final = Path("/dev/shm")  # 0.7 GB of pages
LEAST_OF_PAGES: Final = 0.98  # srcset, forms and the like lead us to some that peers do not see


def main() -> None:
    """Crawl what is asked for, with whom it is asked for."""
    asked = _arguments()
    # Programs start as they do where they are installed: compiled once.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    result: dict[str, Any] = {"load_before": round(os.getloadavg()[0], 2)}
    peers = Peers() if asked.crawlers != [OURS] else None
    with (
        tempfile.TemporaryDirectory(prefix="bench-crawl-", dir=asked.folder) as name,
        tempfile.TemporaryDirectory(prefix="bench-crawl-web-", dir=_in_memory()) as served,
    ):
        for kind in asked.webs:
            scratch, files = Path(name) / kind, Path(served) / kind
            with HeldPort() as port:
                if kind == "simulated":
                    web = simulated_web(files, asked.hosts, asked.pages, port)
                else:
                    web = real_web(files)
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
    runs: list[Run] = []
    for number, name in enumerate(order(names)):
        runs.append(_run(name, peers, web, nginx, scratch / f"{number}-{name}"))
        print(runs[-1].line(), flush=True)
    by_name = {run.name: run for run in runs}
    found: dict[str, Any] = {"limit_per_s": round(limit)}
    for name, run in by_name.items():
        found[f"{name}_pages"] = run.fetched.urls
        if name != OURS:
            found[f"{name}_pages_per_cpu_s"] = round(pages_per_cpu_s([run]))
    if REFERENCE in by_name and "scrapy" in by_name:
        rates = [pages_per_cpu_s([by_name[name]]) for name in ("scrapy", REFERENCE)]
        share = rates[0] / rates[1]
        print(f"  Scrapy reaches {share:.0%} of its rate with the reference settings")
        if share < LEAST_OF_REFERENCE:
            sys.exit(f"that is less than {LEAST_OF_REFERENCE:.0%}: the comparison is not fair")
    mine = [run for run in runs if run.name == OURS]
    if not mine:
        return found
    least, most = (choose(run.fetched.urls for run in mine) for choose in (min, max))
    if least < web.pages:
        sys.exit(f"we found {least} pages of {web.pages}")
    for name, run in by_name.items():
        if run.fetched.urls < LEAST_OF_PAGES * most:
            sys.exit(f"{name} found {run.fetched.urls} pages, we {most}")
        if name in PEERS:
            found[f"over_{name}"] = round(over(runs, name), 2)
            print(f"  ours before and after {name}: {found[f'over_{name}']} times its pages/CPU-s")
    return found | {
        "pages": most,
        "each_pages_per_cpu_s": [round(pages_per_cpu_s([run])) for run in mine],
        "loop_ms": [[run.name, round(run.cost.loop_ms, 2)] for run in runs],
        "pages_per_cpu_s": round(pages_per_cpu_s(mine)),
        "pages_per_s": round(pages_per_s(mine)),
        "rss_mb": round(max(run.cost.peak_bytes for run in mine) / 1e6),
        "worst_pause_ms": round(max(run.pauses.worst_ms for run in mine if run.pauses)),
        "share_of_limit": round(pages_per_s(mine) / limit, 3),
    }


def _run(name: str, peers: Peers | None, web: Web, nginx: Served, scratch: Path) -> Run:
    tops = web.tops(nginx.port)
    if name == OURS:
        cost, archived, pauses = ours.crawl(tops, LONGEST_S, scratch)
        fetched = nginx.take_log()
        if archived.urls != fetched.urls or archived.records < fetched.urls:
            sys.exit(f"nginx saw {fetched.urls} URLs, the WARC holds {archived}")
    else:
        assert peers is not None
        pauses = None
        program, *more = name.split("-")
        cost = peers.run(program, tops, LONGEST_S, scratch, *more)
        fetched = nginx.take_log()
    if cost.status:
        sys.exit(f"{name} ended with {cost.status}: see its output, kept with --folder")
    return Run(name, cost, fetched, pauses)


def _in_memory() -> Path | None:
    """Return where files are in memory, or None: where the system has its temporary ones.

    Some kernels take back the pages of files that are not read for half a minute. A crawler behind
    one that takes minutes then waits for the disk, and takes more turns for the same pages.
    """
    return MEMORY if os.access(MEMORY, os.W_OK) else None


def _arguments() -> argparse.Namespace:
    words = argparse.ArgumentParser(prog="python -m benchmarks.crawl", description=__doc__)
    words.add_argument("--pages", type=int, default=30_000, help="of the simulated web")
    words.add_argument("--hosts", type=int, default=300, help="of the simulated web")
    words.add_argument("--webs", nargs="+", default=["simulated", "real"])
    words.add_argument("--crawlers", nargs="+", default=[OURS, *PEERS])
    words.add_argument("--check-scrapy", action="store_true", help="also with reference settings")
    words.add_argument("--folder", type=Path, help="for what crawlers write; default: the system's")
    asked = words.parse_args()
    if asked.check_scrapy:
        asked.crawlers.append(REFERENCE)
    return asked


if __name__ == "__main__":
    main()

"""Speedup of a balanced round over a random one by the clock, and its prediction.

    python -m benchmarks.live [--seed 1] [--hosts 400] [--regions 8] [--pages-mean 5] ...

A simulated web whose sizes and speeds follow the source's tables (docs/simweb.md), a manager, and
an agent in each region, all started by shipped commands. Round 1 probes each host from some places,
assigns the hosts at random, and crawls; round 2 orders more probes, places the hosts by `--method`
from all measurements, and crawls again. A round's seconds are those of its crawl: from the moment
that its plan was applied until the last unit was finished. Probing is counted apart: a distance
holds for a month. Each agent fetches from `--parallel` hosts at a time, and pages have no
validators, so that the second round fetches what the first did. Hosts are slow and small, so that
distance dominates and not this machine: what a busy machine adds to each fetch is in
`transfer_measured_ms`. Nine programs that would have a disk each keep their files in memory, where
there is room. The last line is `RESULT` and JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from benchmarks.live.last_hosts import last_hosts
from benchmarks.live.result import result_of, table_values
from benchmarks.progress import say
from simweb.launcher import SimulatedWeb
from tools.demo.fleet import FleetOptions, start_agents, start_manager
from tools.demo.rounds import describe, run_round
from tools.demo.table import table

MEMORY: Final = Path("/dev/shm")  # the folder in it is ours alone
MEMORY_BYTES: Final = 4_000_000_000


def _web(options: argparse.Namespace, folder: Path) -> SimulatedWeb:
    return SimulatedWeb(
        folder,
        hosts=options.hosts,
        regions=options.regions,
        seeds=0,
        seed=options.seed,
        pages_mean=options.pages_mean,
        delay_ms=options.delay_ms,
        bandwidth_kb_s=options.bandwidth_kb_s,
        domain="example.jp",
        validators_share=0.0,
        robots=["crawl-delay=0", "error=0"],  # a crawl delay would hold in either round
        trouble_scale=0,
    )


def _show(detail: dict[str, Any]) -> None:
    say(f"round {detail['round']['number']}: {describe(detail)}")


def _run(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    fleet = FleetOptions(
        interval_s=options.interval_s,
        probe_pages=options.probe_pages,
        parallel_hosts=options.parallel,
        page_workers=1,
        log_grace_s=15.0,
        first_byte_s=30.0,
        total_s=60.0,
        report_s=5.0,
        probe_report_s=1.0,
    )
    with ExitStack() as stack:
        web = stack.enter_context(_web(options, folder / "web"))
        manager = start_manager(stack, folder, web.dns_port, fleet)
        start_agents(stack, manager, folder, options.regions, web.dns_port, fleet)
        say(f"{options.hosts} hosts, {options.regions} regions with an agent each")
        manager.prsm("hosts", "import", "--wait", str(folder / "web" / "seeds.txt"))
        first, second = (
            run_round(manager, method, stall_s=options.stall_s, show=_show, look_every_s=5.0)
            for method in ("random", options.method)
        )
        found = manager.prsm("check")["findings"]
        for line in last_hosts(web.log_path, second["round"]["crawling_ms"] / 1000):
            say(line)
    result = result_of(first, second)
    say("\n" + table(first, second, table_values(result, options.hosts)))
    if found:
        raise SystemExit(f"`prsm check` found {len(found)} problems, the first: {found[0]}")
    return result


def _memory() -> Path | None:
    """Return a folder in memory; None, which is the usual one, where there is no room."""
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= MEMORY_BYTES:
        return MEMORY
    return None


def main() -> None:
    """Run both rounds and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="of the simulated web")
    parser.add_argument("--hosts", type=int, default=400)
    parser.add_argument("--regions", type=int, default=8, help="each with an agent")
    parser.add_argument("--pages-mean", type=float, default=5.0, help="pages a host")
    parser.add_argument("--delay-ms", type=float, default=120.0, help="to the first byte, mean")
    parser.add_argument("--bandwidth-kb-s", type=float, default=200.0, help="within a region")
    parser.add_argument("--parallel", type=int, default=5, help="hosts at a time, of an agent")
    parser.add_argument("--interval-s", type=float, default=0.04, help="between two fetches")
    parser.add_argument("--probe-pages", type=int, default=4, help="of a host, by each agent")
    parser.add_argument("--method", default="default", help="of the second round")
    parser.add_argument("--stall-s", type=float, default=900.0, help="without progress")
    options = parser.parse_args()
    # Ended by SIGTERM, it ends its programs too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    begun = time.monotonic()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="prsm-live-", dir=_memory()) as folder:
        result = _run(options, Path(folder))
    result["load_before"] = round(load, 1)
    result["wall_s"] = round(time.monotonic() - begun, 1)
    print("RESULT " + json.dumps(result))


if __name__ == "__main__":
    main()

"""The same good hosts without and with the hostile ones: how much later are the good ones done?

    python -m benchmarks.hostile [--good 100] [--pages 30] [--interval-s 1] [--limit 50]
                                 [--hostile "bomb nested"]... [--at-a-time 14]

Each entry of the traps, compressed bodies and HTTP answers that others wrote down, each bomb of
HTML, and each way to answer a byte a second, is a separate host. All hosts have the same interval,
so the good ones' time is the interval's unless something holds them up. The crawl must end: no host
may have more than --limit pages. The hostile hosts come in groups of --at-a-time: what a group does
not delay, none of its hosts does alone. Prints a line for each crawl; the last line is `RESULT` and
JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.crawl.measure import Cost, measure
from benchmarks.hostile.server import good_address, hostile_addresses
from tools.demo.system import BIN, Agent, Manager
from tools.held_port import HeldPort

__all__ = ["Good", "hostile_web", "read_log"]

MANAGER: Final = """\
[policy]
tick_s = 0.5
sync_interval_s = 1.0
pending_sync_interval_s = 0.3
permit_s = 600.0

[dns]
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

[limits]
first_byte_s = 5.0
total_s = 10.0
retries = 0
pages_per_unit = {limit}

[network]
parallel_hosts = 1000

[dns]
allowed_networks = ["127.0.0.0/8"]

[disk]
reserve_bytes = 100000000
"""
SECONDS: Final = 1800.0


@dataclass(frozen=True, slots=True)
class Good:
    """The good hosts: pages that were asked for, and seconds until they were, from the first."""

    pages: int
    last_s: float  # until the last host had its last page
    median_s: float  # until the median host had


@contextmanager
def hostile_web(good: int, pages: int, hostile: list[str], log: Path) -> Iterator[int]:
    """Serve the hosts from a separate process; gives the port.

    hostile: words of the names of hostile hosts; [""] is all of them.
    """
    words = [sys.executable, "-m", "benchmarks.hostile.server"]
    rest = (str(good), str(pages), str(log), *hostile)
    with (
        HeldPort() as port,
        subprocess.Popen([*words, str(port), *rest], stdout=subprocess.PIPE) as process,
    ):
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield port
        finally:
            process.terminate()


def read_log(log: Path, good: int) -> Good:
    """Return how the good hosts fared, from the server's log."""
    done: dict[str, float] = {}
    first, seen = None, set()
    hosts = {good_address(number) for number in range(good)}
    for line in log.read_text().splitlines():
        when, address, target = line.split(" ", 2)
        if address not in hosts or (address, target) in seen:
            continue
        first = float(when) if first is None else first
        seen.add((address, target))
        done[address] = float(when) - first
    pages = sum(not target.endswith("/robots.txt") for _, target in seen)
    return Good(pages, max(done.values()), median(done.values()))


def _crawl(options: argparse.Namespace, hostile: list[str], scratch: Path) -> tuple[Good, Cost]:
    log = scratch / "requests.log"
    scratch.mkdir(parents=True)
    with hostile_web(options.good, options.pages, hostile, log) as port:
        addresses = [good_address(number) for number in range(options.good)]
        addresses += hostile_addresses(hostile)
        listed = scratch / "tops.txt"
        listed.write_text("".join(f"http://{address}:{port}/\n" for address in addresses))
        manager = Manager(scratch / "manager", MANAGER).start()
        try:
            token = manager.prsm("agents", "token", "bench.example")["token"]
            settings = AGENT.format(interval_s=options.interval_s, limit=options.limit)
            agent = Agent(scratch / "agent", "bench.example", settings).enrol(manager.url, token)
            manager.prsm("hosts", "import", str(listed))
            agent.prs("run", "--once", "--quiet")  # a round needs an agent that has called
            manager.prsm("rounds", "start", "--method", "random", "--no-probe")
            words = [str(BIN / "prs"), "run", "--once"]
            cost = measure(words, SECONDS, scratch / "measured", **agent.environment)
        finally:
            manager.stop()
    return read_log(log, options.good), cost


def main() -> None:
    """Crawl without and with hostile hosts, and compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile")
    parser.add_argument("--good", type=int, default=100)
    parser.add_argument("--pages", type=int, default=30)
    parser.add_argument("--interval-s", type=float, default=1.0)
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--hostile", action="append", metavar="WORD", help="only such names")
    parser.add_argument("--at-a-time", type=int, default=14, help="hostile hosts in one crawl")
    parser.add_argument("--keep", type=Path, help="a folder for what the crawls leave behind")
    options = parser.parse_args()
    names = [name for name, _ in hostile_addresses(options.hostile or [""]).values()]
    # Every so many-th, so that hosts of one kind are spread over the groups.
    count = max(1, -(-len(names) // max(1, options.at_a_time)))
    groups = [names[first::count] for first in range(count)]
    print(f"{options.good} good hosts of {options.pages} pages, {len(names)} hostile ones")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        alone = _figures("alone", *_crawl(options, [], folder / "alone"))
        among = {}
        for number, group in enumerate(groups):
            name = f"{group[0]} and {len(group) - 1} others" if group[1:] else group[0]
            among[name] = _figures(name, *_crawl(options, group, folder / f"among{number}"))
    later = {name: one["last_s"] / alone["last_s"] - 1 for name, one in among.items()}
    worst = max(later, key=later.__getitem__)
    print(f"good hosts are done {later[worst]:+.1%} later, at worst ({worst})")
    result = {
        "hostile_hosts": len(names),
        "at_a_time": options.at_a_time,
        "crawls": len(groups),
        "later": later[worst],
        "worst": worst,
        "ended": all(one["ended"] for one in among.values()),
        "alone": alone,
        "with_worst": among[worst],
    }
    print("RESULT " + json.dumps(result))


def _figures(name: str, good: Good, cost: Cost) -> dict[str, float]:
    print(
        f"{name}: {good.pages} good pages, median host done after {good.median_s:.1f} s, "
        f"last after {good.last_s:.1f} s; crawl of {cost.wall_s:.0f} s ended with "
        f"{cost.status}, {cost.cpu_s:.0f} s of CPU, {cost.peak_bytes / 1e6:.0f} MB"
    )
    return {**asdict(good), "ended": cost.status == 0, **asdict(cost)}


if __name__ == "__main__":
    main()

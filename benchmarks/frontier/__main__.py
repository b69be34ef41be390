"""Runs all sizes and prints the tables; the last line is `RESULT` and JSON.

Each size is filled once and measured on copies, in turns with the other sizes; of the turns the
least counts. Who else uses the processors' cores and caches only ever adds, so a turn that was
disturbed says nothing of the size.

The parts: `modules`, the real dedup, frontier and ledger with answers made up at once; `wheel`,
the same in fake time with all hosts at the usual interval; `scale`, the wheel with 100 hosts and
with a million; `live`, the shipped programs with all hosts at an interval, by the clock, judged
from the log of nginx; `failing`, the same with hosts that all fail; `agent`, the shipped programs
before a web without end.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.frontier.agent import crawl_at
from benchmarks.frontier.live import Live, crawl_failing, crawl_live

SIZES = (10**5, 10**6, 10**7)
HOSTS = (10**4, 10**2, 10**6)
MAIN_HOSTS = 10**4
"""Of these the figures of the last line are; the table has all."""

PARTS = ("modules", "wheel", "scale", "live", "failing", "agent")
WHEEL_HOSTS = 50_000
WHEEL_SECONDS = 100.0
WHEEL_IN_MEMORY = 4_000
"""Addresses, as by default."""
SCALE_HOSTS = (10**2, 10**3, 10**4, 10**5, 10**6)
SCALE_TURNS_PER_S = 2500
SCALE_TURNS = 100_000
"""At least so many are measured at each number of hosts."""
SCALE_BURST_S = 6.0
"""In so long at least so many hosts have a turn, where all wait for one at the same time."""
LIVE = Live(hosts=5000, interval_s=5.0, seconds=90.0, in_memory=1000)
FAILING = Live(hosts=50_000, interval_s=20.0, seconds=180.0, in_memory=WHEEL_IN_MEMORY)
AGENT_SIZES = (10**5, 10**7)
AGENT_HOSTS = 10**4
AGENT_SECONDS = 40.0

TURNS = 3
MEASURED = 50_000
PEER_MOST = 10**6
"""Plain tables are filled up to here: beyond it that takes longer than all the rest."""


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(prog="benchmarks.frontier")
    parser.add_argument("--sizes", type=_numbers, default=SIZES, help="known URLs, as 1e5,1e6")
    parser.add_argument("--hosts", type=_numbers, default=HOSTS, help="hosts, as 100,1e4")
    parser.add_argument("--measured", type=int, default=MEASURED, help="URLs at each size")
    parser.add_argument("--turns", type=int, default=TURNS, help="of which the least counts")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--wheel-hosts", type=int, default=WHEEL_HOSTS)
    parser.add_argument("--scale-hosts", type=_numbers, default=SCALE_HOSTS)
    parser.add_argument("--live-hosts", type=int, default=LIVE.hosts)
    parser.add_argument("--live-interval-s", type=float, default=LIVE.interval_s)
    parser.add_argument("--live-seconds", type=float, default=LIVE.seconds)
    parser.add_argument("--live-in-memory", type=int, default=LIVE.in_memory, help="addresses")
    parser.add_argument("--failing-hosts", type=int, default=FAILING.hosts)
    parser.add_argument("--failing-seconds", type=float, default=FAILING.seconds)
    parser.add_argument("--agent-sizes", type=_numbers, default=AGENT_SIZES)
    parser.add_argument("--agent-hosts", type=int, default=AGENT_HOSTS)
    parser.add_argument("--agent-seconds", type=float, default=AGENT_SECONDS)
    parser.add_argument("--folder", type=Path, help="where the ledgers are made; default: here")
    asked = parser.parse_args()
    # Programs start as they do where they are installed: compiled once.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    result: dict[str, Any] = {"load_before": round(os.getloadavg()[0], 2)}
    with tempfile.TemporaryDirectory(dir=asked.folder or Path.cwd()) as name:
        if "modules" in asked.parts:
            result |= _modules(asked, Path(name))
        if "wheel" in asked.parts:
            numbers = (asked.wheel_hosts, WHEEL_SECONDS, WHEEL_IN_MEMORY)
            result |= _run("wheel", Path(name) / "wheel", *numbers)
            print(f"\nevery host at 20 s: {result}", flush=True)
        if "scale" in asked.parts:
            result |= _scale(asked.scale_hosts, Path(name))
        if "live" in asked.parts:
            live = Live(
                asked.live_hosts, asked.live_interval_s, asked.live_seconds, asked.live_in_memory
            )
            result |= _show_live("by the clock", crawl_live(live, Path(name) / "live"))
        if "failing" in asked.parts:
            failing = replace(FAILING, hosts=asked.failing_hosts, seconds=asked.failing_seconds)
            found = crawl_failing(failing, Path(name) / "failing")
            result |= _show_live("hosts that all fail", found)
        if "agent" in asked.parts:
            result["agent"] = _agent(asked, Path(name))
    print("RESULT " + json.dumps(result))


def _show_live(what: str, found: dict[str, Any]) -> dict[str, Any]:
    print(f"\n{what}:")
    for key, value in found.items():
        print(f"  {key:34} {value}", flush=True)
    return found


def _scale(sizes: tuple[int, ...], scratch: Path) -> dict[str, Any]:
    """Return what a turn costs by the number of hosts, all with as many turns a second.

    The first requests of all hosts, which are for robots.txt, are not measured. Up to
    `WHEEL_IN_MEMORY` hosts are in memory, of more each one is loaded for its turn; `loaded`: where
    that is so of the few too.
    """
    shipped, loaded, memory = {}, {}, {}
    print(f"\n{'hosts':>9} {'us a turn':>10} {'loaded':>7} {'turns':>9} {'RSS MB':>7}")
    for hosts in sizes:
        row = every = _turns(hosts, WHEEL_IN_MEMORY, scratch)
        if hosts <= WHEEL_IN_MEMORY:
            every = _turns(hosts, 0, scratch)
        size = str(hosts)
        shipped[size], loaded[size] = row["us_per_turn"], every["us_per_turn"]
        memory[size] = row["rss_mb"]
        print(
            f"{hosts:>9,} {shipped[size]:>10} {loaded[size]:>7} {row['turns']:>9,} "
            f"{memory[size]:>7}",
            flush=True,
        )
    return {
        "us_per_turn_by_hosts": shipped,
        "us_per_turn_loaded_by_hosts": loaded,
        "rss_mb_by_turning_hosts": memory,
    }


def _turns(hosts: int, in_memory: int, scratch: Path) -> dict[str, Any]:
    interval_s = max(hosts / SCALE_TURNS_PER_S, 0.1)
    # All hosts begin together, so many of them have their second turn right after two intervals.
    seconds = SCALE_TURNS * interval_s / hosts
    if seconds < interval_s:
        seconds = SCALE_BURST_S
    folder = scratch / f"scale-{hosts}"
    row = _run("wheel", folder, hosts, seconds, in_memory, interval_s, 2 * interval_s)
    shutil.rmtree(folder)
    return row


def _modules(asked: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    peers: dict[int, dict[str, Any]] = {}
    for size in asked.sizes:
        if size <= PEER_MOST:
            peers[size] = _run("peer", scratch / f"peer-{size}", MAIN_HOSTS, size, asked.measured)
            print(f"plain tables, {size:>10,} known: {peers[size]}", flush=True)
    for hosts in asked.hosts:
        rows += _of_hosts(asked, scratch / f"ledgers-{hosts}", hosts)
    return _show(rows, peers)


def _of_hosts(asked: argparse.Namespace, scratch: Path, hosts: int) -> list[dict[str, Any]]:
    """Fill one ledger up to each size, keep a copy of each, and measure copies of these."""
    growing, used = scratch / "growing", scratch / "used"
    filled: dict[int, dict[str, Any]] = {}
    turns: dict[int, list[dict[str, Any]]] = {size: [] for size in asked.sizes}
    for size in asked.sizes:
        filled[size] = _run("stage", growing, hosts, size, 0)
        shutil.copytree(growing, scratch / str(size))
    for turn in range(asked.turns):
        for size, of_size in turns.items():
            shutil.copytree(scratch / str(size), used)
            os.sync()  # the copy is not written meanwhile
            row = _run("stage", used, hosts, size, asked.measured)
            # To continue after the kill: the ledger is opened, and the modules take it up.
            next_ = _run("stage", used, hosts, 0, 0)
            row["recovery_s"] = round(next_["opened_s"] + next_["ready_s"], 3)
            of_size.append(row)
            print(
                f"{hosts:>9,} hosts, {size:>10,} known, turn {turn + 1}: "
                f"{row['loop_us_per_url']} us a URL, {row['us_per_known_url']} a known one",
                flush=True,
            )
            shutil.rmtree(used)
    shutil.rmtree(scratch)
    return [{"size": size, **_of_turns(of_size, filled[size])} for size, of_size in turns.items()]


def _of_turns(turns: list[dict[str, Any]], filled: dict[str, Any]) -> dict[str, Any]:
    """Return one row: costs of the least turn, of all else the most."""
    row = {name: max(turn[name] for turn in turns) for name in turns[0]}
    for name in ("loop_us_per_url", "us_per_known_url", "wall_us_per_url"):
        row[name] = min(turn[name] for turn in turns)
    for name in ("beside_us_per_url", "fill_us_per_url"):
        row[name] = filled[name]
    row["rss_mb"] = max(row["rss_mb"], filled["rss_mb"])
    row["turns"] = [turn["loop_us_per_url"] for turn in turns]
    row["us_per_url"] = round(row["loop_us_per_url"] + row["beside_us_per_url"], 2)
    return row


def _agent(asked: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    rows = crawl_at(
        sorted(asked.agent_sizes), asked.agent_hosts, asked.agent_seconds, asked.turns, scratch
    )
    first, last = rows[0], rows[-1]
    print(
        f"\nan agent with {asked.agent_hosts:,} hosts, {asked.turns} times "
        f"{asked.agent_seconds:.0f} s at each size"
    )
    columns = (
        "known",
        "pages",
        "us_per_page",
        "first_page_s",
        "rss_mb",
        "worst_pause_ms",
        "loop_ms",
    )
    print("".join(f"{column:>15}" for column in columns))
    for row in rows:
        print("".join(f"{row[column]:>15,}" for column in columns))
    return {
        "hosts": asked.agent_hosts,
        "rows": rows,
        "growth": round(last["us_per_page"] / first["us_per_page"], 3),
    }


def _run(module: str, folder: Path, *numbers: float) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        f"benchmarks.frontier.{module}",
        str(folder),
        *map(str, numbers),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    killed = -signal.SIGKILL if module == "stage" else 0
    if done.returncode != killed:
        raise SystemExit(f"{module} {numbers}: ended with {done.returncode}, not {killed}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _show(rows: list[dict[str, Any]], peers: dict[int, dict[str, Any]]) -> dict[str, Any]:
    print(
        f"\n{'hosts':>9} {'known':>11} {'us/URL':>7} {'known':>6} {'fill':>6} {'commit ms':>9} ",
        end="",
    )
    print(f"{'recovery s':>10} {'RSS MB':>7} {'disk MB':>8}")
    for row in rows:
        print(
            f"{row['hosts']:>9,} {row['known']:>11,} {row['us_per_url']:>7} "
            f"{row['us_per_known_url']:>6} {row['fill_us_per_url']:>6} "
            f"{row['worst_commit_ms']:>9} {row['recovery_s']:>10} {row['rss_mb']:>7} "
            f"{row['disk_mb']:>8}"
        )
    shown = MAIN_HOSTS if any(row["hosts"] == MAIN_HOSTS for row in rows) else rows[0]["hosts"]
    chosen = {row["size"]: row for row in rows if row["hosts"] == shown}
    first, last = min(chosen), max(chosen)
    return {
        "hosts": shown,
        "us_per_url": {str(size): row["us_per_url"] for size, row in chosen.items()},
        "turns_us_per_url": {str(size): row["turns"] for size, row in chosen.items()},
        "rss_mb_1e7": chosen[last]["rss_mb"] if last == 10**7 else None,
        "growth_1e5_to_1e7": _growth(chosen[first], chosen[last]),
        "recovery_s_1e7": chosen[last]["recovery_s"] if last == 10**7 else None,
        "growth_by_hosts": {
            str(hosts): _growth(by_size[min(by_size)], by_size[max(by_size)])
            for hosts in dict.fromkeys(row["hosts"] for row in rows)
            if (by_size := {row["size"]: row for row in rows if row["hosts"] == hosts})
        },
        "rss_mb_by_hosts": {
            str(row["hosts"]): row["rss_mb"] for row in rows if row["size"] == last
        },
        "plain_tables_us_per_url": {str(size): one["us_per_url"] for size, one in peers.items()},
        "append_us_per_url": min(
            (one["append_us_per_url"] for one in peers.values()), default=None
        ),
    }


def _growth(first: dict[str, Any], last: dict[str, Any]) -> float:
    return round(float(last["us_per_url"]) / float(first["us_per_url"]), 3)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(float(one)) for one in text.split(","))


if __name__ == "__main__":
    main()

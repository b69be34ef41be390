"""A fleet of 10,000 agents before one manager, and before two on PostgreSQL behind nginx.

    python -m benchmarks.manager [--quick] [--only one|replicas] [--agents N] [--list-units N]

The managers are the shipped command with its settings; the agents are one process that sends their
messages (`fleet`), reports are made by the agents' own code. Prints a table for each; the last line
is `RESULT` and JSON, with the same keys for two managers under `replicas`:

    first_syncs_per_s     the same as syncs_per_s, when the manager has heard of none of them yet
    syncs_per_s           answered when each connection asks again at once: the most there is
    p99_ms                of syncs that begin by chance, `p99_rate` a second, answered or not
    list_1e6_s            from asking for a list of `list_units` to its last byte
    list_1e6_rss_mb       the most memory of the manager meanwhile, all before included
    log_lines_per_s_core  lines of crawl logs over the CPU seconds of the manager and its children;
                          of five passes the best: who else uses the processors only ever adds
                          (`_median`: of the five, `log_lines_passes`: each; the limit likewise)
    discovered_per_s      new hosts taken in, by the clock; `discovered_per_cpu_s` likewise
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.manager.data import Filled, key_of, name_of
from benchmarks.manager.fleet import Load, send
from benchmarks.manager.limit import count_lines_s
from benchmarks.manager.reports import found_hosts, log_body, renamed
from benchmarks.manager.stage import Stage, bare_server, one_manager, peak_mb, two_managers
from shared.wire.gzip_stream import decompress

LOG_AGENTS: Final = 4
PASSES: Final = 5
GOAL_PER_S: Final = 500.0
SHARE: Final = 0.7  # of the greatest rate, where the goal's is out of reach


def main() -> int:
    """Fill, serve, send, print."""
    asked = _arguments()
    filled = Filled(asked.agents, LOG_AGENTS, asked.list_units)
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="prsm-manager-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # nginx and PostgreSQL are other users
        if asked.only != "replicas":
            result |= _measured("one process, SQLite", one_manager, folder, filled, asked)
            result |= _limits(folder, filled, asked)
        if asked.only != "one":
            result["replicas"] = _measured(
                "two on PostgreSQL behind nginx", two_managers, folder, filled, asked
            )
    print("RESULT " + json.dumps(result))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--agents", type=int, default=10_000)
    parser.add_argument("--list-units", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=15.0, help="of each load of syncs")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--finishing", type=int, default=10,
                        help="one of so many syncs says that a unit is finished")  # fmt: skip
    parser.add_argument("--log-lines", type=int, default=400_000, help="of each of 4 agents")
    parser.add_argument("--found", type=int, default=40_000, help="hosts of each of 4 agents")
    parser.add_argument("--only", choices=["one", "replicas"])
    parser.add_argument("--quick", action="store_true", help="everything, but little of it")
    asked = parser.parse_args()
    if asked.quick:
        asked.agents, asked.list_units, asked.seconds = 1000, 50_000, 4.0
        asked.log_lines, asked.found = 50_000, 5_000
    return asked


def _measured(
    title: str,
    stage: Callable[[Path, Filled, int], AbstractContextManager[Stage]],
    folder: Path,
    filled: Filled,
    asked: argparse.Namespace,
) -> dict[str, Any]:
    now_ms = time.time_ns() // 1_000_000
    print(f"{title}: {filled.agents:,} agents, a list of {filled.list_units:,} units", flush=True)
    with stage(folder, filled, now_ms) as served:
        result = _syncs(served, filled, asked)
        result |= _list(served, filled)
        result |= _logs(served, filled, asked.log_lines, now_ms)
        result |= _found(served, filled, asked.found)
    return result


class _Used:
    """The time and the CPU time of a block."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.cpu_s: dict[str, float] = {}

    @property
    def manager_s(self) -> float:
        """Return the CPU seconds of all managers."""
        return self.cpu_s["prsm"]

    def __str__(self) -> str:
        used = ", ".join(f"{name} {used:.1f}" for name, used in self.cpu_s.items())
        return f"{self.seconds:.1f} s; CPU s: {used}"


@contextmanager
def _measured_use(served: Stage) -> Iterator[_Used]:
    used, before, begun = _Used(), served.used_s(), time.monotonic()
    yield used
    used.seconds = time.monotonic() - begun
    used.cpu_s = {name: now - before[name] for name, now in served.used_s().items()}


def _syncs(served: Stage, filled: Filled, asked: argparse.Namespace) -> dict[str, Any]:
    def load(seconds: float, first: int, rate: float = 0.0, turns: int = 0) -> Load:
        return Load(served.port, filled.agents, seconds, asked.connections, rate, asked.finishing,
                    first, turns, served.tls)  # fmt: skip

    with _measured_use(served) as cold:
        warm = send(load(600.0, 0, turns=filled.agents))
    _say("first sync of each agent", f"{warm.per_s:,.0f}/s, p50 {warm.p50_ms:.0f} ms, "
         f"p99 {warm.p99_ms:.0f} ms", cold, agents=warm.cpu_s, wrong=warm.wrong)  # fmt: skip
    with _measured_use(served) as used:
        most = send(load(asked.seconds, warm.next))
    _say("syncs, closed loop", f"{most.per_s:,.0f}/s, p50 {most.p50_ms:.0f} ms, "
         f"p99 {most.p99_ms:.0f} ms", used, agents=most.cpu_s, wrong=most.wrong)  # fmt: skip
    rate = GOAL_PER_S if most.per_s * SHARE > GOAL_PER_S else most.per_s * SHARE
    with _measured_use(served) as steady:
        at_rate = send(load(asked.seconds, most.next, rate))
    _say(f"syncs, {rate:.0f}/s by chance", f"p50 {at_rate.p50_ms:.1f} ms, p99 "
         f"{at_rate.p99_ms:.1f} ms, worst {at_rate.worst_ms:.0f} ms", steady,
         agents=at_rate.cpu_s, wrong=at_rate.wrong)  # fmt: skip
    return {
        "first_syncs_per_s": round(warm.per_s),
        "syncs_per_s": round(most.per_s),
        "syncs_per_cpu_s": round(most.answered / used.manager_s),
        "p99_ms": round(at_rate.p99_ms, 1),
        "p50_ms": round(at_rate.p50_ms, 1),
        "p99_rate": round(rate),
        "wrong": sum(sum(each.wrong.values()) for each in (warm, most, at_rate)),
    }


def _list(served: Stage, filled: Filled) -> dict[str, Any]:
    pids = [manager.process.pid for manager in served.managers]
    before = max(peak_mb(pid, reset=True) for pid in pids)
    first = 0.0
    body = []
    with _measured_use(served) as used, served.client() as client:
        begun = time.monotonic()
        with client.stream(
            "GET", "/servlets/list", params={"host": name_of(filled.listed)},
            headers=_key(filled.listed),
        ) as answer:  # fmt: skip
            answer.raise_for_status()
            for piece in answer.iter_raw():
                first = first or time.monotonic() - begun
                body.append(piece)
    after = max(peak_mb(pid) for pid in pids)
    lines = sum(piece.count(b"\nhttp") for piece in decompress(body, limit_bytes=2**31))
    assert lines > filled.list_units * 0.999, lines  # where a piece begins is not counted
    _say(f"a list of {filled.list_units:,}", f"first byte after {first:.1f} s, "
         f"{sum(map(len, body)) / 1e6:.1f} MB, memory {before:.0f} to {after:.0f} MB",
         used)  # fmt: skip
    return {
        "list_1e6_s": round(used.seconds, 2),
        "list_1e6_rss_mb": round(after),
        "list_rss_before_mb": round(before),
        "list_units": filled.list_units,
    }


def _logs(served: Stage, filled: Filled, lines: int, now_ms: int) -> dict[str, Any]:
    def logs(minute: str, lines: int) -> dict[int, bytes]:
        senders = range(filled.agents + 1, filled.agents + LOG_AGENTS + 1)
        return {
            agent: log_body(
                name_of(agent), minute, filled.units_of_log(agent), lines, now_ms, agent
            )
            for agent in senders
        }

    with _measured_use(served) as starting:
        _post(served, "/servlets/submitlog", logs("202611220700", 1000))
    _say("the first logs", "short ones, while who reads them starts", starting)
    bodies = logs("202611220800", lines)
    total = lines * len(bodies)
    size = sum(map(len, bodies.values())) / total

    def of_pass(number: int) -> dict[int, bytes]:
        for agent, body in bodies.items():
            bodies[agent] = renamed(body, name_of(agent), f"20261122080{number}")
        return bodies

    rates, seconds = _passes(
        served, "/servlets/submitlog", of_pass, total, f"accepted, {lines} lines\n",
        f"lines of logs, {size:.0f} bytes each",
    )  # fmt: skip
    again = _post(served, "/servlets/submitlog", bodies)
    assert all("already accepted" in one for one in again), again
    return {
        "log_lines_per_s_core": max(rates),
        "log_lines_per_s_core_median": round(median(rates)),
        "log_lines_passes": rates,
        "log_lines_per_s": round(total / min(seconds)),
    }


def _found(served: Stage, filled: Filled, hosts: int) -> dict[str, Any]:
    senders = range(filled.agents + 1, filled.agents + LOG_AGENTS + 1)
    total = hosts * len(senders)

    def of_pass(number: int) -> dict[int, bytes]:
        return {
            agent: found_hosts(number * total + place * hosts, hosts)
            for place, agent in enumerate(senders)
        }

    rates, seconds = _passes(
        served, "/servlets/record", of_pass, total, f": {hosts} new hosts,", "found hosts"
    )
    return {
        "discovered_per_s": round(total / min(seconds)),
        "discovered_per_cpu_s": max(rates),
        "discovered_per_cpu_s_median": round(median(rates)),
        "discovered_passes": rates,
    }


def _passes(
    served: Stage,
    path: str,
    of_pass: Callable[[int], dict[int, bytes]],
    total: int,
    answer: str,
    what: str,
) -> tuple[list[int], list[float]]:
    """Send the bodies of each pass; return how many a CPU-second, and the seconds, of each.

    total: lines or hosts of a pass. answer: what each answer must contain.
    """
    rates, seconds = [], []
    for number in range(PASSES):
        bodies = of_pass(number)
        with _measured_use(served) as used:
            said = _post(served, path, bodies)
        assert all(answer in one for one in said), said
        rates.append(round(total / used.manager_s))
        seconds.append(used.seconds)
        _say(
            f"{total:,} {what}", f"{rates[-1]:,} a CPU-second, {total / used.seconds:,.0f}/s", used
        )
    return rates, seconds


def _post(served: Stage, path: str, bodies: dict[int, bytes]) -> list[str]:
    """Send the bodies of some agents at once; return the answers."""
    with served.client() as client, ThreadPoolExecutor(len(bodies)) as threads:

        def one(agent: int) -> str:
            answer = client.post(path, content=bodies[agent], headers=_key(agent))
            assert answer.status_code == 200, answer.text
            return answer.text

        return list(threads.map(one, bodies))


def _limits(folder: Path, filled: Filled, asked: argparse.Namespace) -> dict[str, Any]:
    """Measure what there is at most on this machine, in the same minutes."""
    with bare_server() as served:
        with _measured_use(served) as used:
            bare = send(Load(served.port, filled.agents, asked.seconds / 2, asked.connections))
        print(f"  bare FastAPI, same bytes     {bare.per_s:,.0f}/s   [{used}, agents "
              f"{bare.cpu_s:.1f}]", flush=True)  # fmt: skip
    agent = filled.agents + 1
    body = log_body(name_of(agent), "202611220800", filled.units_of_log(agent), asked.log_lines,
                    0, 1)  # fmt: skip
    path = folder / "log.gz"
    path.write_bytes(body[body.index(b"\n") + 1 :])
    rates = []
    for _ in range(PASSES):
        lines, cpu_s = count_lines_s(path)
        assert lines == asked.log_lines, lines
        rates.append(round(lines / cpu_s))
    print(f"  zcat | DuckDB counting       {max(rates):,} lines a CPU-second, best of {PASSES}")
    return {
        "bare_syncs_per_s": round(bare.per_s),
        "bare_syncs_per_cpu_s": round(bare.answered / used.cpu_s["bare"]),
        "counted_lines_per_s_core": max(rates),
        "counted_lines_per_s_core_median": round(median(rates)),
    }


def _key(agent: int) -> dict[str, str]:
    return {"Authorization": f"Bearer {key_of(agent)}"}


def _say(
    what: str, said: str, used: _Used, *, agents: float = 0.0, wrong: dict[str, int] | None = None
) -> None:
    sender = f", agents {agents:.1f}" if agents else ""
    print(f"  {what:<28} {said}   [{used}{sender}]", flush=True)
    for text, count in (wrong or {}).items():
        print(f"  WRONG {count} times: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

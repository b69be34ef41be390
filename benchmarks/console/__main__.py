"""Each page of the console, of a manager with 1,000 agents, 10^6 hosts and 10^7 log lines.

    python -m benchmarks.console [--agents 1000] [--hosts 1000000] [--lines 10000000]
                                 [--turns 20] [--only sqlite|postgresql] [--pages PART]

The manager is the shipped command, which goes on with its work meanwhile; each page is asked for
`--turns` times, one after the other, by a person who has logged in. Prints a table; the last line
is `RESULT` and JSON, for each database:

    p95_ms       of the slowest page: 95 of 100 requests took no longer
    worst_page   which that is
    weight_kb    of the heaviest page with all that a browser loads for it, as it is transferred
    floor_ms     p95 of /healthz in the same run: what no page can be faster than
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from benchmarks.console.filling import HOST, ROUNDS, Filled, fill
from manager.db import Database
from manager.store import Layout
from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tests.manager.console.markup import read
from tests.postgres import PostgresServer, server_binaries, server_user

PASSWORD: Final = "correct horse battery"
SETTINGS: Final = ("policy.tick_s=5",)  # as shipped
WARM_UPS: Final = 2


def main() -> int:
    """Fill, serve, look at every page, print."""
    asked = _arguments()
    filled = Filled(asked.agents, asked.hosts, asked.lines)
    result: dict[str, Any] = {}
    for kind in ("sqlite", "postgresql"):
        if asked.only not in (None, kind):
            continue
        with tempfile.TemporaryDirectory(prefix="prsm-console-") as name:
            folder = Path(name)
            folder.chmod(0o755)  # PostgreSQL is another user
            with _served(kind, folder, filled) as manager:
                result[kind] = _measured(kind, manager, filled, asked)
    print("RESULT " + json.dumps(result))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--hosts", type=int, default=1_000_000)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    parser.add_argument("--pages", default="", help="only addresses with this in them")
    return parser.parse_args()


@contextmanager
def _served(kind: str, folder: Path, filled: Filled) -> Iterator[ManagerProcess]:
    data = folder / "data"
    layout = Layout(data)
    layout.create()
    with _database(kind, data) as url:
        begun = time.monotonic()
        db = Database(url)
        fill(db, layout, filled, time.time_ns() // 1_000_000)
        db.close()
        print(f"{kind}: {filled.agents:,} agents, {filled.hosts:,} hosts, {filled.lines:,} lines "
              f"made in {time.monotonic() - begun:.0f} s", flush=True)  # fmt: skip
        settings = SETTINGS if kind == "sqlite" else (*SETTINGS, f"database.url={url}")
        with running_manager(data, *settings) as manager:
            users = ("users", "add", "hana", "--role", "admin", "--password-stdin")
            prsm(data, *users, stdin=f"{PASSWORD}\n")
            yield manager


@contextmanager
def _database(kind: str, data: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield f"sqlite:///{data}/prsm.sqlite"
        return
    found = server_binaries()
    if found is None:
        sys.exit("no PostgreSQL under /usr/lib/postgresql: apt install postgresql")
    user, as_user = server_user()
    place = Path(tempfile.mkdtemp(prefix="prsm-pg-"))
    if user is not None:
        shutil.chown(place, user)
    server = PostgresServer(place, "prsm", found, as_user)
    try:
        server.initialise()
        server.start()
        try:
            server.run_sql("CREATE DATABASE prsm")
            yield server.url("prsm")
        finally:
            server.stop()
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _addresses(filled: Filled) -> list[str]:
    """Return every page with something on it, and lists as people use them."""
    host = HOST.format(filled.hosts // 2, filled.hosts // 2 % 1000)
    agent = "a0007.bench.example"
    return [
        "", "agents", "agents?state=online&sort=-units", f"agent?name={agent}", "new-agent",
        "agents-map", "agents?page=20&size=25", "restart", "hosts", "hosts?sort=-volume",
        "hosts?q=d7.example", "hosts?q=h5000",
        f"hosts?owner={agent}", "hosts?state=excluded", "hosts?page=1000",
        "hosts?q=h5000&in=address",
        "hosts?sort=owner", "hosts?sort=pages&page=1000", "add-hosts",
        f"host?host={host}", "rounds", f"rounds/{ROUNDS}", f"rounds/{ROUNDS}?q=a00&sort=-units",
        "plans", f"plans/{ROUNDS}", "balance",
        f"plans/{ROUNDS}/tree", "probes", "probes/matrix", "probes/distances",
        f"probes/distances?agent={agent}&sort=-distance", "reports", f"reports?agent={agent}",
        "logs",
        "logs?status=500", "logs?host=nothing.example", "collection", "data", "downloads",
        "archive-jobs", "withdrawn", "releases", "release-agents", "alerts", "audit",
        "audit?alerts=yes",
        f"audit?subject={agent}", "users", "settings", "fleet-rules", "tokens",
    ]  # fmt: skip


def _measured(
    kind: str, manager: ManagerProcess, filled: Filled, asked: argparse.Namespace
) -> dict[str, Any]:
    with manager.client(follow_redirects=True) as client:
        _log_in(client)
        floor = _p95([_timed(client, "/healthz")[0] for _ in range(asked.turns)])
        rows = []
        for address in _addresses(filled):
            if asked.pages not in address:
                continue
            path = f"/console/{address}"
            if client.get(path).status_code == 404:
                continue  # this version has no such page
            for _ in range(WARM_UPS):
                _timed(client, path)
            took = [_timed(client, path) for _ in range(asked.turns)]
            rows.append((_p95([ms for ms, _ in took]), _weight_kb(client, took[-1][1]), path))
    rows.sort(reverse=True)
    print(f"\n{kind}: p95 ms, kB with all its files, page")
    for p95, weight, path in rows:
        print(f"{p95:10.1f} {weight:8.1f}  {path}")
    print(f"{floor:10.1f}           /healthz\n", flush=True)
    return {
        "p95_ms": round(rows[0][0], 1),
        "worst_page": rows[0][2],
        "weight_kb": round(max(weight for _, weight, _ in rows), 1),
        "floor_ms": round(floor, 1),
        "pages": len(rows),
    }


def _log_in(client: httpx.Client) -> None:
    form = read(client.get("/console/").text).form("/console/login")
    fields = form.fields | {"name": "hana", "password": PASSWORD}
    answer = client.post("/console/login", data=fields, headers={"Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 200, answer.text[-500:]


def _timed(client: httpx.Client, path: str) -> tuple[float, httpx.Response]:
    begun = time.perf_counter()
    answer = client.get(path)
    took_ms = (time.perf_counter() - begun) * 1000
    assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[-500:]}"
    return took_ms, answer


def _weight_kb(client: httpx.Client, page: httpx.Response) -> float:
    """Return what a browser receives for a page, headers left out."""
    elements = read(page.text).elements
    named = {each.attributes.get("src") for each in elements if each.tag in ("script", "img")}
    named |= {each.attributes.get("href") for each in elements if each.tag == "link"}
    loaded = [client.get(address) for address in sorted(filter(None, named))]
    return sum(one.num_bytes_downloaded for one in (page, *loaded)) / 1000


def _p95(values: list[float]) -> float:
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


if __name__ == "__main__":
    sys.exit(main())

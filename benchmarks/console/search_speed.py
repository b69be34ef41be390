"""Searches in a console with 10^6 hosts, on both databases.

    python -m benchmarks.console.search_speed [--hosts 1000000] [--agents 1000] [--turns 5]

Each text is looked for as `Search.find` does it: first in a process that has read no address of a
host, then `--turns` times when it has read all. Prints a table; the last line is `RESULT` and JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from benchmarks.console.data import HOST, Filled, fill
from benchmarks.console.served_manager import KINDS, SERVER
from manager.db import Database
from manager.operations.health.alert_views import AlertDesk
from manager.operations.health.system_figures import system_figures_of
from manager.operations.hosts.host_views import HostFilter, list_hosts
from manager.operations.policy import DEFAULT_POLICY
from manager.operations.search import Search
from manager.settings import read_settings
from manager.store import Layout
from tests.postgres import running_server

NOW_MS: Final = 1_790_000_000_000


def texts(hosts: int) -> dict[str, str]:
    """Return what is looked for, by its kind."""
    middle = hosts // 2
    key = HOST.format(middle, middle % 1000)
    name = key[len("http://") : -len(":80/")]
    return {
        "a URL": f"{key}news/a.html",
        "a name without its port": name,
        "a domain": "d7.example",
        "a part of one host's name": f"{middle}.d",
        "a part of many names": "example",
        "a part of no name": "nothing-like-that",
        "a Unicode name": "日本語.jp",
        "a part in Unicode": "本語",
        "an IP address": "10.3.4.5",
        "an agent's name": "a0500.bench",
        "a number": "12",
        "one letter": "h",
    }


def measured(url: str, folder: Path, filled: Filled, turns: int) -> dict[str, tuple[float, float]]:
    """Return ms of the first search and median ms of later ones, by what is looked for."""
    layout = Layout(folder)
    layout.create()
    fill(url, layout, filled, NOW_MS)
    settings = read_settings(folder)
    found: dict[str, tuple[float, float]] = {}
    for named, text in texts(filled.hosts).items():
        db = Database(url)
        desk = AlertDesk(
            lambda db=db: system_figures_of(db, folder, DEFAULT_POLICY, NOW_MS),  # type: ignore[misc]
            list,
            list,
            settings.alerts,
            (),
        )
        search = Search(db, layout, settings, desk, ())
        first_ms = timed(search, text)
        for _ in range(5):  # reads the addresses
            search.find("nothing at all", "a", "admin", NOW_MS, kinds=["host"])
        found[named] = first_ms, statistics.median(timed(search, text) for _ in range(turns))
        print(f"  {named:28} {found[named][0]:8.0f} {found[named][1]:8.0f} ms", flush=True)
        db.close()
    db = Database(url)
    for text in ("d7.example", "ample5", "nothing-like-that"):
        begun = time.perf_counter()
        page = list_hosts(db, HostFilter(search=text))
        took_ms = (time.perf_counter() - begun) * 1000
        print(f"  list of hosts, {text}: {page.found_by}, {page.matching}, {took_ms:.0f} ms")
    db.close()
    return found


def timed(search: Search, text: str) -> float:
    """Return the milliseconds of one search."""
    begun = time.perf_counter()
    search.find(text, "admin", "admin", NOW_MS)
    return (time.perf_counter() - begun) * 1000


def main() -> int:
    """Fill both databases, look for each text, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--hosts", type=int, default=1_000_000)
    parser.add_argument("--agents", type=int, default=1_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--only", choices=KINDS)
    asked = parser.parse_args()
    filled = Filled(asked.agents, asked.hosts, 100_000)
    result = {}
    for kind in KINDS:
        if asked.only not in (None, kind):
            continue
        with tempfile.TemporaryDirectory(prefix="prsm-search-") as name, ExitStack() as stack:
            url = f"sqlite:///{name}/prsm.sqlite"
            if kind == "postgresql":
                server = stack.enter_context(running_server(SERVER))
                server.run_sql("CREATE DATABASE prsm")
                url = server.url("prsm")
            print(f"{kind}: first, later")
            found = measured(url, Path(name), filled, asked.turns)
            result[kind] = {named: [round(ms, 1) for ms in pair] for named, pair in found.items()}
    print("RESULT " + json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())

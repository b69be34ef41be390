"""Crawls both prepared webs and prints the figures; the last line is `RESULT` and JSON.

Instructions are counted between two lengths of a crawl, so that the start is not in them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.fetching.web import Files, documentation, prepare, simulated

SIMULATED_PAGES: Final = 6000
TURNS: Final = {"simulated": 15, "documentation": 2}
"""Requests that end between two turns: with 300 hosts many, with four few."""

_COUNTED: Final = re.compile(r"Collected : ([0-9]+)")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(prog="benchmarks.fetching")
    parser.add_argument("--pages", type=int, default=2000, help="of each web")
    parser.add_argument("--rounds", type=int, default=3, help="the least time of so many counts")
    parser.add_argument("--webs", nargs="+", default=list(TURNS), choices=list(TURNS))
    parser.add_argument("--byte-codes", type=int, default=0, help="count them, of so many more")
    parser.add_argument("--instructions", action="store_true", help="count them, by valgrind")
    asked = parser.parse_args()
    if asked.instructions and shutil.which("valgrind") is None:
        sys.exit("no valgrind: apt-get install valgrind, or leave --instructions out")
    results: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in asked.webs:
            web = Path(scratch) / name
            files: Files = simulated(SIMULATED_PAGES) if name == "simulated" else documentation()
            if not files:
                print(f"{name}: not installed", file=sys.stderr)
                continue
            prepare(files, web)
            least = min(
                _stage(web, asked.pages, TURNS[name])["us_per_page"] for _ in range(asked.rounds)
            )
            results[name] = {"us_per_page": least}
            if asked.byte_codes:
                counted = _stage(web, asked.pages, TURNS[name], more=asked.byte_codes)
                results[name]["byte_codes"] = counted["byte_codes"]
            if asked.instructions:
                results[name]["instructions"] = _instructions(web, asked.pages, TURNS[name])
            print(name, json.dumps(results[name]), flush=True)
    print("RESULT " + json.dumps(results))


def _stage(web: Path, pages: int, a_turn: int, *before: str, more: int = 0) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                *before,
                *(sys.executable, "-m", "benchmarks.fetching.stage"),
                *(str(web), folder, str(pages), str(a_turn), str(more)),
            ],
            env={**os.environ, "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=True,
        )
    counted = _COUNTED.search(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**result, "instructions": int(counted[1]) if counted else 0}


def _instructions(web: Path, pages: int, a_turn: int) -> int:
    """Return how many a page costs, between half as many pages and all."""
    valgrind = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
    half, whole = (_stage(web, count, a_turn, *valgrind) for count in (pages // 2, pages))
    more, pages_more = (int(whole[name] - half[name]) for name in ("instructions", "pages"))
    return round(more / pages_more)


if __name__ == "__main__":
    main()

"""Seed 000's figure 6 again: memory, put and get over the number of host names.

`make bench-hostcache`. One run, one core, CPU time: the host cache and a plain dict of the same
names, addresses and times. The names are as long as the source's: 16 GB of 590 million, 27 bytes.
The source's put and get stand for one thread of its machine; its memory was that of its data: the
names and four bytes each. Prints a table, draws the figure, and `RESULT {json}`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from agent.modules.dns.host_cache import HostCache
from benchmarks.memory import bytes_of
from benchmarks.plot import Figure, Points, draw

SOURCE_PUT_PER_S: Final = 300_000
SOURCE_GET_PER_S: Final = 1_000_000
SOURCE_NAME_BYTES: Final = 27.0
STEPS: Final = 10
EXPIRES_S: Final = 3600.0

Entry = tuple[str, str, float]  # host key, address, until when


def entries(count: int) -> list[Entry]:
    """Return host keys with addresses and times, the same in every run, in any order."""
    choose = random.Random(5)
    words = ["".join(choose.choices("aeioukstnhmr", k=choose.randint(3, 9))) for _ in range(3000)]
    made = []
    for number in range(count):
        name = f"www{number % 7 or ''}.{choose.choice(words)}{number:x}.{choose.choice(words)}.jp"
        address = (
            f"{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}.{choose.randint(1, 254)}"
        )
        made.append((f"http://{name}:80/", address, EXPIRES_S + choose.randint(0, 86_400)))
    choose.shuffle(made)
    return made


def measured(work: Callable[[list[Entry]], None], part: list[Entry]) -> float:
    """Return how many entries a CPU-second are worked on."""
    gc.collect()
    begun = time.process_time()
    work(part)
    return len(part) / (time.process_time() - begun)


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(prog="benchmarks.hostcache")
    parser.add_argument("--names", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("build/bench-hostcache"))
    options = parser.parse_args()
    everything = entries(options.names)
    name_bytes = sum(len(host) for host, _, _ in everything) / len(everything)
    ours = HostCache(options.names, 0.0)
    plain: dict[str, tuple[str, float]] = {}

    def put_ours(part: list[Entry]) -> None:
        for host, address, until in part:
            ours.put(host, address, until, 0.0)

    def put_plain(part: list[Entry]) -> None:
        for host, address, until in part:
            plain[host] = (address, until)

    def get_ours(part: list[Entry]) -> None:
        for host, _, _ in part:
            ours.get(host, 1.0)

    def get_plain(part: list[Entry]) -> None:
        for host, _, _ in part:
            plain.get(host)

    rows = []
    size = len(everything) // STEPS
    for step in range(STEPS):
        part = everything[step * size : (step + 1) * size]
        puts = measured(put_ours, part), measured(put_plain, part)
        rows.append((len(plain), bytes_of(ours), _dict_bytes(plain), *puts))
    gets = []
    for step in range(STEPS):
        part = everything[step * size : (step + 1) * size]
        gets.append((measured(get_ours, part), measured(get_plain, part)))
    kept = sum(ours.get(host, 1.0) == (address, until) for host, address, until in everything)
    print(f"{'names':>9} {'bytes':>12} {'dict bytes':>12} {'put/s':>10} {'dict':>10} ", end="")
    print(f"{'get/s':>10} {'dict':>10}")
    for (names, held, in_dict, *put), got in zip(rows, gets, strict=True):
        print(f"{names:>9} {held:>12} {in_dict:>12} ", end="")
        print("".join(f"{value:>11.0f}" for value in (*put, *got)))
    result = {
        "benchmark": "hostcache",
        "names": len(everything),
        "key_bytes": round(name_bytes, 1),
        "bytes_per_host": round(bytes_of(ours) / len(everything), 1),
        "bytes_over_key": round(bytes_of(ours) / len(everything) - name_bytes, 1),
        "most_bytes_per_host": round(max(row[1] / row[0] for row in rows), 1),
        "dict_bytes_per_host": round(_dict_bytes(plain) / len(everything), 1),
        "found_again": kept / len(everything),
        "put_per_s": round(max(row[3] for row in rows)),
        "get_per_s": round(max(got[0] for got in gets)),
        "put_per_s_median": round(sorted(row[3] for row in rows)[STEPS // 2]),
        "get_per_s_median": round(sorted(got[0] for got in gets)[STEPS // 2]),
        "dict_put_per_s": round(max(row[4] for row in rows)),
        "dict_get_per_s": round(max(got[1] for got in gets)),
        "source_put_per_s": SOURCE_PUT_PER_S,
        "source_get_per_s": SOURCE_GET_PER_S,
        "load": round(os.getloadavg()[0], 1),
    }
    _draw(options.folder, rows, name_bytes)
    print("RESULT", json.dumps(result))


def _dict_bytes(plain: dict[str, tuple[str, float]]) -> int:
    """Return the bytes of a dict with all that it holds, measured on a sample of its entries."""
    sample = list(plain.items())[:: max(1, len(plain) // 1000)]
    entry = sum(
        sys.getsizeof(host) + sys.getsizeof(value) + sum(map(sys.getsizeof, value))
        for host, value in sample
    ) / len(sample)
    return sys.getsizeof(plain) + round(entry * len(plain))


def _draw(folder: Path, rows: list[tuple[int, int, int, float, float]], name_bytes: float) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    series: dict[str, Points] = {
        "host cache": [(row[0], row[1]) for row in rows],
        "names and 16 bytes each": [(row[0], row[0] * (name_bytes + 16)) for row in rows],
        "names and 4 (HAT-trie)": [(row[0], row[0] * (name_bytes + 4)) for row in rows],
        "dict": [(row[0], row[2]) for row in rows],
    }
    title = "Figure 6 of seed 000: memory over names"
    draw(folder / "figure-6.svg", Figure(title, "names", "bytes", series, log_x=False))


if __name__ == "__main__":
    main()

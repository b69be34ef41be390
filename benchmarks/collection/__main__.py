"""`make bench-collection`: 10 agents push 200 segments through a proxy that cuts and flips.

Every connection is cut after 1 to 64 MiB (uniform), one byte in a hundred chunks is flipped. All
segments must arrive once and be accepted with the right digests; what counts is how many bytes the
agents sent beside those that were needed, at most 1.05. The agents are `prs collect now`, the
manager is `prsm serve`, the proxy is `benchmarks.collection.proxy`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from benchmarks.collection.proxy import BadProxy
from benchmarks.collection.stage import Home, make_manager, point_at, seal_segments

MIB: Final = 1024**2
BIN: Final = Path(sys.executable).parent
NEEDED: Final = 1.05


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, default=10)
    parser.add_argument("--segments", type=int, default=200, help="of all agents together")
    parser.add_argument("--segment-mib", type=float, default=32.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="for the files; needs room for four times them")
    return parser.parse_args()


async def _serve(data: Path) -> tuple[asyncio.subprocess.Process, int]:
    process = await asyncio.create_subprocess_exec(
        str(BIN / "prsm"),
        *("--data", str(data), "serve", "--listen", "127.0.0.1:0", "--json"),
        stdout=asyncio.subprocess.PIPE,
        stderr=(data / "log").open("wb"),
    )
    assert process.stdout is not None
    told = json.loads(await process.stdout.readline())
    return process, int(told["url"].rstrip("/").rsplit(":", 1)[1])


async def _push(home: Home) -> int:
    process = await asyncio.create_subprocess_exec(
        str(BIN / "prs"),
        *("--home", str(home.path), "collect", "now"),
        stdout=(home.path / "said").open("wb"),
        stderr=asyncio.subprocess.STDOUT,
    )
    return await process.wait()


async def _run(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    data = folder / "manager"
    homes = make_manager(data, folder / "homes", arguments.agents)
    (data / "prsm.toml").write_text("[collection]\nreserve_bytes = 0\n")
    sums, needed = set[str](), 0
    for number, home in enumerate(homes):
        share = (arguments.segments + number) // len(homes)
        point_at(home, "http://127.0.0.1:1")
        sums.update(seal_segments(home, share, round(arguments.segment_mib * MIB)))
        needed += sum(p.stat().st_size for p in home.path.rglob("*.warc.gz"))
    print(f"{len(sums)} segments, {needed / 1e9:.2f} GB", flush=True)
    process, port = await _serve(data)
    chance = random.Random(arguments.seed)
    proxy = BadProxy(
        port,
        cut=lambda: chance.randint(1 * MIB, 64 * MIB),
        flip_share=0.01,
        chance=chance,
    )
    try:
        through = await proxy.start()
        for home in homes:
            point_at(home, f"http://127.0.0.1:{through}")
        begun = time.monotonic()
        codes = await asyncio.gather(*(_push(home) for home in homes))
        elapsed_s = time.monotonic() - begun
    finally:
        process.terminate()
        await process.wait()
        await proxy.close()
    for home, code in zip(homes, codes, strict=True):
        if code:
            print(home.name, (home.path / "said").read_text()[-2000:])
    return {
        **_arrived(data / "prsm.sqlite", sums),
        "agents": len(homes),
        "bytes_needed": needed,
        "bytes_sent": proxy.carried.from_clients,
        "sent_over_needed": round(proxy.carried.from_clients / needed, 4),
        **asdict(proxy.carried),
        "elapsed_s": round(elapsed_s, 1),
        "mb_per_s": round(needed / 1e6 / elapsed_s, 1),
        "cpu_s": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, 1),
        "exit_codes": sorted(set(codes)),
    }


def _arrived(database: Path, sums: set[str]) -> dict[str, Any]:
    """Return what the centre has: how many of the segments, how often each, with which words."""
    with sqlite3.connect(database) as db:
        arrivals = Counter(row[0] for row in db.execute("SELECT sha256 FROM arrivals"))
        states = Counter(row[0] for row in db.execute("SELECT state FROM transfers"))
        kept = db.execute("SELECT count(*), sum(captures) FROM segments").fetchone()
    return {
        "segments": len(sums),
        "arrived_once": sum(arrivals[sha256] == 1 for sha256 in sums),
        "strangers": sum(sha256 not in sums for sha256 in arrivals),
        "states": dict(states),
        "kept_files": kept[0],
        "captures": kept[1],
    }


def main() -> None:
    """Run it; the last line is the result, the exit code says whether it met the goals."""
    arguments = _arguments()
    folder = Path(tempfile.mkdtemp(prefix="bench-collection-", dir=arguments.folder))
    try:
        free = shutil.disk_usage(folder).free
        wanted = round(arguments.segments * arguments.segment_mib * MIB * 4)
        if free < wanted:
            sys.exit(f"{folder}: {free} bytes are free, {wanted} are needed; see --segment-mib")
        result = asyncio.run(_run(arguments, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    good = (
        result["arrived_once"] == result["segments"] == result["states"].get("accepted")
        and result["strangers"] == 0
        and result["sent_over_needed"] <= NEEDED
    )
    for name, value in result.items():
        print(f"{name:>18} {value}")
    print(f"RESULT {json.dumps({**result, 'met': good})}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

"""Segments through the shipped nginx beside nginx alone, and a selection over many index rows.

    python -m benchmarks.distribution [--rows 10000000] [--hosts 20000] [--megabytes 500]

The manager is the shipped command; nginx has the shipped configuration; curl takes the bytes over
TLS. Prints a table; the last line is `RESULT` and JSON:

    over_nginx          MB/s of a segment that the manager authorises and nginx sends, over that of
                        nginx alone with the same file and TLS; medians, taken in turns
    first_byte_s_1e7    from the request of a selection to its first byte
    captures_per_s      of a selection of some hosts, as a zip, at one client
    rss_mb              the most memory that the manager had; before and after the large selection
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from benchmarks.distribution.data import Filled, fill, key_of
from tests.e2e.nginx import nginx_in_front
from tools.held_port import HeldPort

CODE: Final = "import sys; from manager.cli import main; sys.exit(main())"
HOSTS_TAKEN: Final = 20


def main() -> int:
    """Fill an archive, serve it, take from it, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--hosts", type=int, default=20_000)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--turns", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="prsm-distribution-") as name:
        folder = Path(name)
        begun = time.monotonic()
        filled = fill(folder / "data", asked.rows, asked.hosts, asked.megabytes * 1_000_000)
        print(f"{filled.rows:,} rows of {filled.hosts:,} hosts in {time.monotonic() - begun:.0f} s")
        with _served(folder) as (process, port, front, certificate):
            token = _token(folder)
            ratio = _over_nginx(front, certificate, token, filled, asked.turns)
            result = {"over_nginx": ratio, **_selections(process, port, token, filled)}
    print("RESULT " + json.dumps(result))
    return 0


@contextmanager
def _served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int, str, Path]]:
    """Start manager and nginx; give the process, its port, nginx's address, its certificate."""
    command = [sys.executable, "-c", CODE, "--data", str(folder / "data"), "serve", "--json",
               "--listen", "127.0.0.1:0"]  # fmt: skip
    for setting in (
        "server.behind_tls_proxy=true",
        'archive.x_accel_redirect_path="/prsm-archive/"',
    ):
        command += ["--set", setting]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            assert said, (folder / "log").read_text()
            port = httpx.URL(json.loads(said)["url"]).port or 0
            archive = folder / "data" / "archive"
            with (
                HeldPort() as free,
                nginx_in_front(folder / "nginx", port, archive, free, alone=True) as front,
            ):
                yield process, port, front, folder / "nginx" / "cert.pem"
        finally:
            process.terminate()


def _token(folder: Path) -> str:
    token = ""
    for words in (("add", "bench", "--contact", "x"),
                  ("token", "bench", "--requests-per-minute", "100000")):  # fmt: skip
        command = [sys.executable, "-c", CODE, "--data", str(folder / "data"), "clients", *words]
        token = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return token


def _over_nginx(front: str, certificate: Path, token: str, filled: Filled, turns: int) -> float:
    ours, alone = [], []
    key = _key_of_large(filled)
    for _ in range(turns):
        ours.append(_speed(f"{front}/api/v1/segments/{filled.large}", certificate, token))
        alone.append(_speed(f"{front}/alone/1/{key}", certificate, token))
    ratio = statistics.median(ours) / statistics.median(alone)
    for what, speeds in (("through the manager and nginx", ours), ("nginx alone", alone)):
        print(f"{what:<32} {statistics.median(speeds) / 1e6:>8.0f} MB/s")
    return round(ratio, 3)


def _key_of_large(filled: Filled) -> str:
    number = int(re.sub(r"\D", "", filled.large))
    return f"{key_of(number)}.warc.gz"


def _speed(url: str, certificate: Path, token: str) -> float:
    """Return bytes a second of one download."""
    done = subprocess.run(
        ["curl", "-sSf", "--cacert", certificate, "-H", f"Authorization: Bearer {token}",
         "-o", os.devnull, "-w", "%{speed_download}", url],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(done.stdout)


def _selections(
    process: subprocess.Popen[str], port: int, token: str, filled: Filled
) -> dict[str, Any]:
    fields = {"Authorization": f"Bearer {token}", "X-Forwarded-Proto": "https"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=fields, timeout=600) as client:
        first: list[float] = []
        for number in range(5):
            one = rf"w\d+[.]d{number * 7 + 3}[.]example:80"
            first.append(_take(client, one)[0])
        few = "|".join(f"w{n % 97}[.]d{n}[.]example:80" for n in range(100, 100 + HOSTS_TAKEN))
        _, seconds, size = _take(client, few)
        before = _most_mb(process)
        captures = HOSTS_TAKEN * filled.captures_of_a_host
        more = r"w\d+[.]d1?\d?[0-4]7[.]example:80"
        _, more_s, more_size = _take(client, more)
        after = _most_mb(process)
    print(f"{'first byte of a selection':<32} {statistics.median(first):>8.3f} s")
    print(f"{f'{captures:,} captures as a zip':<32} {captures / seconds:>8.0f} captures/s,"
          f" {size / seconds / 1e6:.1f} MB/s")  # fmt: skip
    print(f"{'memory after it':<32} {before:>8.0f} MB")
    print(f"{f'after {more_size / 1e6:.0f} MB in {more_s:.0f} s more':<32} {after:>8.0f} MB")
    return {
        "first_byte_s_1e7": round(statistics.median(first), 3),
        "captures_per_s": round(captures / seconds),
        "rss_mb": round(after),
        "rss_before_mb": round(before),
        "rows": filled.rows,
    }


def _take(client: httpx.Client, host: str) -> tuple[float, float, int]:
    """Return seconds to the first byte, to the last, and bytes."""
    begun = time.monotonic()
    first = size = 0.0
    with client.stream("GET", "/api/v1/pages.zip", params={"host": host}) as answer:
        answer.raise_for_status()
        for piece in answer.iter_raw():
            first = first or time.monotonic() - begun
            size += len(piece)
    return first, time.monotonic() - begun, int(size)


def _most_mb(process: subprocess.Popen[str]) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s*(\d+)", status)[0]) / 1000


if __name__ == "__main__":
    sys.exit(main())

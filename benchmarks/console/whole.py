"""Whole exports: lists as CSV to their end, and a search through all logs."""

from __future__ import annotations

import time
from dataclasses import dataclass

import httpx

from benchmarks.console.served_manager import Served

__all__ = ["Download", "download", "search_all"]


@dataclass(frozen=True, slots=True)
class Download:
    """first_s: until the first bytes came. rows: without the header."""

    path: str
    first_s: float
    whole_s: float
    cpu_s: float
    rows: int
    size_mb: float


def download(client: httpx.Client, served: Served, path: str) -> Download:
    """Read a CSV file to its end."""
    begun, used_ms = time.monotonic(), served.cpu_ms
    first_s, rows, size = 0.0, 0, 0
    with client.stream("GET", path, timeout=1200) as answer:
        assert answer.status_code == 200, f"{path}: {answer.status_code}"
        for part in answer.iter_bytes():
            first_s = first_s or time.monotonic() - begun
            rows += part.count(b"\n")
            size += len(part)
    whole_s = time.monotonic() - begun
    return Download(
        path, first_s, whole_s, (served.cpu_ms - used_ms) / 1000, max(0, rows - 1), size / 1e6
    )


def search_all(client: httpx.Client, served: Served, **wanted: str) -> tuple[Download, float]:
    """Search all logs, answer by answer; return also the time of the longest answer in ms."""
    begun, used_ms = time.monotonic(), served.cpu_ms
    longest_ms, mark, rows, size, first_s = 0.0, "", 0, 0, 0.0
    while True:
        asked = time.monotonic()
        answer = client.get("/api/v1/logs", params={**wanted, "mark": mark}, timeout=120)
        assert answer.status_code == 200, answer.text[-500:]
        longest_ms = max(longest_ms, (time.monotonic() - asked) * 1000)
        found = answer.json()
        rows += len(found["lines"])
        size += len(answer.content)
        first_s = first_s or time.monotonic() - begun
        mark = found["next"] or ""
        if not mark:
            break
    whole_s = time.monotonic() - begun
    said = "logs?" + "&".join(f"{name}={value}" for name, value in wanted.items())
    done = Download(said, first_s, whole_s, (served.cpu_ms - used_ms) / 1000, rows, size / 1e6)
    return done, longest_ms

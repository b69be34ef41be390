"""Figures of bench-shared's live parts, from the log of simweb."""

from __future__ import annotations

from typing import Any

from benchmarks.shared_addresses.live import figures_of
from benchmarks.shared_addresses.rates import allowed_per_s, most_per_s


def asked(at_s: float, host: str, path: str = "/", **more: Any) -> dict[str, Any]:
    found = {"event": "request", "server": "127.20.0.1", "client": "127.10.0.1", "host": host}
    return {**found, "path": path, "status": 200, "mono_start": at_s, "mono_end": at_s, **more}


def test_a_host_is_done_with_its_first_page() -> None:
    events = [
        asked(0.0, "a", "/robots.txt"),
        {"event": "dns", "name": "a"},
        asked(60.0, "a"),
        asked(90.0, "b", status=429),
        asked(120.0, "c", server="127.20.0.2", client="127.10.1.1", mono_end=121.5),
    ]
    found = figures_of(events, 2.0, 2)
    assert (found["requests"], found["hosts_done"], found["refused"]) == (4, 2, 1)
    assert found["hosts_per_hour"] == 60
    assert found["slowest_answer_s"] == 1.5
    assert found["agents_at_an_address"] == 1


def test_the_most_of_any_span_counts() -> None:
    assert most_per_s([0.0, 1.0, 30.0, 31.0, 32.0, 60.0], 10) == 0.3
    assert allowed_per_s(2.0, 1, 20) == 0.55
    assert allowed_per_s(2.0, 4, 20) == 0.6

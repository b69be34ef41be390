"""A host that is split among four agents: the same pages, one rate, and merged again."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from manager.assignment.host_shares import most_requests, share_ms
from tests.e2e.fleet import Fleet, running_fleet

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1800)]

AGENTS = 4
INTERVAL_S = 0.02
WEB: dict[str, Any] = {
    "hosts": 1,
    "seeds": 0,
    "regions": 1,
    "pages_mean": 1100.0,
    "pages_sigma": 0.0,
    "page_bytes": 600.0,
    "links_mean": 3.0,
    "trouble_scale": 0,
    "names_per_address": 1.0,
    "delay_ms": 0.0,
    "bandwidth_kb_s": 0.0,
    "robots": ["crawl-delay=0", "error=0", "forbid=0", "others=0"],
    "seed": 21,
}


def test_a_split_host_is_crawled_whole_at_its_own_rate(tmp_path: Path) -> None:
    """Each page once, by one agent; no agent sooner than its share; merged, all is as before."""
    with running_fleet(tmp_path, agents=AGENTS, interval_s=0.001, every_s=0.0, **WEB) as fleet:
        [host] = fleet.owners()
        whole = crawl(fleet, "random")
        assert len({request["client"] for request in whole}) == 1
        made = fleet.manager.prsm(
            "hosts", "split", host, "--pieces", str(AGENTS), "--interval-s", str(INTERVAL_S)
        )
        assert len({piece["agent"] for piece in made["pieces"]}) == AGENTS
        split = crawl(fleet, "keep")
        assert pages(split) == pages(whole) == set(expected(fleet))
        assert max(Counter(request["path"] for request in split if is_page(request)).values()) == 1
        check_rate(split)
        assert fleet.manager.prsm("check")["findings"] == []
        fleet.manager.prsm("hosts", "merge", host)
        merged = crawl(fleet, "keep")
        assert len({request["client"] for request in merged}) == 1
        assert pages(merged) == pages(whole)
        assert fleet.manager.prsm("check")["findings"] == []


def crawl(fleet: Fleet, method: str) -> list[dict[str, Any]]:
    """Run a round without probes; return its requests."""
    before = len(fleet.web.requests())
    fleet.manager.prsm("rounds", "start", "--method", method, "--no-probe")
    fleet.wait_round("finished", 900)
    return fleet.web.requests()[before:]


def expected(fleet: Fleet) -> list[str]:
    return [url[url.index("/", 8) :] for url in fleet.web.expected().captures]


def is_page(request: dict[str, Any]) -> bool:
    return bool(request["path"] != "/robots.txt")


def pages(requests: list[dict[str, Any]]) -> set[str]:
    return {request["path"] for request in requests if is_page(request)}


def check_rate(requests: list[dict[str, Any]]) -> None:
    """Each agent keeps its share between two starts, so all together keep the host's rate."""
    starts: dict[str, list[float]] = defaultdict(list)
    for request in requests:
        starts[request["client"]].append(request["mono_start"])
    assert len(starts) == AGENTS
    share_s = share_ms(round(INTERVAL_S * 1000), AGENTS) / 1000
    for times in starts.values():
        assert min(later - one for one, later in pairwise(sorted(times))) >= share_s - 0.001
    times = sorted(time for of_client in starts.values() for time in of_client)
    for span_s in (0.5, 2.0, 10.0):
        most = most_requests(round(span_s * 1000), round(INTERVAL_S * 1000), AGENTS)
        first = 0
        for last, time in enumerate(times):
            while time - times[first] > span_s:
                first += 1
            assert last - first + 1 <= most

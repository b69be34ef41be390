"""Three real agents probe, and the owner of each host crawls from where its own probe ended."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.fleet import Fleet, running_fleet
from tools.demo.system import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]

AGENTS = 3
PROBE = 5
POLICY = f"""
probe_pages = {PROBE}
probe_steps = 0
control_hosts_per_agent = 0
whole_host_check_share = 0.0
whole_hosts_most_share = 1.0
start_page_delay_s = 1.0
"""
WEB: dict[str, Any] = {
    "hosts": 10, "regions": AGENTS, "seeds": 0, "seed": 5, "pages_mean": 9.0, "pages_sigma": 0.8,
    "trouble_scale": 0, "delay_ms": 1.0, "names_per_address": 1.0, "validators_share": 0.0,
    "robots": ["allow=1", "none=0", "disallow=0", "crawl-delay=0", "redirect=0", "others=0",
               "sitemap=0", "forbid=0", "error=0"],
}  # fmt: skip


def asked(fleet: Fleet, *, of_agent: int | None = None) -> Counter[str]:
    """Return how often each page was requested, by its URL."""
    port = fleet.web.port
    source = None if of_agent is None else f"127.10.{of_agent}.1"
    return Counter(
        f"http://{one['host']}:{port}{one['path']}"
        for one in fleet.web.requests()
        if one["path"] != "/robots.txt" and source in (None, one["client"])
    )


def by_host(urls: Counter[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for url, count in urls.items():
        counts[url[: url.index("/", 8) + 1]] += count
    return counts


def test_no_page_is_fetched_twice_by_its_owner(tmp_path: Path) -> None:
    """Nor lost: volumes count the probe of the owner. Others probe what it did not see whole."""
    with running_fleet(tmp_path, agents=AGENTS, interval_s=0.05, policy=POLICY, **WEB) as fleet:
        pages = Counter(dict.fromkeys(fleet.web.expected().captures, 1))
        fleet.run_round("random", 400)
        assert asked(fleet).keys() == pages.keys()
        owners = fleet.owners()
        sizes = by_host(pages)
        assert min(sizes.values()) <= PROBE < max(sizes.values())
        for number in range(AGENTS):
            mine = asked(fleet, of_agent=number)
            assert set(mine.values()) == {1}
            fetched = by_host(mine)
            for host, owner in owners.items():
                if owner == fleet.agents[number].name:
                    assert fetched[host] == sizes[host]
                elif sizes[host] >= PROBE:
                    assert fetched[host] == PROBE
                else:
                    assert fetched[host] == 0, "the owner's probe saw the whole host"
        for host in owners:
            [unit] = fleet.manager.prsm("hosts", "show", host)["units"]
            assert unit["pages"] == sizes[host]
        assert fleet.manager.prsm("check")["findings"] == []
        # Distances are fresh: the second round probes control hosts at most, and crawls the rest.
        before = asked(fleet).total()
        fleet.run_round("keep", 400)
        assert asked(fleet).total() - before == pages.total()
        fleet.check()


def test_agents_that_are_killed_between_probe_and_crawl_lose_nothing(tmp_path: Path) -> None:
    """Each is killed when its probes are done: what it fetched is on its disk, and goes on."""
    with running_fleet(tmp_path, agents=AGENTS, interval_s=0.05, policy=POLICY, **WEB) as fleet:
        pages = Counter(dict.fromkeys(fleet.web.expected().captures, 1))
        fleet.manager.prsm("rounds", "start", "--method", "random")

        def is_probed() -> bool:
            orders = fleet.round()["orders"]
            return set(orders) <= {"done", "not_needed"}

        wait_for("all probes", is_probed, seconds=300, every_s=0.05)
        for agent in fleet.agents:
            agent.program.kill()
            agent.start()
        fleet.wait_round("finished", 400)
        assert asked(fleet).keys() == pages.keys()
        sizes = by_host(pages)
        for number in range(AGENTS):
            twice = {url for url, count in asked(fleet, of_agent=number).items() if count > 1}
            assert len(twice) <= 1, "only what was under way at the kill"
        for host in fleet.owners():
            [unit] = fleet.manager.prsm("hosts", "show", host)["units"]
            assert sizes[host] <= unit["pages"] <= sizes[host] + 1
        assert fleet.manager.prsm("check")["findings"] == []

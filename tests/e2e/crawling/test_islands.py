"""Pages that only other hosts link to: two real agents fetch them, beside one that floods."""

from __future__ import annotations

import gzip
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from shared.wire.names import hash_of_key, new_key
from tests.e2e.fleet import Fleet, running_fleet
from tools.demo.system import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]

MILLION = 1_000_000
AGAIN = 100_000  # of these, sent twice
SENT = 20  # start pages of a unit that its agent is sent
FLOOD = "/flood-"
WEB: dict[str, Any] = {
    "hosts": 8, "regions": 2, "seeds": 0, "seed": 5, "pages_mean": 8.0, "pages_sigma": 0.2,
    "trouble_scale": 0, "islands": 1.0, "island_chain": True, "delay_ms": 1.0,
    "names_per_address": 1.0,
    "robots": ["allow=1", "none=0", "disallow=0", "crawl-delay=0", "redirect=0", "others=0",
               "sitemap=0", "forbid=0", "error=0"],
}  # fmt: skip
POLICY = f"""
start_page_delay_s = 1.0
start_pages_per_unit = {SENT}
reopenings_per_unit = 20
"""


def asked(fleet: Fleet) -> Counter[str]:
    """Return how often each page was requested, by its URL."""
    port = fleet.web.port
    requests = [one for one in fleet.web.requests() if one["path"] != "/robots.txt"]
    return Counter(f"http://{one['host']}:{port}{one['path']}" for one in requests)


def start_round(fleet: Fleet) -> None:
    """Start a round without probes: each request of it is one of a crawl."""
    fleet.manager.prsm("rounds", "start", "--method", "random", "--no-probe")


def flooding_agent(fleet: Fleet, name: str) -> httpx.Client:
    """Return a client with the key of an agent that only ever sends M2, and is given no unit."""
    token = fleet.manager.prsm("agents", "token", name)["token"]
    key = new_key()
    body = {"agent": name, "token": token, "key_hash": hash_of_key(key), "kind": "sync"}
    url = fleet.manager.url
    answer = httpx.post(f"{url}/api/v1/enrol", json=body)
    assert answer.status_code == 200, answer.text
    headers = {"Authorization": f"Bearer {key}"}
    left = httpx.get(f"{url}/servlets/unsubscribe", params={"host": name}, headers=headers)
    assert left.status_code == 200, left.text
    return httpx.Client(base_url=url, timeout=600, headers=headers)


def shown(fleet: Fleet, host: str) -> dict[str, Any]:
    """Return what the manager says of a host's only unit."""
    [unit] = fleet.manager.prsm("hosts", "show", host)["units"]
    return dict(unit)


def record(agent: httpx.Client, urls: list[str]) -> httpx.Response:
    """Send M2."""
    return agent.post("/servlets/record", content=gzip.compress("\n".join(urls).encode(), 1))


def test_chains_of_islands_are_fetched_in_one_round_each_page_once(tmp_path: Path) -> None:
    """Units that were done continue with the new pages only; a second round has them at once."""
    with running_fleet(tmp_path, agents=2, interval_s=0.05, policy=POLICY, **WEB) as fleet:
        pages = fleet.web.expected().captures
        islands = sum(host.island_pages > 0 for host in fleet.web.hosts)
        assert islands >= 6
        for number in (1, 2):
            start_round(fleet)
            fleet.wait_round("finished", 400)
            assert asked(fleet) == Counter(dict.fromkeys(pages, number))
        fleet.check()


def test_an_agent_that_floods_takes_no_more_than_its_share(tmp_path: Path) -> None:
    """A million pages of a host, others outside the scope and of a closed unit, some of it twice.

    Another agent names one more page again and again. The islands of the others are fetched all
    the same, and the round ends.
    """
    with running_fleet(tmp_path, agents=2, interval_s=0.05, policy=POLICY, **WEB) as fleet:
        flooded, outside, closed = (fleet.web.url(host) for host in fleet.web.hosts[-3:])
        first = fleet.web.url(fleet.web.hosts[0])
        pages = fleet.web.expected(fleet.web.hosts[:4]).captures
        rules = tmp_path / "scope.txt"
        name = outside.split("/")[2].partition(":")[0]
        rules.write_text(f"exclude host:{name}\nexclude *.unknown.example\n")
        fleet.manager.run("scope", "set", str(rules))
        fleet.manager.run("hosts", "exclude", closed, "--reason", "asked")
        urls = [f"{flooded}{FLOOD[1:]}{number}/" for number in range(MILLION)]
        others = [f"{outside}{FLOOD[1:]}1", f"{closed}{FLOOD[1:]}1"]
        others += [f"http://h{number}.unknown.example/" for number in range(100)]
        with (
            flooding_agent(fleet, "flood.example") as flood,
            flooding_agent(fleet, "drip.example") as drip,
            ThreadPoolExecutor(1) as pool,
        ):
            flooding = pool.submit(record, flood, others + urls)
            wait_for("kept pages", lambda: shown(fleet, flooded)["start_pages"], seconds=120)
            start_round(fleet)
            for number in count():
                record(drip, [f"{first}{FLOOD[1:]}{number}"])
                if fleet.round()["round"]["state"] == "finished":
                    break
                time.sleep(0.3)  # the crawl needs the processors, too
            assert flooding.result().status_code == 200
            again = record(flood, others + urls[:AGAIN])
            assert "0 new hosts, 0 new start pages" in again.text
        counted = asked(fleet)
        of_flood = Counter(url[: url.index("/", 8) + 1] for url in counted if FLOOD in url)
        assert of_flood.keys() <= {flooded, first}
        assert 0 < of_flood[flooded] <= SENT
        assert of_flood[first] <= SENT
        assert not [url for url in counted if url.startswith((outside, closed))]
        assert pages <= counted.keys()
        assert shown(fleet, flooded)["dropped_pages"] == MILLION + AGAIN - 2 * SENT
        assert fleet.manager.prsm("check")["findings"] == []

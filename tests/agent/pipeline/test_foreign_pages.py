"""Pages that only other hosts link to, between agents over one web: each is fetched, and once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.modules.limits import Politeness
from shared.units import is_unit
from shared.urls import canonical, host_of
from shared.wire.orders import Order
from tests.agent.fakes import Page
from tests.agent.world import ANY_NAME, World

DEFAULT = replace(ANY_NAME, require_public_suffix=True)
FAST = Politeness(interval_s=1.0, fast_interval_s=1.0, times_last=0)
MOST_TURNS = 400


def island_path(number: int) -> str:
    """Return the path of an island; every other one ends in `/`, as a unit's would."""
    return "maps/" if number % 2 else "island.html"


def web_of_chain(hosts: int, length: int) -> dict[str, Page]:
    """Return a web in which host 0's top page leads to an island, and each island to the next.

    Island n lies on host n modulo `hosts`, so a chain that is longer comes back to hosts that are
    done. Each island has one more page in its directory.
    """

    def url(number: int) -> str:
        return f"http://h{number % hosts}.example/i{number}/{island_path(number)}"

    web = {f"http://h{number}.example/robots.txt": Page(status=404) for number in range(hosts)}
    for number in range(hosts):
        links = [f"http://h{number}.example/p", *([url(1)] if number == 0 else [])]
        web[f"http://h{number}.example/"] = Page(tuple(links))
        web[f"http://h{number}.example/p"] = Page((f"http://h{number}.example/",))
    for number in range(1, length + 1):
        beside = f"http://h{number % hosts}.example/i{number}/more.html"
        web[url(number)] = Page((beside, *([url(number + 1)] if number < length else [])))
        web[beside] = Page((url(number),))
    return web


class Exchange:
    """Agents, and what a manager does of M1 and M2: pages go to the list of their unit's agent."""

    def __init__(self, web: dict[str, Page], owners: list[int]) -> None:
        self.web = web
        self.owner = {f"http://h{number}.example:80/": one for number, one in enumerate(owners)}
        self.agents = [World(web, DEFAULT, FAST) for _ in range(max(owners) + 1)]
        self.starts: dict[str, dict[str, str | None]] = {unit: {} for unit in self.owner}
        self.listed = set(self.owner)
        self.read = [0] * len(self.agents)  # of what each agent found
        self.told = [0] * len(self.agents)  # of its units that are done
        for number in range(len(self.agents)):
            self.give(number)

    def give(self, number: int) -> None:
        """Give an agent its list."""
        orders: list[Order] = []
        for unit in sorted(self.listed):
            if self.owner[unit] != number:
                continue
            pages = self.starts[unit]
            top = unit.removesuffix(":80/")
            inside = tuple((url[len(top) :], by) for url, by in pages.items() if is_unit(url))
            orders.append(Order(unit, starts=inside))
            orders += (Order(url, by) for url, by in pages.items() if not is_unit(url))
        self.agents[number].give_list(orders)

    def pass_on(self, *, batch: int) -> bool:
        """Do what a manager does when it was called; return whether anything is news.

        batch: how many of the pages that an agent found are in one M2.
        """
        touched: set[int] = set()
        for number, world in enumerate(self.agents):
            for done in world.reports.units[self.told[number] :]:
                self.listed.discard(done.unit)
            self.told[number] = len(world.reports.units)
        for number, world in enumerate(self.agents):
            found = world.reports.found[self.read[number] : self.read[number] + batch]
            self.read[number] += len(found)
            for one in found:
                unit = host_of(canonical(one.url))
                if one.url not in self.starts[unit]:
                    self.starts[unit][one.url] = one.referer
                    self.listed.add(unit)
                    touched.add(self.owner[unit])
        for number in sorted(touched):
            self.give(number)
        return bool(touched)

    def run(self, *, batch: int, ticks: int, kills: list[int]) -> None:
        """Crawl until nothing is found any more. kills: turns in which an agent is killed."""
        for turn in range(MOST_TURNS):
            for number, world in enumerate(self.agents):
                for _ in range(ticks):
                    while world.complete():
                        pass
                    world.tick(1.0)
                world.ledger.commit()
                if turn in kills and turn % len(self.agents) == number:
                    world.crash()
            is_news = self.pass_on(batch=batch)
            is_busy = any(world.open_jobs or world.fetcher.flights for world in self.agents)
            is_read = all(
                len(world.reports.found) == read
                for world, read in zip(self.agents, self.read, strict=True)
            )
            if not is_news and not is_busy and is_read:
                return
        raise AssertionError(f"not done after {MOST_TURNS} turns")

    def fetched(self) -> Counter[str]:
        """Return how often each page was requested."""
        return Counter(url for world in self.agents for url in world.fetched())


@settings(deadline=None, max_examples=40)
@given(
    hosts=st.integers(2, 5),
    length=st.integers(1, 14),
    owners=st.lists(st.integers(0, 1), min_size=5, max_size=5),
    batch=st.sampled_from([1, 2, 1000]),
    ticks=st.sampled_from([1, 3, 20]),
)
def test_a_chain_of_islands_of_any_length_is_fetched_in_one_round(
    hosts: int, length: int, owners: list[int], batch: int, ticks: int
) -> None:
    """Each island is found on the one before only, over units of two agents, and is asked once."""
    web = web_of_chain(hosts, length)
    exchange = Exchange(web, owners[:hosts])
    exchange.run(batch=batch, ticks=ticks, kills=[])
    pages = {url for url in web if not url.endswith("/robots.txt")}
    assert exchange.fetched() == Counter(pages)


@pytest.mark.parametrize("kills", [[1], [2, 5], [3, 4, 9], [6, 13, 20]])
def test_a_kill_loses_no_island(kills: list[int]) -> None:
    """What was found is in the ledger; a page that was under way is asked for again."""
    web = web_of_chain(3, 9)
    exchange = Exchange(web, [0, 1, 1])
    exchange.run(batch=1, ticks=2, kills=kills)
    pages = {url for url in web if not url.endswith("/robots.txt")}
    assert exchange.fetched().keys() == pages

"""What every runner does with the crawl: the whole web that can be reached, whatever happens."""

from __future__ import annotations

import asyncio
import random

import pytest

from agent.modules.limits import Politeness
from agent.runners.crawl_loop import CrawlLoop
from agent.runners.in_process import InProcessRunner
from tests.agent.fakes import NOT_FOUND, Page
from tests.agent.world import World, order, site
from tests.contracts.runners.conftest import Build

UNITS = ("http://a.example:80/", "http://b.example:80/", "http://c.example:80/x/")
GENTLE = Politeness(interval_s=1.0, fast_interval_s=1.0, times_last=0)


def the_web() -> dict[str, Page]:
    """Return two whole hosts and one directory that lead to each other."""
    web = site("a.example", 12) | site("b.example", 8)
    web["http://a.example/p3"] = Page(
        ("http://b.example/deep", "http://c.example/x/1", "http://c.example/y/")
    )
    web["http://b.example/deep"] = Page(("http://b.example/deeper",))
    web["http://b.example/deeper"] = Page(status=301, location="http://a.example/moved")
    web["http://a.example/moved"] = Page(("http://a.example/last",))
    web["http://c.example/x/"] = Page(("http://c.example/x/2", "http://c.example/"))
    return web


OUTSIDE = {"http://c.example/", "http://c.example/y/"}


class BuiltWorld(World):
    """A world with the runner of the case."""

    def __init__(self, build: Build, web: dict[str, Page], seed: int) -> None:
        self.build = build
        self.random = random.Random(seed)
        super().__init__(web, politeness=GENTLE)
        self.resolver_addresses |= {UNITS[1]: ("192.0.2.2",)}

    def make_runner(self) -> InProcessRunner:
        return self.build(
            self.pipeline, self.make_handler, choose=self.random.randrange, capacity=8, batch=3
        )

    def some(self, count: int) -> None:
        """Let some things be done in any order, and some time pass."""
        for _ in range(count):
            if self.random.random() < 0.8:
                self.complete(self.random.randrange)
            else:
                self.tick(self.random.choice([0.1, 1.0]))
            if self.random.random() < 0.1:
                self.ledger.commit()

    def to_the_end(self) -> None:
        for _ in range(2000):
            self.some(10)
            if not self.open_jobs and not self.fetcher.flights:
                self.tick(1.0)
                self.ledger.commit()
                return
        raise AssertionError(f"not done: {self.crawl.state()}")


def kept(world: World) -> list[str]:
    return [url for url in world.ledger.durable_captures if "robots" not in url]


def check_whole(world: World) -> None:
    """Check that each page that a kept page leads to is kept once, or was reported as outside.

    A page of another host is outside when that host was done before anybody led there.
    """
    pages = kept(world)
    reported = {one.url for one in world.reports.found}
    assert len(pages) == len(set(pages))
    assert {"http://a.example/", "http://b.example/", "http://c.example/x/"} <= set(pages)
    for url in pages:
        page = world.web.get(url, NOT_FOUND)
        for target in (*page.links, *([page.location] if page.location else [])):
            assert target in pages or target in reported, f"{url} leads to {target}"
    assert not OUTSIDE & set(pages)
    assert not world.open_jobs


@pytest.mark.parametrize("seed", range(6))
def test_all_that_can_be_reached_is_kept_once(build: Build, seed: int) -> None:
    """In any order of completions, the pages kept are those that can be reached, each once."""
    world = BuiltWorld(build, the_web(), seed)
    world.give_list(order(unit) for unit in UNITS)
    world.to_the_end()
    check_whole(world)
    assert sorted(unit.unit for unit in world.reports.units) == sorted(UNITS)
    assert {one.url for one in world.reports.found} >= OUTSIDE


@pytest.mark.parametrize("steps", range(0, 240, 8))
def test_a_crash_at_any_point_loses_nothing(build: Build, steps: int) -> None:
    """After kill -9 at any point, the crawl that goes on keeps each reachable page once."""
    world = BuiltWorld(build, the_web(), steps)
    world.give_list(order(unit) for unit in UNITS)
    world.ledger.commit()
    world.some(steps)
    world.crash()
    world.some(steps // 2)
    world.crash()
    world.to_the_end()
    check_whole(world)


@pytest.mark.parametrize("seed", range(3))
def test_mailboxes_stay_small(build: Build, seed: int) -> None:
    """A page with very many links fills no mailbox beyond what it itself makes of one batch."""
    many = tuple(f"http://a.example/n{number}" for number in range(500))
    web = the_web() | {"http://a.example/p1": Page(many), "http://a.example/p2": Page(many)}
    world = BuiltWorld(build, web, seed)
    world.give_list(order(unit) for unit in UNITS)
    world.some(400)
    greatest = world.runner.greatest_mailboxes()
    assert greatest.pop("dedup") <= 8 + 3 * 500
    assert greatest.pop("resolve") <= 8 + 500
    assert max(greatest.values()) <= 8 + 3 * 3 * 3, greatest


class Busy:
    """Completes everything a little later, as adapters on the event loop do."""

    def __init__(self, world: World, enough: int) -> None:
        self._world = world
        self._enough = enough
        self.begun = asyncio.Event()  # so many requests were

    async def run(self) -> None:
        world = self._world
        while True:
            world.clock.now_s += 0.01  # a turn of the loop must not look as if it had stood still
            if world.resolver.waiting:
                world.resolver.answer()
            if world.fetcher.flights:
                world.fetcher.answer()
            if world.worker.waiting:
                world.worker.answer()
            if len(world.fetcher.started) >= self._enough:
                self.begun.set()
            await asyncio.sleep(0)


def test_a_stop_begins_nothing_and_loses_nothing(build: Build) -> None:
    """After a stop is asked for, no request begins, what was begun is kept, all is committed."""

    async def scenario(world: World) -> int:
        loop = CrawlLoop(
            world.runner, world.crawl, world.ledger, world.clock, lambda: True, tick_s=0.001
        )
        world.give_list(order(unit) for unit in UNITS)
        stop = asyncio.Event()
        busy = Busy(world, 9)
        completing = asyncio.ensure_future(busy.run())
        running = asyncio.ensure_future(loop.run(stop, drain_s=1e6))
        await busy.begun.wait()
        stop.set()
        started = len(world.fetcher.started)
        await running
        completing.cancel()
        return started

    world = BuiltWorld(build, the_web(), 1)
    started = asyncio.run(scenario(world))
    assert len(world.fetcher.started) <= started + 2  # begun in the turn that was going on
    assert not world.fetcher.flights
    assert world.crawl.at_work == 0
    assert world.ledger.durable_captures == world.ledger.captures
    assert len(world.ledger.captures) == len(world.fetcher.started)
    world.crash()
    world.to_the_end()
    check_whole(world)

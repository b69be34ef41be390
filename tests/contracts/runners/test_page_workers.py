"""A whole crawl under every runner, whose pages are worked on in every way there is."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from contextlib import suppress

import pytest

from agent.adapters.pages.pool import WorkerPages
from agent.pipeline.ports import PageWorker
from agent.runners.crawl_loop import CrawlLoop
from tests.agent.fakes import Page
from tests.agent.world import order
from tests.contracts.pages.case import OPTIONS, Make, Remarks, inline, started
from tests.contracts.runners.conftest import RUNNERS, Build
from tests.contracts.runners.test_crawls import UNITS, BuiltWorld, check_whole, kept, the_web

KINDS: dict[str, Make] = {"in this process": inline, "in worker processes": started}
IN_DEFAULT = (
    *((runner, "in this process") for runner in RUNNERS),
    (min(RUNNERS), "in worker processes"),
)
"""The default suite kills workers under one runner, `make test-all` under each."""


@pytest.fixture(params=sorted(KINDS))
def make(request: pytest.FixtureRequest) -> Make:
    """One kind of page worker."""
    return KINDS[request.param]


def with_bodies(web: dict[str, Page]) -> dict[str, Page]:
    """Return the web with pages whose links are found by reading them."""
    return {
        url: Page(
            page.links,
            page.status,
            body="".join((url, *(f"<a href='{link}'>" for link in page.links))).encode(),
            location=page.location,
        )
        for url, page in web.items()
    }


class ReadWorld(BuiltWorld):
    """A world in which pages are read."""

    def __init__(self, build: Build, make: Make, seed: int) -> None:
        self.make = make
        self.remarks = Remarks()
        super().__init__(build, with_bodies(the_web()), seed)

    def page_worker(self) -> PageWorker:
        self.door = self.make(OPTIONS, self.remarks)
        return self.door

    def kill_one(self) -> bool:
        """Kill a worker process, if there is one."""
        if isinstance(self.door, WorkerPages) and self.door.workers:
            with suppress(ProcessLookupError):
                os.kill(self.random.choice(self.door.workers), signal.SIGKILL)
            return True
        return False

    async def crawl_on(self, steps: int, kills: int = 0) -> None:
        """Let the loop crawl while the world answers, so many times or until all is done."""
        loop = CrawlLoop(
            *(self.runner, self.crawl, self.ledger, self.clock, lambda: True), tick_s=0.001
        )
        stop = asyncio.Event()
        running = asyncio.ensure_future(loop.run(stop, drain_s=1e6))
        async with asyncio.timeout(100):
            for _ in range(steps):
                self.clock.now_s += 0.5
                for waiting, answer in (
                    (self.resolver.waiting, self.resolver.answer),
                    (self.fetcher.flights, self.fetcher.answer),
                ):
                    if waiting and self.random.random() < 0.7:
                        answer(self.random.randrange(len(waiting)))
                if kills and self.random.random() < 0.1:
                    kills -= self.kill_one()
                if not self.open_jobs:
                    break
                await asyncio.sleep(0.002)  # so that the loop turns, and workers get to work
            self.clock.now_s += 1.0
            if not self.open_jobs:
                stop.set()
                await running
                return
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@pytest.mark.parametrize(
    ("build", "make"),
    [
        pytest.param(runner, kind, marks=[] if (runner, kind) in IN_DEFAULT else pytest.mark.slow)
        for runner in RUNNERS
        for kind in KINDS
    ],
    indirect=True,
)
@pytest.mark.parametrize("seed", [1])
def test_all_that_can_be_reached_is_kept_once(build: Build, make: Make, seed: int) -> None:
    """Whoever reads the pages, and whoever kills the readers meanwhile."""
    world_of: list[ReadWorld] = []

    async def scenario() -> None:
        world = ReadWorld(build, make, seed)
        world_of.append(world)
        world.give_list(order(unit) for unit in UNITS)
        await world.crawl_on(20_000, kills=4)
        world.ledger.commit()
        world.door.close()

    asyncio.run(scenario())
    check_whole(world_of[0])


@pytest.mark.parametrize("steps", [5, 100])
def test_a_crash_loses_nothing(build: Build, make: Make, steps: int) -> None:
    """After kill -9 of the agent, its workers end, and each page is kept once all the same."""
    world_of: list[ReadWorld] = []

    async def scenario() -> None:
        world = ReadWorld(build, make, steps)
        world_of.append(world)
        world.random = random.Random(steps)
        world.give_list(order(unit) for unit in UNITS)
        world.ledger.commit()
        await world.crawl_on(steps)
        world.door.close()
        world.crash()
        await world.crawl_on(20_000)
        world.ledger.commit()
        world.door.close()

    asyncio.run(scenario())
    check_whole(world_of[0])
    assert len(kept(world_of[0])) > 15

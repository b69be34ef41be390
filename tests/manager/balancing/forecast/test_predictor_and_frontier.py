"""Predicted ends beside those of the agent's real modules in fake time, over random webs."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from agent.modules.limits import Politeness
from manager.balancing.forecast.predictor import address_loads, crawl_ms
from manager.balancing.forecast.work_duration import Capacity
from tests.agent.fakes import Page
from tests.agent.world import ANY_NAME, World, order, site

TICK_S = 0.1
MOST_TICKS = 40_000
NEVER_FAST = 1e18


class Case:
    """A random web and an agent: some with few connections for many slow hosts."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.connections = rng.choice([1, 2, 4, 50])
        # One connection for bursts of all is left out: who is first then decides (up to 35%).
        self.burst = rng.choice([1, 1, 2, 4]) if self.connections > 1 else 1
        self.interval_s = rng.choice([4.0, 20.0])
        self.times_last = rng.choice([0.0, 10.0])
        hosts = rng.randint(1, 16)
        shared = rng.random() < 0.4
        self.pages = [rng.randint(1, 14) for _ in range(hosts)]
        self.answer_s = [rng.choice([0.2, 0.8, 3.0]) for _ in range(hosts)]
        self.address = [rng.randint(0, hosts // 2) if shared else at for at in range(hosts)]

    def predicted_s(self) -> float:
        """Return what the predictor says."""
        requests = np.array(self.pages, dtype=np.float64) + 1
        _, address = np.unique(self.address, return_inverse=True)
        agent = Capacity(
            connections=self.connections,
            interval_ms=1000 * self.interval_s,
            fast_interval_ms=1000 * self.interval_s,
            burst=self.burst,
            delay_factor=self.times_last,
        )
        load = address_loads(
            requests * np.array(self.answer_s) * 1000,
            requests,
            requests,
            np.zeros(len(requests)),
            address.astype(np.intp),
            int(address.max()) + 1,
            agent,
            NEVER_FAST,
        )
        return crawl_ms(load, agent) / 1000

    def crawled_s(self) -> float:
        """Crawl it by the agent's modules and return when the last answer was there."""
        web: dict[str, Page] = {}
        for number, (pages, answer_s) in enumerate(zip(self.pages, self.answer_s, strict=True)):
            for url, page in site(f"h{number}.example", pages).items():
                web[url] = replace(page, elapsed_ms=1000 * answer_s, kept_alive=True)
        world = World(
            web,
            replace(ANY_NAME, parallel=self.connections),
            Politeness(
                interval_s=self.interval_s,
                fast_interval_s=self.interval_s,
                times_last=self.times_last,
                burst=self.burst,
            ),
        )
        units = [f"http://h{number}.example:80/" for number in range(len(self.pages))]
        for unit, address in zip(units, self.address, strict=True):
            world.resolver_addresses[unit] = (f"192.0.2.{address + 1}",)
        world.tick()
        world.give_list([order(unit) for unit in units])
        began = last = world.clock.now_s
        for _ in range(MOST_TICKS):
            last = self._answer(world, last)
            if world.started and not world.open_jobs and not world.fetcher.flights:
                return last - began
            world.tick(TICK_S)
        raise AssertionError(f"not done: {world.crawl.state()}")

    @staticmethod
    def _answer(world: World, last: float) -> float:
        """Answer all that is due: names and pages at once, requests when their time is over."""
        while True:
            if world.resolver.waiting:
                world.resolver.answer()
            elif world.worker.waiting:
                world.worker.answer()
            else:
                due = [
                    at
                    for at, flight in enumerate(world.fetcher.flights)
                    if flight.started_s + world.web[flight.request.url].elapsed_ms / 1000
                    <= world.clock.now_s + 1e-6
                ]
                if not due:
                    return last
                world.fetcher.answer(due[0])
                last = world.clock.now_s
            world.runner.run_until_settled()


@pytest.mark.parametrize("seed", range(24))
def test_the_frontier_ends_when_it_was_predicted_to(seed: int) -> None:
    """Within 15%, whatever is scarce: the interval, the connections, or a shared address."""
    case = Case(seed)
    assert case.crawled_s() == pytest.approx(case.predicted_s(), rel=0.15), vars(case)

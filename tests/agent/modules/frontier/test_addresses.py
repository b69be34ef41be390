"""A host of several addresses is crawled at one that answers, each by its own clock."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from tests.agent.fakes import Page
from tests.agent.world import ANY_NAME, TWO_OF_EACH, World, order, site

A, B = "http://a.example:80/", "http://b.example:80/"
DEAD, LIVE = "192.0.2.1", "192.0.2.2"


def world_of(*names: str, **more: object) -> World:
    web: dict[str, Page] = {}
    for name in names:
        web |= site(name, 6)
    return World(web, **more)  # type: ignore[arg-type]  # the caller's keywords are World's


def starts(world: World, address: str) -> list[float]:
    return [when for when, at, _ in world.started if at == address]


@pytest.mark.parametrize("partitions", [{}, TWO_OF_EACH])
def test_a_dead_address_costs_a_host_one_request(partitions: dict[str, int]) -> None:
    """Its pages come from the next one, after that one's own rest."""
    world = world_of("a.example", partitions=partitions)
    world.resolver_addresses[A] = (DEAD, LIVE)
    world.fetcher.dead = {DEAD}
    world.give_list([order(A)])
    world.run()
    (unit,) = world.reports.units
    assert (unit.pages, unit.reason) == (6, "complete")
    assert len(starts(world, DEAD)) == 1
    assert len(starts(world, LIVE)) == 7
    assert starts(world, LIVE)[0] - starts(world, DEAD)[0] >= 20


def test_an_address_that_others_use_keeps_its_clock() -> None:
    """A host that comes to it takes turns with those that are there."""
    world = world_of("a.example", "b.example")
    world.resolver_addresses |= {A: (DEAD, LIVE), B: (LIVE,)}
    world.fetcher.dead = {DEAD}
    world.give_list([order(A), order(B)])
    world.run()
    assert {unit.reason for unit in world.reports.units} == {"complete"}
    times = starts(world, LIVE)
    assert len(times) == 14
    assert min(later - before for before, later in pairwise(times)) >= 10


def test_a_host_that_answers_nowhere_is_given_up() -> None:
    """Each address is left once, and at the last one it ends as one with one address does."""
    world = world_of("a.example")
    world.resolver_addresses[A] = ("192.0.2.1", "192.0.2.2", "192.0.2.3")
    world.fetcher.dead = set(world.resolver_addresses[A])
    world.give_list([order(A)])
    world.run()
    (unit,) = world.reports.units
    assert unit.reason.startswith("unreachable: robots.txt")
    assert len(starts(world, "192.0.2.1")) == len(starts(world, "192.0.2.2")) == 1
    assert len(starts(world, "192.0.2.3")) == 1 + world.limits.rules_retries


def test_a_host_whose_address_dies_meanwhile_loses_no_page() -> None:
    """What failed there is tried again at the other address, by rules that hold there."""
    world = world_of("a.example")
    world.resolver_addresses[A] = (DEAD, LIVE)
    world.give_list([order(A)])
    while len(starts(world, DEAD)) < 4:
        world.complete()
        world.tick(1.0)
    world.fetcher.dead = {DEAD}
    world.run()
    (unit,) = world.reports.units
    assert unit.reason == "complete"
    assert set(world.ledger.captures) == set(world.web)
    assert len(world.fetched(rules=True)) == 2


def begun(world: World, *names: str) -> World:
    """Let hosts be crawled until each has answered twice."""
    world.give_list([order(f"http://{name}:80/") for name in names])
    while len(world.fetched()) < 2 * len(names):
        while world.complete():
            pass
        world.tick(1.0)
    while world.complete():
        pass
    return world


@pytest.mark.parametrize("hosts", [1, 8])
@pytest.mark.parametrize("away_s", [60, 600])
def test_our_own_outage_loses_no_host_to_an_address_that_is_no_good(
    hosts: int, away_s: int
) -> None:
    """Meanwhile it goes to its other address, as one of IPv6 may be; it comes back to the first."""
    names = [f"{chr(97 + number)}.example" for number in range(hosts)]
    world = world_of(*names)
    for number, name in enumerate(names):
        others = (f"192.0.2.{number + 1}", f"198.51.100.{number + 1}")
        world.resolver_addresses[f"http://{name}:80/"] = others
    begun(world, *names)
    there = dict(world.web)
    world.fetcher.dead = {address for _, address in world.resolver_addresses.values()}
    for url in there:
        world.web[url] = Page(outcome="refused", elapsed_ms=1)
    for _ in range(away_s):
        while world.complete():
            pass
        world.tick(1.0)
    world.web.update(there)
    world.run(step_s=5.0)
    assert {unit.reason for unit in world.reports.units} == {"complete"}
    assert set(world.ledger.captures) == set(there)


def test_a_round_that_begins_amid_a_request_keeps_the_other_address() -> None:
    """The host was never without a job for long, so its addresses are known, or asked for again."""
    world = world_of("a.example")
    world.resolver_addresses[A] = (DEAD, LIVE)
    world.give_list([order(A)])
    while len(world.fetched()) < 3 or not world.fetcher.flights:
        while world.resolver.waiting or world.worker.waiting:
            waiting = world.resolver if world.resolver.waiting else world.worker
            waiting.answer(0)
            world.runner.run_until_settled()
        if world.fetcher.flights and len(world.fetched()) < 3:
            world.fetcher.answer(0)
            world.runner.run_until_settled()
        elif not world.fetcher.flights:
            world.tick(1.0)
    world.give_list([order(A)], round_number=2)
    while world.complete():
        pass
    world.fetcher.dead = {DEAD}
    world.run(step_s=5.0)
    assert [unit.reason for unit in world.reports.units][-1] == "complete"
    assert starts(world, LIVE)


def test_a_unit_without_a_page_is_none_that_is_complete_wherever_it_went() -> None:
    """Its only page failed here, then there was no connection, and it moved: it has no page."""
    web = site("a.example", 1) | {"http://a.example/": Page(status=502)}
    world = World(dict(web))
    world.resolver_addresses[A] = (DEAD, LIVE)
    begun(world, "a.example")
    world.fetcher.dead = {DEAD}
    world.web["http://a.example/"] = Page(outcome="refused", elapsed_ms=1)
    world.run(step_s=5.0)
    (unit,) = world.reports.units
    assert unit.reason.startswith("unreachable: ")
    limited = World(dict(web))
    limited.give_list([order(A, max_transfer=2)])
    limited.run(step_s=5.0)
    (unit,) = limited.reports.units
    assert unit.reason.startswith("unreachable: ")


def test_fewer_attempts_hold_at_once() -> None:
    """A URL that is being tried again when the limit is lowered has its end all the same."""
    world = world_of("a.example", limits=replace(ANY_NAME, retries=5))
    world.web["http://a.example/"] = Page(status=500)
    world.give_list([order(A)])
    while len(world.fetched()) < 2:
        while world.complete():
            pass
        world.tick(1.0)
    world.crawl.retune(world.politeness, replace(world.limits, retries=2), world.blocked)
    world.run(ticks=400, step_s=30.0)
    assert len(world.reports.units) == 1

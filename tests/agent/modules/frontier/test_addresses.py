"""A host of several addresses is crawled at one that answers, each by its own clock."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.agent.fakes import Page
from tests.agent.world import TWO_OF_EACH, World, order, site

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

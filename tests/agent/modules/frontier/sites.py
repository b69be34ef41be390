"""Small sites under one name each, and when they were asked."""

from __future__ import annotations

from itertools import pairwise

from agent.modules.limits import Politeness
from tests.agent.fakes import Page
from tests.agent.world import World, site

A, B, C = (f"http://{name}.example:80/" for name in "abc")
PLAIN = Politeness(fast_interval_s=20.0, times_last=0)


def world_of(*names: str, pages: int = 4, **more: object) -> World:
    """Return a world of hosts of so many pages each; more: what `World` takes."""
    web: dict[str, Page] = {}
    for name in names:
        web |= site(f"{name}.example", pages)
    more.setdefault("politeness", PLAIN)
    return World(web, **more)  # type: ignore[arg-type]  # the caller's keywords are World's


def spaced(world: World, *units: str) -> None:
    """Give each unit an address of its own."""
    for number, unit in enumerate(units, start=1):
        world.resolver_addresses[unit] = (f"192.0.2.{number}",)


def starts(world: World, name: str = "") -> list[float]:
    """When requests to a host began, from the first tick on."""
    return [when for when, _, url in world.started if f"//{name}" in url]


def gaps(world: World, name: str = "") -> list[float]:
    """Return how long after each other requests to a host began."""
    times = starts(world, name)
    return [round(later - one, 3) for one, later in pairwise(times)]

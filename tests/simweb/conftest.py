"""A small world with every kind of trouble, and a clock that only tests move."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from simweb.servers.answers import Answers
from simweb.sites.builder import build_world
from simweb.sites.options import WorldOptions
from simweb.sites.plan import HostPlan, World
from simweb.sites.world_state import Running

PORT = 8_000


@dataclass
class Clock:
    """Epoch and monotonic time at once."""

    now_s: float = 1_700_000_000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now_s


@dataclass
class Served:
    """A world that answers without sockets."""

    world: World
    running: Running
    answers: Answers
    clock: Clock

    def host_with(self, kind: str) -> HostPlan:
        """Return a host that has a leaf of a kind."""
        return next(host for host in self.world.hosts if dict(host.leaves).get(kind))


def served(options: WorldOptions) -> Served:
    """Return a world that answers, at a clock of its own."""
    clock = Clock()
    world = build_world(options)
    running = Running(world, clock, clock)
    return Served(world, running, Answers(world, running, PORT), clock)


@pytest.fixture
def troubled() -> Served:
    """Return a world of 30 hosts with three of each page trouble and one of each host trouble."""
    return served(
        WorldOptions(
            hosts=30,
            seed=4,
            pages_mean=20,
            trouble_scale=0,
            trouble=("all=3",),
            host_trouble=("all=1",),
            compress_share=0.5,
            validators_share=1.0,
        )
    )

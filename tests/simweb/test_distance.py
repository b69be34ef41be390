"""Distance is computed from regions and hosts, and is the same every time."""

from __future__ import annotations

import math
import statistics

import pytest

from simweb.sites.builder import build_world
from simweb.sites.distance import Distances, Pace, region_of
from simweb.sites.options import WorldOptions


@pytest.mark.parametrize(
    ("client", "region"),
    [
        ("127.10.0.1", 0),
        ("127.10.3.200", 3),
        ("127.10.8.1", 0),
        ("127.11.3.1", 0),
        ("127.0.0.1", 0),
        ("::1", 0),
    ],
)
def test_a_client_is_in_the_region_of_its_address(client: str, region: int) -> None:
    """127.10.R.N is in region R; whatever else there is, is in region 0."""
    assert region_of(client, 8) == region


def test_paces_are_the_same_in_every_world_of_a_seed() -> None:
    """No randomness, unless jitter is asked for."""
    one, other = Distances(WorldOptions(seed=3)), Distances(WorldOptions(seed=3))
    for region in range(8):
        pace = one.pace(region, 2, 17)
        assert pace == other.pace(region, 2, 17) == one.jittered(pace)
    assert one.pace(0, 2, 17) != Distances(WorldOptions(seed=4)).pace(0, 2, 17)


def test_the_own_region_is_nearest() -> None:
    """For nearly every host; the pair's own noise may turn a few."""
    world = build_world(WorldOptions(hosts=300))
    nearest, ratios = 0, []
    for host in world.hosts:
        times = [
            world.distances.pace(region, host.region, host.index).transfer_s(100_000)
            for region in range(8)
        ]
        nearest += times[host.region] == min(times)
        ratios.append(max(times) / times[host.region])
    assert nearest > 270
    assert statistics.median(ratios) > 10


def test_distance_can_be_taken_away() -> None:
    """No delay and no limit, for tests of speed."""
    distances = Distances(WorldOptions(delay_ms=0, bandwidth_kb_s=0))
    assert distances.pace(0, 7, 1) == Pace(0.0, math.inf)


def test_jitter_only_slows_down() -> None:
    """By up to its share."""
    distances = Distances(WorldOptions(jitter=0.5))
    pace = Pace(1.0, 1_000.0)
    for _ in range(100):
        found = distances.jittered(pace)
        assert 1.0 <= found.delay_s <= 1.5
        assert 1_000 / 1.5 <= found.bytes_per_s <= 1_000

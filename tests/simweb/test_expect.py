"""Expected sets follow from the plan: trouble, robots.txt, landings, islands."""

from __future__ import annotations

from collections import Counter

from simweb.sites.builder import build_world
from simweb.sites.expectation import captures_of, expect_host, expect_world, outcome_counts
from simweb.sites.options import WorldOptions
from simweb.sites.trouble import Outcome

PORT = 8_000


def test_a_calm_world_is_captured_whole() -> None:
    """Every page and every allowed private page, and no forbidden one."""
    options = WorldOptions(
        hosts=20, seed=2, trouble_scale=0, pages_mean=10, islands=0.5, robots=("none=0", "error=0")
    )
    world = build_world(options)
    for host in world.hosts:
        found = expect_host(world, host, PORT)
        leaves = dict(host.leaves)
        if host.robots == "forbid":
            assert not found.captures
        else:
            assert len(found.captures) == host.pages + leaves.get("private-open", 0)
            assert len(found.urls[Outcome.DENIED]) == leaves.get("private", 0)


def test_counts_agree_with_sets() -> None:
    """What hosts.json tells without making URLs is what the sets hold."""
    world = build_world(WorldOptions(hosts=60, trouble_scale=5, pages_mean=10, islands=0.2))
    for strict in (False, True):
        for host in world.hosts:
            counts = outcome_counts(host, strict)
            found = expect_host(world, host, PORT, strict)
            assert {kind.value: n for kind, n in counts.items() if n} == found.counts()
            assert captures_of(counts) == len(found.captures)


def test_trouble_of_a_host_takes_all_its_pages() -> None:
    """A dead host has no capture; one that is asked by TCP or slowly has all."""
    options = WorldOptions(
        hosts=30, trouble_scale=0, host_trouble=("all=1",), robots=("none=1000000",)
    )
    world = build_world(options)
    found = {host.trouble: expect_host(world, host, PORT) for host in world.hosts}
    for kind in ("nxdomain", "servfail", "dns-hang", "refused", "hang", "reset", "error"):
        assert not found[kind].captures
        assert found[kind].urls[Outcome.ERROR]
    assert found["dns-tcp"].urls[Outcome.CAPTURE]
    assert found["slow"].captures == found["slow"].urls[Outcome.SLOW]
    assert found["rate-limited"].captures == found["rate-limited"].urls[Outcome.RETRY]
    assert not found["redirect"].captures


def test_strict_robots_obey_what_others_are_told() -> None:
    """A Disallow for OtherBot denies the whole host under `strict`."""
    world = build_world(WorldOptions(hosts=60, trouble_scale=0, robots=("others=20",)))
    host = next(host for host in world.hosts if host.robots == "others")
    assert expect_host(world, host, PORT).captures
    assert not expect_host(world, host, PORT, strict=True).captures


def test_landings_of_redirects_are_captured() -> None:
    """The target of a redirect is a page that nothing else links to."""
    options = WorldOptions(hosts=5, trouble_scale=0, trouble=("redirect=4", "redirect-chain=2"))
    found = expect_world(build_world(options), PORT)
    kinds = Counter(
        url.split("/landing/")[1].split("/")[0] for url in found.captures if "/landing/" in url
    )
    assert kinds == {"redirect": 4, "redirect-chain": 2}
    assert len(found.urls[Outcome.REDIRECT]) == 6


def test_outcomes_do_not_overlap() -> None:
    """A URL has one outcome."""
    found = expect_world(build_world(WorldOptions(hosts=40, trouble=("all=5",))), PORT)
    assert sum(map(len, found.urls.values())) == len(found.of(*Outcome))
    assert not found.captures & found.tolerated

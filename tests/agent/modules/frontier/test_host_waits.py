"""Each host that waits is shown with the earliest time of its next request, and the reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.modules.frontier import Wait, WaitReason
from tests.agent.fakes import Page
from tests.agent.modules.frontier.sites import A, B, C, spaced, starts, world_of
from tests.agent.world import ANY_NAME, World, order

TOP = "http://a.example/"


def until_asked(world: World, url: str) -> None:
    """Go on until a page has been asked for and answered."""
    while url not in world.fetched():
        world.complete()
        world.tick(1.0)
    while world.complete():
        pass
    world.tick(0.1)  # whoever rests is put to rest at its turn


def wait_of(world: World, host: str) -> Wait:
    (one,) = [one for one in world.crawl.waits(10) if one.host == host]
    return one


def next_start(world: World) -> float:
    """Go on until the next request to host a begins; return when that was."""
    before = len(starts(world, "a.example"))
    while len(starts(world, "a.example")) == before:
        world.tick(1.0)
        world.complete()
    return starts(world, "a.example")[before]


@pytest.mark.parametrize(
    ("page", "reason", "detail"),
    [
        (
            Page(status=503, retry_after_s=600.0),
            WaitReason.BACK_OFF,
            "status 503, Retry-After 600 s",
        ),
        (Page(status=429), WaitReason.BACK_OFF, "status 429"),
        (Page(outcome="timeout"), WaitReason.BACK_OFF, "timeout"),
        (Page(), WaitReason.INTERVAL, "20 s"),
    ],
)
def test_a_host_waits_as_its_last_answer_said(page: Page, reason: str, detail: str) -> None:
    """The next request comes at that time, and no sooner."""
    world = world_of("a", pages=6)
    good = world.web["http://a.example/p1"]
    world.web["http://a.example/p1"] = replace(
        good, **{name: getattr(page, name) for name in ("status", "retry_after_s", "outcome")}
    )
    world.give_list([order(A)])
    until_asked(world, "http://a.example/p1")
    one = wait_of(world, A)
    assert (one.reason, one.detail) == (reason, detail)
    assert one.due_s > world.clock.now_s
    world.web["http://a.example/p1"] = good
    begun_s = world.clock.now_s
    left_s = one.due_s - begun_s
    before = world.started[-1][0]
    took_s = next_start(world) - before
    assert left_s - 1 <= took_s <= left_s + 3


def test_a_crawl_delay_is_named() -> None:
    """It is longer than the interval of its address."""
    world = world_of("a", pages=6)
    world.web["http://a.example/robots.txt"] = Page(body=b"User-agent: *\nCrawl-delay: 90\n")
    world.give_list([order(A)])
    until_asked(world, TOP)
    one = wait_of(world, A)
    assert (one.reason, one.detail) == (WaitReason.CRAWL_DELAY, "90 s")
    assert 85 < one.due_s - world.clock.now_s <= 90


def test_the_longest_waits_come_first_and_each_host_once() -> None:
    """Of many hosts those are shown that a person asks about."""
    world = world_of("a", "b", "c", pages=6)
    spaced(world, A, B, C)
    world.web["http://b.example/"] = Page(status=503, retry_after_s=3000.0)
    world.give_list([order(A), order(B), order(C)])
    until_asked(world, "http://b.example/")
    until_asked(world, TOP)
    found = world.crawl.waits(10)
    assert found[0].host == B
    assert len({one.host for one in found}) == len(found)
    assert [one.due_s for one in found] == sorted((one.due_s for one in found), reverse=True)
    assert world.crawl.waits(1) == found[:1]


def test_pages_that_are_tried_again_are_a_reason_of_their_own() -> None:
    """Nothing else is left of the host: its next request is the next attempt."""
    world = world_of("a", pages=2, limits=replace(ANY_NAME, retries=3))
    world.web["http://a.example/p1"] = Page(status=500)
    world.give_list([order(A)])
    until_asked(world, "http://a.example/p1")
    for _ in range(40):
        world.complete()
        world.tick(1.0)
    one = wait_of(world, A)
    assert one.reason is WaitReason.RETRY
    assert one.due_s > world.clock.now_s


def test_nobody_waits_where_nothing_is_left() -> None:
    """At the end the status shows no host."""
    world = world_of("a")
    world.give_list([order(A)])
    world.run()
    for _ in range(60):
        world.tick(1.0)
    assert world.crawl.waits(10) == []


def test_a_host_waits_for_its_robots_txt() -> None:
    """It was asked for and has not come: no page is fetched before."""
    world = world_of("a", pages=2)
    world.give_list([order(A)])
    while not world.fetched(rules=True):
        world.complete()
        world.tick(1.0)
    assert world.fetched(rules=True) == ["http://a.example/robots.txt"]
    one = wait_of(world, A)
    assert (one.reason, one.due_s) == (WaitReason.ROBOTS, world.clock.now_s)
    world.complete()
    world.tick(0.1)
    assert [one.reason for one in world.crawl.waits(10)] == [WaitReason.INTERVAL]

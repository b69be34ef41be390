"""Requests that end as `retry`: once more in their turn, and nothing is held against a host."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.pipeline.messages.requests import Due
from tests.agent.fakes import Page
from tests.agent.modules.frontier.sites import A, B, gaps, starts, world_of
from tests.agent.world import ANY_NAME, World, order

TOP = "http://a.example/"
ROBOTS = TOP + "robots.txt"


def until_asked(world: World, url: str, times: int) -> None:
    """Go on until a URL has been asked for so many times, without the answer to the last."""
    while [one for _, _, one in world.started].count(url) < times:
        world.complete()
        world.tick(1.0)


@pytest.mark.parametrize("retries", [0, 2])
def test_a_page_is_asked_for_again_after_the_usual_rest(retries: int) -> None:
    """Also where nothing else gets another attempt: the site cannot know what went wrong."""
    world = world_of("a", pages=3, limits=replace(ANY_NAME, retries=retries))
    world.web[TOP] = Page(outcome="retry")
    world.give_list([order(A)])
    until_asked(world, TOP, 1)
    good = world_of("a", pages=3).web[TOP]
    world.complete()
    world.web[TOP] = good
    world.run()
    assert world.fetched().count(TOP) == 2
    assert set(gaps(world)) <= {20.0, 21.0}
    assert world.reports.units[0].reason == "complete"
    assert len([one for one in world.ledger.log if one.request.url == TOP]) == 2
    assert world.reports.units[0].pages == 4  # each request counts


def test_retries_without_end_are_no_answer() -> None:
    """From the second on they count as a connection that broke: longer rests, and then an end."""
    world = world_of("a", pages=3)
    world.web[TOP] = Page(outcome="retry")
    world.give_list([order(A)])
    world.run()
    assert world.fetched().count(TOP) == 3
    asked = [one.request.due for one in world.ledger.log if one.request.url == TOP]
    assert [due.attempt for due in asked if isinstance(due, Due)] == [1, 2, 3]
    tries = [when for when, _, url in world.started if url == TOP]
    assert tries[1] - tries[0] <= 21
    assert tries[2] - tries[1] >= 60
    assert world.reports.units[0].reason == "unreachable: retry"


def test_a_robots_txt_is_asked_for_again_after_the_usual_rest() -> None:
    """And nothing else of the host is asked for before it."""
    world = world_of("a", pages=3)
    there = world.web.get(ROBOTS)
    world.web[ROBOTS] = Page(outcome="retry")
    world.give_list([order(A)])
    until_asked(world, ROBOTS, 1)
    world.complete()
    if there is None:
        del world.web[ROBOTS]
    else:
        world.web[ROBOTS] = there
    world.run()
    assert world.fetched(rules=True)[:2] == [ROBOTS, ROBOTS]
    assert world.fetched(rules=True).count(ROBOTS) == 2
    assert set(gaps(world)) <= {20.0, 21.0}
    assert world.reports.units[0].reason == "complete"


def test_a_robots_txt_that_is_never_answered_gives_its_host_up() -> None:
    """One retry in a row is free, and the others are failures of robots.txt."""
    world = world_of("a", pages=3)
    world.web[ROBOTS] = Page(outcome="retry")
    world.give_list([order(A)])
    world.run()
    assert world.fetched() == []
    assert (
        world.fetched(rules=True).count(ROBOTS) == 8
    )  # the first and three more times, each twice
    assert world.reports.units[0].reason.startswith("unreachable: robots.txt: retry")


def test_hosts_at_one_address_wait_for_a_retry_as_for_a_page() -> None:
    """Between any two requests to an address lies its interval."""
    world = world_of("a", "b", pages=2)
    for url in (TOP, "http://b.example/"):
        world.web[url] = Page(outcome="retry")
    world.give_list([order(A), order(B)])
    world.run()
    assert min(gaps(world)) >= 20
    assert len(starts(world, "a")) > 3

"""500, 502, 503, 504: of one page or of a whole host, for a minute or for good."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.agent.fakes import Page
from tests.agent.modules.frontier.sites import A, gaps, world_of
from tests.agent.world import ANY_NAME, World, order

TOP = "http://a.example/"


def until_fetched(world: World, url: str) -> None:
    """Go on until a page has been asked for and answered."""
    while url not in world.fetched():
        world.complete()
        world.tick(1.0)
    while world.complete():
        pass


@pytest.mark.parametrize("status", [408, 425, 500, 502, 503, 504, 509, 520, 524, 530, 599])
def test_an_outage_of_a_minute_loses_no_page(status: int) -> None:
    """A top page that is broken for a moment is tried again, and the site behind it is crawled."""
    world = world_of("a", pages=6)
    top = world.web[TOP]
    world.web[TOP] = Page(status=status)
    world.give_list([order(A)])
    until_fetched(world, TOP)
    world.web[TOP] = top
    world.run()
    (unit,) = world.reports.units
    assert unit.reason == "complete"
    assert world.fetched().count(TOP) == 2
    assert world.ledger.captures.count(TOP) == 1
    assert len([one for one in world.ledger.log if one.request.url == TOP]) == 2
    assert set(world.fetched()) == {url for url in world.web if not url.endswith("robots.txt")}


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 522])
@pytest.mark.parametrize("kind", ["crawl", "probe"])
def test_a_unit_without_a_single_page_is_not_complete(status: int, kind: str) -> None:
    """The answer to the last attempt is stored, and the unit ends with the reason."""
    world = world_of("a", pages=6)
    world.web[TOP] = Page(status=status)
    world.give_list([order(A, max_transfer=50 * (kind == "probe"))])
    world.run()
    (unit,) = world.reports.units
    assert (unit.kind, unit.reason) == (kind, f"unreachable: status {status}")
    assert unit.pages == 3
    assert world.ledger.captures.count(TOP) == 1
    tries = [when for when, _, url in world.started if url == TOP]
    assert tries[1] - tries[0] >= 60
    assert tries[2] - tries[1] >= 240


@pytest.mark.parametrize("outcome", ["timeout", "tls"])
def test_a_unit_without_an_answer_is_not_complete(outcome: str) -> None:
    """It ends as the one whose server is broken."""
    world = world_of("a", pages=6)
    world.web[TOP] = Page(outcome=outcome)  # type: ignore[arg-type]  # an Outcome
    world.give_list([order(A)])
    world.run()
    assert world.reports.units[0].reason == f"unreachable: {outcome}"


def test_a_broken_page_among_good_ones_costs_its_host_nothing() -> None:
    """It alone waits: its host goes on at its pace, and the unit is complete."""
    world = world_of("a", pages=30)
    world.web[TOP + "p4"] = Page(status=500)
    world.give_list([order(A)])
    world.run()
    assert world.reports.units[0].reason == "complete"
    assert world.fetched().count(TOP + "p4") == 3
    assert world.ledger.captures.count(TOP + "p4") == 1
    assert max(gaps(world)[:25]) <= 21


def test_a_host_that_goes_down_is_given_up_with_its_reason() -> None:
    """Such errors in a row are as much as no answer: the host rests longer, then it is over."""
    world = world_of("a", pages=30, limits=replace(ANY_NAME, failures_in_a_row=6))
    world.give_list([order(A)])
    until_fetched(world, TOP + "p1")
    for url in world.web:
        world.web[url] = Page(status=502)
    world.run()
    (unit,) = world.reports.units
    assert unit.reason == "unreachable: status 502, 6 requests in a row"
    assert gaps(world)[-5:] == sorted(gaps(world)[-5:])
    assert gaps(world)[-1] >= 300
    assert world.crawl.given_up.count("unreachable") > 0


def test_a_host_whose_pages_are_all_broken_is_read_to_its_end() -> None:
    """500 says that the host is there: nobody gives it up, and nothing of it waits for hours."""
    world = world_of("a", pages=13, limits=replace(ANY_NAME, failures_in_a_row=4))
    for url in world.web:
        if url not in (TOP, TOP + "robots.txt"):
            world.web[url] = Page(status=500)
    world.give_list([order(A)])
    world.run()
    assert world.reports.units[0].reason == "complete"
    assert set(world.fetched()) == {TOP, TOP + "p1", TOP + "p2", TOP + "p3"}
    assert max(gaps(world)) <= 250


def test_a_broken_host_is_shown_once_it_rests_longer() -> None:
    """The first error is its page's, as far as anybody knows."""
    world = world_of("a", pages=6)
    world.web[TOP] = Page(status=502)
    world.give_list([order(A)])
    until_fetched(world, TOP)
    assert world.crawl.state().backing_off == 0
    while world.fetched().count(TOP) < 2:
        world.complete()
        world.tick(1.0)
    while world.complete():
        pass
    (one,) = world.crawl.state().backed_off
    assert one.reason == "status 502"

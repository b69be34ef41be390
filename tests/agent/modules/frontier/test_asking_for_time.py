"""A host that asks for more time than a crawl has: its units are closed, the round goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.app.startup.settings_mapping import crawl_limits
from agent.settings import Settings
from agent.settings.groups.politeness import PolitenessSettings
from shared.host_failures import HostFailure
from tests.agent.fakes import Page
from tests.agent.modules.frontier.sites import A, B, gaps, spaced, starts, world_of
from tests.agent.modules.frontier.test_giving_up import RULES_A, minutes
from tests.agent.world import ANY_NAME, World, order

TEN_YEARS_S = 315_360_000.0
TOP_A = "http://a.example/"


def failures(world: World) -> dict[str, str | None]:
    return {unit.unit: unit.failure for unit in world.reports.units}


def reasons(world: World) -> dict[str, str]:
    return {unit.unit: unit.reason for unit in world.reports.units}


@pytest.mark.parametrize(
    ("status", "url"),
    [
        (status, url)
        for url in (RULES_A, TOP_A, "http://a.example/p1")
        for status in (429, 503, 500, 502, 504, 301)
        # A redirect without a target is no robots.txt, which is open.
        if (status, url) != (301, RULES_A)
    ],
)
def test_ten_years_are_those_of_the_host_alone(status: int, url: str) -> None:
    """On any page, and on robots.txt: no try holds the round open for a day."""
    world = world_of("a", "b")
    spaced(world, A, B)
    world.web[url] = Page(status=status, retry_after_s=TEN_YEARS_S)
    world.give_list([order(A), order(B)])
    world.run()
    assert minutes(world) < 5
    said = reasons(world)
    assert said[B] == "complete"
    assert said[A].startswith(f"asks for time: status {status}, Retry-After 315360000 s, ")
    assert said[A].endswith(" s until the next request")
    # A code where not a single page came; with pages it is a reason only.
    had_a_page = url.endswith("/p1") or status == 301
    assert failures(world) == {A: None if had_a_page else HostFailure.ASKS_FOR_TIME, B: None}
    asked = [one for _, _, one in world.started if one == url]
    assert len(asked) == 1


def test_names_that_share_the_address_go_on() -> None:
    """Ten years are asked for by one of them; the address rests as after any other 503."""
    world = world_of("a", "b")
    world.web[TOP_A] = Page(status=503, retry_after_s=TEN_YEARS_S)
    world.give_list([order(A), order(B)])
    world.run()
    assert minutes(world) < 10
    assert reasons(world)[B] == "complete"
    assert reasons(world)[A].startswith("asks for time: ")
    assert min(gaps(world)) >= 20.0


def test_a_robots_txt_behind_a_redirect_asks_for_its_host() -> None:
    """The host whose rules they are is closed; the other address is not kept for a day."""
    world = world_of("a", "b")
    spaced(world, A, B)
    world.web[RULES_A] = Page(status=301, location="http://b.example/rules")
    world.web["http://b.example/rules"] = Page(status=503, retry_after_s=TEN_YEARS_S)
    world.give_list([order(A), order(B)])
    world.run()
    assert minutes(world) < 10
    assert reasons(world)[B] == "complete"
    assert reasons(world)[A].startswith("asks for time: status 503, Retry-After")


def test_how_long_a_crawl_waits_is_a_setting() -> None:
    """`politeness.max_host_wait_s`: who has more patience asks again when the time is over."""
    settings = Settings(
        home=Path("/nowhere"), politeness=PolitenessSettings(max_host_wait_s=50_000.0)
    )
    patience_s = crawl_limits(settings).crawl_patience_s
    assert patience_s == 50_000.0
    world = world_of("a", limits=replace(ANY_NAME, crawl_patience_s=patience_s))
    world.web[TOP_A] = Page(status=503, retry_after_s=40_000.0)
    world.give_list([order(A)])
    world.run(step_s=20.0)
    assert len([one for _, _, one in world.started if one == TOP_A]) == 2
    world = world_of("a")
    world.web[TOP_A] = Page(status=503, retry_after_s=40_000.0)
    world.give_list([order(A)])
    world.run(step_s=20.0)
    assert len([one for _, _, one in world.started if one == TOP_A]) == 1


@pytest.mark.parametrize("retry_after_s", [None, 600.0, 3600.0])
def test_a_row_of_429_ends(retry_after_s: float | None) -> None:
    """Each wait is short, but no page comes for hours; a crawl has no more than two."""
    world = world_of("a", "b", pages=20)
    spaced(world, A, B)
    for number in range(1, 20):
        world.web[f"http://a.example/p{number}"] = Page(status=429, retry_after_s=retry_after_s)
    world.give_list([order(A), order(B)])
    world.run(step_s=20.0)
    assert minutes(world) < 130
    assert reasons(world)[A].startswith("asks for time: status 429")
    assert reasons(world)[B] == "complete"


def test_a_page_in_between_gives_new_patience() -> None:
    """A host that answers now and then is slow, and is crawled to its end."""
    world = world_of("a", pages=12, limits=replace(ANY_NAME, retries=0))
    for number in range(1, 12, 2):
        world.web[f"http://a.example/p{number}"] = Page(status=429, retry_after_s=3000.0)
    world.give_list([order(A)])
    world.run(step_s=20.0)
    assert reasons(world)[A] == "complete"


def test_it_is_left_alone_by_later_lists_and_over_a_restart() -> None:
    """A round that begins before the time is over closes the unit without a request."""
    world = world_of("a", "b")
    spaced(world, A, B)
    world.web[TOP_A] = Page(status=503, retry_after_s=TEN_YEARS_S)
    world.give_list([order(A), order(B)])
    world.run()
    world.ledger.commit()
    before = len(starts(world, "a"))
    world.give_list([order(A), order(B)], 2)
    world.run()
    assert [unit.reason[:14] for unit in world.reports.units if unit.unit == A] == [
        "asks for time:"
    ] * 2
    assert len(starts(world, "a")) == before
    world.ledger.commit()
    world.crash()
    world.give_list([order(A), order(B)], 3)
    world.run()
    assert [unit.reason[:14] for unit in world.reports.units if unit.unit == A] == [
        "asks for time:"
    ] * 3
    assert len(starts(world, "a")) == before


def test_it_comes_back_when_the_time_is_over() -> None:
    """The next round after it crawls the host as ever."""
    world = world_of("a", pages=3)
    top = world.web[TOP_A]
    world.web[TOP_A] = Page(status=503, retry_after_s=40_000.0)
    world.give_list([order(A)])
    world.run()
    assert reasons(world)[A].startswith("asks for time: ")
    world.web[TOP_A] = top
    world.clock.now_s += 40_001.0
    world.tick()
    world.give_list([order(A)], 2)
    world.run()
    assert world.reports.units[-1].reason == "complete"
    assert world.ledger.rests() == []


def test_a_crawl_delay_of_a_day_closes_the_units() -> None:
    """Its next page would come tomorrow; it is said, and nothing is asked for sooner."""
    world = world_of("a", "b")
    spaced(world, A, B)
    world.web[RULES_A] = Page(body=b"User-agent: *\nCrawl-delay: 86400\n")
    world.give_list([order(A), order(B)])
    world.run()
    assert minutes(world) < 5
    assert reasons(world) == {A: "asks for time: Crawl-delay of 86400 s", B: "complete"}
    assert world.fetched(rules=True).count(RULES_A) == 1


def test_a_refetch_does_not_wait_either() -> None:
    """Pages that are fetched again by an order are closed as those of a crawl."""
    world = world_of("a")
    world.web[TOP_A] = Page(status=503, retry_after_s=TEN_YEARS_S)
    world.give_list([order(A, only=("/",))])
    world.run()
    assert minutes(world) < 5
    assert "86400 s until the next request" in world.reports.units[0].reason

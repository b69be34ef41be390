"""Reports of other crawlers' users, tried on a whole crawl: rows of docs/peer-reports.md."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.agent.fakes import Page
from tests.agent.modules.frontier.sites import PLAIN
from tests.agent.world import World, order

A, B = "http://a.example/", "http://b.example/"
RULES = b"User-agent: *\n"


def rules(text: bytes) -> Page:
    """Return a robots.txt."""
    return Page(body=RULES + text)


def crawled(web: dict[str, Page], *units: str) -> World:
    """Crawl units of a web to their end."""
    world = World(web, politeness=PLAIN)
    world.give_list([order(unit) for unit in units])
    world.run()
    return world


def test_rules_behind_a_redirect_stay_those_of_the_host_that_was_asked() -> None:
    """nutch#331, stormcrawler#573: a file elsewhere is not the robots.txt of its host."""
    world = crawled(
        {
            f"{A}robots.txt": Page(status=301, location=f"{B}band/robots.txt"),
            f"{B}band/robots.txt": rules(b"Allow: /\n"),
            f"{B}robots.txt": rules(b"Disallow: /private\n"),
            A: Page(links=(f"{A}private",)),
            f"{A}private": Page(),
            B: Page(links=(f"{B}private",)),
            f"{B}private": Page(),
        },
        A,
        B,
    )
    assert f"{A}private" in world.fetched()
    assert f"{B}private" not in world.fetched()
    assert world.fetched(rules=True).count(f"{B}robots.txt") == 1


def test_both_answers_of_a_redirected_robots_txt_are_archived_under_their_own_urls() -> None:
    """nutch#199: neither overwrites the other."""
    web = {
        f"{A}robots.txt": Page(status=301, location="/rules/robots.txt"),
        f"{A}rules/robots.txt": rules(b"Allow: /\n"),
        A: Page(),
    }
    world = crawled(web, A)
    kept = [page.url for page in world.reports.pages if page.is_rules]
    assert sorted(kept) == [f"{A}robots.txt", f"{A}rules/robots.txt"]


def test_a_redirect_out_of_a_unit_is_reported_and_not_followed() -> None:
    """crawlee#2173: the scope holds for targets as it does for links."""
    far = "http://far.example/landing"
    world = crawled({A: Page(status=302, location=far), far: Page()}, A)
    assert far not in world.fetched()
    assert [one.url for one in world.reports.found] == [far]


@pytest.mark.parametrize(("said_s", "least_s"), [(b"600", 600.0), (b"0.1", 2.0)])
def test_a_crawl_delay_is_kept_and_never_shortens_ours(said_s: bytes, least_s: float) -> None:
    """nutch#487, nutch#506: also one above 300 s, and one below our own interval."""
    web = {
        f"{A}robots.txt": rules(b"Crawl-delay: " + said_s + b"\n"),
        A: Page(links=tuple(f"{A}{number}" for number in range(3))),
        **{f"{A}{number}": Page() for number in range(3)},
    }
    world = World(web)
    world.give_list([order(A)])
    world.run()
    times = [when for when, _, url in world.started if not url.endswith("robots.txt")]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(gaps) >= 3
    assert min(gaps) >= least_s


@pytest.mark.parametrize("status", [429, 503])
def test_a_host_that_asks_for_time_is_left_alone_as_long_as_it_says(status: int) -> None:
    """browsertrix-crawler#392: all of its pages wait, and the page itself comes then."""
    web = {A: Page(links=(f"{A}x", f"{A}y")), f"{A}x": Page(), f"{A}y": Page()}
    world = World(web, politeness=PLAIN)
    busy = Page(status=status, retry_after_s=120.0)
    web[A] = busy
    world.give_list([order(A)])
    while A not in world.fetched():
        if not world.complete():
            world.tick(1.0)
    world.complete()
    web[A] = Page(links=(f"{A}x", f"{A}y"))
    world.run()
    first, second = (when for when, _, url in world.started if url == A)
    assert second - first >= 120
    assert {f"{A}x", f"{A}y"} <= set(world.fetched())


def test_a_url_with_white_space_at_its_end_is_asked_once() -> None:
    """stormcrawler#704: in a second round too, for its record has the same URL."""
    world = crawled({A: Page(links=(f"{A}x",)), f"{A}x": Page()}, A)
    world.give_list([order(A)], round_number=2)
    world.run()
    assert world.fetched().count(f"{A}x") == 2

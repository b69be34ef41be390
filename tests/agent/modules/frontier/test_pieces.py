"""Pieces of a split host: one share of its rate for all of them, and rest at the end."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from agent.modules.limits import Politeness
from shared.wire.orders import Order
from tests.agent.fakes import Page
from tests.agent.world import ANY_NAME, World, order

HOST, DOCS, NEWS = (f"http://a.example:80/{path}" for path in ("", "docs/", "news/"))
OTHER = "http://b.example:80/"
PLAIN = Politeness(interval_s=5.0, fast_interval_s=5.0, times_last=0)


def page(*links: str) -> Page:
    return Page(links=links)


def world_of(**more: object) -> World:
    """A site of two directories, each a chain of pages that the other one begins."""
    top = "http://a.example/"
    web = {top: page(f"{top}docs/1", f"{top}news/1", f"{top}x")}
    web[f"{top}x"] = page(f"{top}docs/9")
    for name in ("docs", "news"):
        for number in range(1, 5):
            web[f"{top}{name}/{number}"] = page(f"{top}{name}/{number + 1}")
        web[f"{top}{name}/5"] = page()
    web[f"{top}docs/9"] = page()
    web["http://b.example/"] = page()
    more.setdefault("politeness", PLAIN)
    return World(web, **more)  # type: ignore[arg-type]  # the caller's keywords are World's


def go(world: World, ticks: int, step_s: float = 1.0) -> None:
    for _ in range(ticks):
        while world.complete():
            pass
        world.tick(step_s)
        world.ledger.commit()


def gaps(world: World) -> list[float]:
    times = [when for when, _, url in world.started if "//a." in url]
    return [round(later - one, 3) for one, later in pairwise(times)]


def resting(world: World) -> set[str]:
    return set(world.crawl.scope.resting)


def pieces(interval_ms: int = 40_000, share: int = 2) -> list[Order]:
    return [
        Order(HOST, None, 0, interval_ms, ("/other/",), share),
        Order(DOCS, None, 0, interval_ms, (), share),
    ]


def test_all_pieces_together_keep_one_share() -> None:
    """Two pieces of one host are not fetched twice as fast as one."""
    world = world_of()
    start = order("http://a.example/docs/1")
    world.give_list([*pieces(), start])
    go(world, 600)
    assert len(gaps(world)) > 8
    assert set(gaps(world)) == {40.0}  # the robots.txt is a request too


def test_a_share_rests_before_its_first_request() -> None:
    """Whoever fetched with this share before may only just have ended."""
    world = world_of()
    begun = world.clock.now_s
    world.give_list(pieces())
    go(world, 60)
    assert world.started[0][0] - begun >= 40.0


def test_a_crawl_delay_is_for_all_agents_together() -> None:
    """Each of three agents waits three times as long as the host asks of one."""
    world = world_of()
    world.web["http://a.example/robots.txt"] = Page(body=b"User-agent: *\nCrawl-delay: 30\n")
    world.give_list(pieces(interval_ms=15_000, share=3))
    go(world, 900)
    assert len(gaps(world)) > 5
    assert set(gaps(world)) == {90.0}


def test_a_longer_share_holds_from_the_last_request_on() -> None:
    """A list that slows the host down is obeyed by the very next request."""
    world = world_of()
    world.give_list(pieces(interval_ms=10_000))
    while len(world.started) < 4:
        go(world, 1)
    world.give_list(pieces(interval_ms=200_000))
    go(world, 300)
    assert gaps(world)[2:4] == [10.0, 200.0]


def test_what_the_other_directory_has_comes_by_the_list() -> None:
    """A piece at rest takes no link of its own agent; a list wakes it, and it rests again."""
    world = world_of()
    world.give_list(pieces(interval_ms=5_000))
    go(world, 200)
    assert resting(world) == {HOST, DOCS}
    assert set(world.fetched()) == {
        "http://a.example/",
        "http://a.example/x",
        *(f"http://a.example/news/{number}" for number in range(1, 6)),
    }
    told = {one.url for one in world.reports.found}
    assert told == {"http://a.example/docs/1", "http://a.example/docs/9"}
    assert [unit.unit for unit in world.reports.units].count(DOCS) == 1
    world.give_list([*pieces(interval_ms=5_000), *map(order, sorted(told))])
    assert resting(world) == {HOST}
    go(world, 200)
    assert resting(world) == {HOST, DOCS}
    assert set(world.fetched()[7:]) == {
        f"http://a.example/docs/{number}" for number in (1, 2, 3, 4, 5, 9)
    }
    done = [unit for unit in world.reports.units if unit.unit == DOCS]
    assert (len(done), done[-1].pages) == (2, 6)


def test_a_start_page_that_was_known_ends_in_rest_again() -> None:
    """It wakes the piece, brings nothing, and is told with the pages that there were."""
    world = world_of()
    world.give_list([*pieces(interval_ms=5_000), order("http://a.example/docs/1")])
    go(world, 300)
    fetched = len(world.fetched())
    before = [unit for unit in world.reports.units if unit.unit == DOCS]
    world.give_list(
        [
            *pieces(interval_ms=5_000),
            order("http://a.example/docs/1"),
            order("http://a.example/docs/3"),
        ]
    )
    go(world, 30)
    assert len(world.fetched()) == fetched
    after = [unit for unit in world.reports.units if unit.unit == DOCS]
    assert len(after) == len(before) + 1
    assert after[-1] == before[-1]
    assert resting(world) == {HOST, DOCS}


def test_rest_leaves_the_place_to_others() -> None:
    """A host of which nothing is left now does not keep another from being crawled."""
    world = world_of(limits=replace(ANY_NAME, parallel=1))
    world.resolver_addresses |= {HOST: ("192.0.2.1",), OTHER: ("192.0.2.2",)}
    world.give_list(pieces(interval_ms=5_000))
    go(world, 200)
    assert resting(world) == {HOST, DOCS}
    world.give_list([*pieces(interval_ms=5_000), order(OTHER)])
    go(world, 60)
    assert "http://b.example/" in world.fetched()
    world.give_list([*pieces(interval_ms=5_000), order(OTHER), order("http://a.example/docs/1")])
    go(world, 60)
    assert "http://a.example/docs/1" in world.fetched()


def test_a_crash_forgets_rest_and_finds_it_again() -> None:
    """A new process looks whether anything is left, tells the same, and fetches nothing twice."""
    world = world_of()
    world.give_list([*pieces(interval_ms=5_000), order("http://a.example/docs/1")])
    go(world, 300)
    fetched = sorted(world.fetched())
    told = {unit.unit: unit for unit in world.reports.units}
    assert {unit.crawl_delay_s for unit in told.values()} == {0.0}
    world.crash()
    assert resting(world) == set()
    go(world, 60)
    assert resting(world) == {HOST, DOCS}
    assert sorted(world.fetched()) == fetched
    again = {unit.unit: unit for unit in world.reports.units}
    assert again == {name: replace(unit, crawl_delay_s=None) for name, unit in told.items()}


def test_what_the_host_asks_for_is_told_while_it_holds() -> None:
    """A 429 at one agent is said, with how long, until the host answers again; only if shared."""
    world = world_of()
    good = world.web["http://a.example/x"]
    world.web["http://a.example/x"] = Page(status=429, retry_after_s=300.0)
    world.give_list(pieces(interval_ms=5_000))
    while "http://a.example/x" not in world.fetched():
        go(world, 1)
    go(world, 1)
    [told] = world.crawl.state().told_to_wait
    assert (told.host, told.rest_s) == (HOST, 300.0)
    assert told.until_s - world.clock.now_s > 290
    assert told.reason == "status 429, Retry-After 300 s"
    world.web["http://a.example/x"] = good
    go(world, 900)
    assert world.crawl.state().told_to_wait == ()

    alone = world_of()
    alone.web["http://a.example/x"] = Page(status=429, retry_after_s=300.0)
    alone.give_list([order(HOST)])
    while "http://a.example/x" not in alone.fetched():
        go(alone, 1)
    go(alone, 1)
    assert alone.crawl.state().told_to_wait == ()
    assert alone.crawl.state().backing_off == 1

"""A crawl that begins where the agent's own probe ended: each page is fetched, and once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.modules.limits import Politeness
from agent.modules.server_list.list_change import CHANGES
from shared.wire.orders import Order
from tests.agent.fakes import Page
from tests.agent.world import ANY_NAME, World, site

A, B = "http://a.example:80/", "http://b.example:80/"
FAST = Politeness(interval_s=1.0, fast_interval_s=1.0, times_last=0)
PROBE = Order(A, max_transfer=5)
CRAWL = Order(A, probed=True)


def probed(web: dict[str, Page], pages: int = 5) -> World:
    """Return an agent that has made a probe of A, and whose list is empty again."""
    world = World(web, ANY_NAME, FAST)
    world.give_list([Order(A, max_transfer=pages)])
    world.run()
    world.give_list([])
    return world


def captured(urls: list[str]) -> Counter[str]:
    """Return how often each page was captured; rules are asked for again by each crawl."""
    return Counter(url for url in urls if not url.endswith("/robots.txt"))


def whole_crawl(web: dict[str, Page]) -> set[str]:
    """Return what a crawl without a probe fetches."""
    world = World(web, ANY_NAME, FAST)
    world.give_list([Order(A)])
    world.run()
    return set(world.fetched())


@pytest.mark.parametrize("pages", [1, 3, 20, 200], ids=lambda pages: f"{pages} pages")
@pytest.mark.parametrize("crash", [None, "before the list", "behind the list"])
def test_the_crawl_goes_on_where_the_probe_ended(pages: int, crash: str | None) -> None:
    """A unit smaller than its probe too, and after kill -9 between the two."""
    web = site("a.example", pages)
    world = probed(web)
    assert len(world.fetched()) == min(5, pages)
    (probe,) = world.reports.units
    if crash == "before the list":
        world.crash()
    world.give_list([CRAWL])
    world.ledger.commit()
    if crash == "behind the list":
        world.crash()
    world.run()
    assert Counter(world.fetched()) == Counter(whole_crawl(web))
    assert captured(world.ledger.captures) == Counter(world.fetched())
    crawl = world.reports.units[-1]
    assert (crawl.job, crawl.kind, crawl.reason) == (probe.job, "crawl", "complete")
    assert crawl.pages == pages
    assert world.ledger.probed == [(A, 1)]


def test_the_log_has_each_line_once_by_its_kind() -> None:
    """The lines of the probe stay lines of a probe."""
    world = probed(site("a.example", 12))
    world.give_list([CRAWL])
    world.run()
    kinds = Counter(line.due.kind for line in world.ledger.log if not line.request.rules)
    assert kinds == {"probe": 5, "crawl": 7}


def test_sitemaps_are_asked_for_by_the_crawl() -> None:
    """A probe leaves them out; also where it fetched all pages that links lead to."""
    web = site("a.example", 2)
    sitemap = b"<urlset><url><loc>http://a.example/hidden</loc></url></urlset>"
    rules = b"User-agent: *\nDisallow: /no\nSitemap: http://a.example/map.xml\n"
    web["http://a.example/robots.txt"] = Page(body=rules)
    web["http://a.example/map.xml"] = Page(("http://a.example/hidden",), body=sitemap)
    web["http://a.example/hidden"] = Page()
    world = probed(web)
    assert "http://a.example/map.xml" not in world.fetched()
    world.give_list([CRAWL])
    world.run()
    assert Counter(world.fetched()) == Counter(whole_crawl(web))
    assert "http://a.example/hidden" in world.fetched()
    assert world.crawl.denied.count("robots.txt") == 0


def test_start_pages_of_the_crawl_are_fetched() -> None:
    """What others found meanwhile comes with the list."""
    web = site("a.example", 3) | {"http://a.example/found": Page()}
    world = probed(web)
    world.give_list([CRAWL, Order("http://a.example/found", "http://b.example/")])
    world.run()
    assert Counter(world.fetched()) == Counter([*whole_crawl(web), "http://a.example/found"])


def test_links_to_a_unit_that_was_probed_are_reported_until_its_crawl() -> None:
    """The unit may be another agent's, which was not sent what this one met in its probe."""
    links = ("http://a.example/p9", "http://a.example/other")
    web = site("a.example", 20) | {"http://b.example/": Page(links)}
    web["http://b.example/robots.txt"] = Page(status=404)
    world = probed(web)
    world.give_list([Order(B)])
    world.run()
    assert {one.url for one in world.reports.found} >= set(links)
    assert len([url for url in world.fetched() if "a.example" in url]) == 5


@pytest.mark.parametrize(
    "order",
    [
        Order(A),
        Order(A, share=2, probed=True),
        Order(A, excepted=("/p",), probed=True),
        replace(CRAWL, round=2),
    ],
    ids=["not told so", "a piece", "a part", "another round"],
)
def test_another_crawl_begins_anew(order: Order) -> None:
    """With an older manager, of a unit that was split meanwhile, and in another round."""
    world = probed(site("a.example", 9))
    world.give_list([order])
    world.run(ticks=100) if not order.share else world.tick()
    for _ in range(40):
        while world.complete():
            pass
        world.tick(1.0)
    assert Counter(world.fetched())["http://a.example/"] == 2
    assert world.ledger.probed == []


def test_a_probe_that_failed_counts_for_nothing() -> None:
    """It gave up early, and its crawl is more patient."""
    web = site("a.example", 9)
    web["http://a.example/p1"] = Page(status=503, retry_after_s=3000.0)
    world = probed(web)
    assert world.reports.units[-1].reason.startswith("unreachable")
    web["http://a.example/p1"] = Page()
    world.give_list([CRAWL])
    world.run(ticks=20_000)
    assert Counter(world.fetched())["http://a.example/"] == 2
    assert world.ledger.probed == []


def test_the_next_round_begins_anew() -> None:
    """What a probe kept is for its round."""
    world = probed(site("a.example", 9))
    assert [row.finished for row in world.ledger.jobs()] == [True]
    world.give_list([Order(B, max_transfer=5)], round_number=2)
    assert [row.job.unit for row in world.ledger.jobs()] == [B]
    world.give_list([CRAWL], round_number=2)
    world.run()
    assert Counter(world.fetched())["http://a.example/"] == 2


def test_a_unit_that_goes_and_comes_again_is_crawled_whole() -> None:
    """Its right was taken away in mid-crawl: what was fetched of it may be lost with its job."""
    web = site("a.example", 30)
    world = probed(web)
    world.give_list([CRAWL])
    for _ in range(6):
        while world.complete():
            pass
        world.tick(1.0)
    world.give_list([])
    assert world.ledger.jobs() == []
    world.give_list([CRAWL])
    world.run()
    assert set(world.fetched()) == whole_crawl(web)
    assert world.ledger.probed == [(A, 1)]


def test_on_a_full_disk_the_crawl_begins_anew() -> None:
    """Where the log cannot say that the probe counts, nothing may rely on it."""
    world = probed(site("a.example", 9))
    world.ledger.full = True
    world.give_list([CRAWL])
    world.ledger.full = False
    world.run()
    assert Counter(world.fetched())["http://a.example/"] == 2
    assert world.ledger.probed == []
    assert world.reports.units[-1].pages == 9


def test_many_probes_continue_in_slices() -> None:
    """A list of more units than a slice holds, of which some were probed here."""
    names = [f"h{number}.example" for number in range(2 * CHANGES + 5)]
    web = {url: page for name in names for url, page in site(name, 3).items()}
    world = World(web, ANY_NAME, FAST)
    units = [f"http://{name}:80/" for name in names]
    world.give_list([Order(unit, max_transfer=2) for unit in units[::2]])
    world.run()
    world.give_list([])
    world.give_list([Order(unit, probed=True) for unit in units])
    world.run()
    assert set(Counter(world.fetched()).values()) == {1}
    assert len(world.fetched()) == 3 * len(names)
    assert sorted(world.ledger.probed) == sorted((unit, 1) for unit in units[::2])


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_page_is_lost_and_none_fetched_twice(data: st.DataObject) -> None:
    """Whatever is killed when: only what was under way at a kill is asked for again."""
    pages = data.draw(st.integers(1, 40), "pages")
    limit = data.draw(st.integers(1, 12), "limit")
    web = site("a.example", pages, fan_out=data.draw(st.integers(1, 4), "links"))
    world = World(web, ANY_NAME, FAST)
    choose = lambda count: data.draw(st.integers(0, count - 1))  # noqa: E731
    repeated = 0

    def play(orders: list[Order], name: str) -> None:
        nonlocal repeated
        world.give_list(orders)
        for _ in range(data.draw(st.integers(0, 8), f"turns of the {name}")):
            world.tick(data.draw(st.sampled_from((0.5, 1.0, 2.0))))
            while data.draw(st.booleans()) and world.complete(choose):
                pass
            if data.draw(st.booleans()):
                world.ledger.commit()
            if data.draw(st.integers(0, 9)) == 0:
                before = len(world.started)
                durable = set(world.ledger.durable_captures)
                repeated += len({url for _, _, url in world.started} - durable)
                world.crash()
                world.give_list(orders)
                assert len(world.started) == before
        world.run()

    play([Order(A, max_transfer=limit)], "probe")
    world.give_list([])
    play([CRAWL], "crawl")
    counts = Counter(world.fetched())
    assert set(counts) == whole_crawl(web)
    assert sum(counts.values()) - len(counts) <= repeated
    assert set(captured(world.ledger.durable_captures).values()) == {1}

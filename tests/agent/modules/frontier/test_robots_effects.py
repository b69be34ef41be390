"""What a robots.txt means for the turns of its host: rules, and how long they let it rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.modules.limits import Politeness
from tests.agent.fakes import Page
from tests.agent.modules.frontier.sites import PLAIN, A, B, gaps, spaced, world_of
from tests.agent.world import ANY_NAME, World, order


def rules_elsewhere(world: World, rule: bytes) -> None:
    """Let the first host's robots.txt lead to another one, at an address of its own."""
    spaced(world, A, B)
    world.web["http://a.example/robots.txt"] = Page(status=301, location="http://b.example/r")
    world.web["http://b.example/r"] = Page(body=b"User-agent: *\n" + rule + b"\n")


def test_a_crawl_delay_holds_for_its_host_only() -> None:
    """A host that asks for more distance gets it; another one at its address need not wait."""
    world = world_of("a", "b", pages=6)
    world.web["http://a.example/robots.txt"] = Page(body=b"User-agent: *\nCrawl-delay: 60\n")
    world.give_list([order(A), order(B)])
    world.run()
    assert min(gaps(world, "a")) == 60.0
    assert max(gaps(world, "b")) < 60.0
    assert min(gaps(world)) >= 20.0
    assert {one.unit: one.crawl_delay_s for one in world.reports.units} == {A: 60.0, B: 0.0}


@pytest.mark.parametrize(
    ("politeness", "asked_s", "kept_s"),
    [(PLAIN, 600, 600), (PLAIN, 99_999, 86_400), (replace(PLAIN, crawl_delay_cap_s=60.0), 600, 60)],
)
def test_a_crawl_delay_is_honoured_up_to_its_cap_and_said(
    politeness: Politeness, asked_s: int, kept_s: int
) -> None:
    """Up to a day, or what is set, a Crawl-delay is kept; if one is cut, the status tells."""
    patient = replace(ANY_NAME, crawl_patience_s=100_000.0)
    world = world_of("a", pages=1, politeness=politeness, limits=patient)
    rules = f"User-agent: *\nCrawl-delay: {asked_s}\n".encode()
    world.web["http://a.example/robots.txt"] = Page(body=rules)
    world.give_list([order(A)])
    world.run(step_s=20.0)
    assert gaps(world) == [kept_s]
    remark = f"Crawl-delay longer than {kept_s} s, which is kept"
    assert (remark in world.crawl.remarks.by_reason) == (asked_s > kept_s)


def test_a_host_that_asks_for_more_patience_than_a_probe_has_is_not_probed() -> None:
    """A round waits for its slowest probe, and fifty pages at ten minutes each are a night."""
    world = world_of("a", "b")
    spaced(world, A, B)
    for name, delay_s in (("a", 600), ("b", 300)):
        rules = f"User-agent: *\nCrawl-delay: {delay_s}\n".encode()
        world.web[f"http://{name}.example/robots.txt"] = Page(body=rules)
    world.give_list([order(A, max_transfer=50), order(B, max_transfer=50)])
    world.run()
    reasons = {unit.unit: unit.reason for unit in world.reports.units}
    assert reasons == {A: "not probed: Crawl-delay of 600 s", B: "complete"}


def test_a_probe_that_comes_while_its_host_is_crawled_knows_of_the_delay() -> None:
    """The rules that are known already say that it would take too long; the crawl goes on."""
    world = world_of("a", pages=6)
    world.web["http://a.example/robots.txt"] = Page(body=b"User-agent: *\nCrawl-delay: 600\n")
    deep = f"{A}d/"
    world.web["http://a.example/d/"] = Page()
    world.give_list([order(A)])
    while not world.fetched():
        world.complete()
        world.tick(1.0)
    world.give_list([order(A), order(deep, max_transfer=50)])
    world.run(step_s=20.0)
    reasons = {unit.unit: unit.reason for unit in world.reports.units}
    assert reasons == {A: "complete", deep: "not probed: Crawl-delay of 600 s"}


def test_forbidden_urls_cost_no_rest() -> None:
    """What robots.txt forbids is left out without a request, and the next URL has the turn."""
    world = world_of("a", pages=40)
    rules = b"User-agent: *\nDisallow: /p1\nDisallow: /p2\nDisallow: /p3\n"
    world.web["http://a.example/robots.txt"] = Page(body=rules)
    world.give_list([order(A)])
    world.run()
    assert not [url for url in world.fetched() if "/p1" in url or "/p2" in url]
    assert set(gaps(world)) == {20.0}
    assert world.crawl.denied.count("robots.txt") > 0
    assert world.reports.units[0].reason == "complete"


def test_an_unreachable_robots_txt_is_tried_then_ends_the_unit() -> None:
    """Without rules nothing is fetched; after some attempts, growing apart, the unit ends."""
    world = world_of("a")
    world.web["http://a.example/robots.txt"] = Page(status=500)
    world.give_list([order(A)])
    world.run()
    assert world.fetched() == []
    assert len(world.fetched(rules=True)) == 4
    assert gaps(world)[0] >= 60
    assert gaps(world)[1] >= 240
    assert world.reports.units[0].reason == "unreachable: robots.txt: status 500"


def test_a_robots_txt_may_lie_elsewhere() -> None:
    """A redirect is followed under the token of the address that it leads to."""
    world = world_of("a", pages=8)
    rules_elsewhere(world, b"Disallow: /p2")
    world.give_list([order(A)])
    world.run()
    assert [address for _, address, url in world.started if url == "http://b.example/r"] == [
        "192.0.2.2"
    ]
    assert "http://a.example/p2" not in world.fetched()
    assert len(world.fetched()) > 3


def test_rules_are_fetched_again_after_a_day() -> None:
    """A crawl that goes on longer than the rules hold asks for them again."""
    limits = replace(ANY_NAME, rules_s=100.0)
    world = world_of("a", pages=20, limits=limits)
    world.give_list([order(A)])
    world.run()
    assert len(world.fetched(rules=True)) >= 3
    assert len(world.fetched()) == 20


def test_a_unit_that_comes_back_asks_for_its_rules_again() -> None:
    """A list may take a unit away while its robots.txt is looked for, and give it back."""
    world = world_of("a", pages=6, limits=replace(ANY_NAME, rules_s=50.0))
    rules_elsewhere(world, b"Crawl-delay: 250")
    world.give_list([order(A)])
    while len(world.fetched(rules=True)) < 2:
        while world.complete():
            pass
        world.tick(1.0)
    while world.complete():  # the redirect is known, and waits for the other address
        pass
    world.give_list([])
    for _ in range(40):
        world.tick(1.0)
    world.give_list([order(A)], round_number=2)
    world.run(step_s=5.0)
    assert [(unit.round, unit.reason) for unit in world.reports.units] == [(2, "complete")]


def test_a_crawl_delay_that_another_host_told_counts_from_its_own_robots_txt() -> None:
    """Its address may be forgotten when the rules come: its unit began anew meanwhile."""
    world = world_of("a", pages=1)
    rules_elsewhere(world, b"Crawl-delay: 250")
    world.give_list([order(A)])
    while len(world.started) < 1:
        while world.complete():
            pass
        world.tick(1.0)
    while len(world.started) < 2:
        while world.complete():
            pass
        world.tick(40.0)
    world.give_list([order(A)], round_number=2)
    while world.resolver.waiting:
        world.resolver.answer(0)
    world.tick()  # its host waits for a turn when the rules come
    world.run()
    (asked_s, _, _), (_, _, elsewhere), (page_s, _, page) = world.started
    assert (elsewhere, page) == ("http://b.example/r", "http://a.example/")
    assert page_s - asked_s >= 250


def test_rules_hold_for_at_least_one_page() -> None:
    """Rules that expire before their host has its next turn are not asked for for ever."""
    world = world_of("a", pages=4, limits=replace(ANY_NAME, rules_s=10.0))
    rules = b"User-agent: *\nCrawl-delay: 100\n"
    world.web["http://a.example/robots.txt"] = Page(body=rules)
    world.give_list([order(A)])
    world.run(step_s=5.0)
    assert len(world.fetched()) == len(world.fetched(rules=True)) == 4

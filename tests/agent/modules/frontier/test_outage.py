"""Dead hosts and a dead network."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from agent.modules.limits import CrawlLimits, Politeness
from agent.modules.outage import ASKED, FIRST_PAUSE_S, LONGEST_PAUSE_S, Outage
from tests.agent.fakes import Page
from tests.agent.modules.frontier.sites import A, B, spaced, world_of
from tests.agent.world import ANY_NAME, World, order

NAMES = "abcdefgh"
UNITS = [f"http://{name}.example:80/" for name in NAMES]
DOWN = Page(outcome="timeout", elapsed_ms=30_000)
HOUR_S = 3600.0


def answering(*addresses: str) -> Outage:
    """Return what knows that these have answered; three silent ones, or four requests, are us."""
    outage = Outage(3, 4, 100.0)
    for address in addresses:
        outage.answered(address)
    return outage


def test_several_silent_witnesses_are_us() -> None:
    """One address may fail for ever; when several do that answered before, it is our network."""
    outage = answering(*"abcdef")
    for _ in range(9):
        outage.failed("a", 10.0)
    assert not outage.is_ours(10.0)
    outage.failed("b", 20.0)
    outage.failed("c", 30.0)
    assert outage.is_ours(30.0)
    outage.answered("d")
    assert not outage.is_ours(30.0)


def test_who_never_answered_is_no_witness() -> None:
    """Neither is who was silent while another one answered, until it answers again."""
    outage = answering(*"abcdef")
    for address in ("u", "v", "w", "x"):
        outage.failed(address, 10.0)
    assert not outage.is_ours(10.0)
    for address in ("a", "b"):
        outage.failed(address, 20.0)
    outage.answered("f")
    for _ in range(9):
        for address in ("a", "b", "c", "d"):
            outage.failed(address, 30.0)
    assert not outage.is_ours(30.0)
    outage.answered("a")
    for address in ("a", "e", "f"):
        outage.failed(address, 40.0)
    assert outage.is_ours(40.0)


def test_before_the_first_answer_anybody_counts() -> None:
    """A process that begins while the network is down gives nobody up."""
    outage = answering()
    for address in ("a", "a", "a", "a", "a", "b"):
        outage.failed(address, 10.0)
    assert not outage.is_ours(10.0)
    outage.failed("c", 10.0)
    assert outage.is_ours(10.0)


def test_few_witnesses_must_all_be_silent_and_for_longer() -> None:
    """A page that hangs is no outage; one that ends in silence everywhere is."""
    outage = answering("a", "b")
    for _ in range(9):
        outage.failed("a", 10.0)
    assert not outage.is_ours(10.0)
    outage.forget("b")
    assert outage.is_ours(10.0)
    outage = answering("a")
    for _ in range(3):
        outage.failed("a", 10.0)
    assert not outage.is_ours(10.0)
    outage.failed("a", 10.0)
    assert outage.is_ours(10.0)


def test_it_is_not_believed_for_ever() -> None:
    """An agent whose last hosts have all died comes to an end."""
    outage = answering("a")
    for _ in range(4):
        outage.failed("a", 10.0)
    assert outage.is_ours(110.0)
    assert not outage.is_ours(110.1)


def test_it_is_asked_less_and_less_often_whether_the_network_is_back() -> None:
    """Up to a limit, after which a crawl would stand still for long."""
    outage = answering()
    times = [at for at in range(1000) if outage.may_ask(float(at))]
    pauses = [after - before for before, after in pairwise(times)]
    assert pauses[0] == FIRST_PAUSE_S
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE_S


def crawling(
    *names: str, pages: int, limits: CrawlLimits = ANY_NAME
) -> tuple[World, dict[str, Page]]:
    """Return a crawl of hosts at an address each, all of which have answered; and their pages."""
    units = [f"http://{name}.example:80/" for name in names]
    politeness = Politeness(fast_interval_s=20.0, times_last=0)
    world = world_of(*names, pages=pages, politeness=politeness, limits=limits)
    spaced(world, *units)
    web = dict(world.web)
    world.give_list([order(unit) for unit in units])
    while len(world.fetched()) < 2 * len(units):
        while world.complete():
            pass
        world.tick(1.0)
    while world.complete():
        pass
    return world, web


def pass_time(world: World, seconds: float) -> None:
    """Let everything be done at once for a while."""
    until_s = world.clock.now_s + seconds
    while world.clock.now_s < until_s:
        while world.complete():
            pass
        world.tick(1.0)


def fall_silent(world: World) -> None:
    """Let nobody answer any more."""
    for url in world.web:
        world.web[url] = DOWN


def test_an_outage_asks_a_few_and_forgets_no_strikes() -> None:
    """Eight addresses would be asked every 20 s; three are, every other minute in the end."""
    world, web = crawling(*NAMES, pages=9)
    fall_silent(world)
    pass_time(world, 600)
    before = len(world.started)
    pass_time(world, HOUR_S)
    assert len(world.started) - before <= 3 * (HOUR_S / LONGEST_PAUSE_S + 1)
    strikes = {one.address: one.strikes for one in world.crawl.state().backed_off}
    assert strikes
    assert max(strikes.values()) <= 2
    world.web.update(web)
    world.run()
    assert {unit.reason for unit in world.reports.units} == {"complete"}
    assert set(world.ledger.captures) == set(web)


def test_an_outage_loads_only_the_addresses_that_it_asks() -> None:
    """All are ready and unloaded; those that are asked are chosen by the heads of the records."""
    world, _ = crawling(*NAMES, pages=9, limits=replace(ANY_NAME, addresses_in_memory=0))
    registry = world.crawl._frontiers[0]._registry
    for _ in range(2):
        world.tick(1.0)
    assert (len(registry.addresses), registry.unloaded.addresses) == (0, len(NAMES))
    for number in range(1, len(NAMES) + 1):
        registry.outage.failed(f"192.0.2.{number}", world.clock.now_s)
    before = len(world.started)
    for _ in range(30):
        world.tick(1.0)
    assert len(world.started) - before == ASKED
    assert (len(registry.addresses), registry.unloaded.addresses) == (ASKED, len(NAMES) - ASKED)


def test_a_lone_host_that_falls_silent_may_be_our_outage() -> None:
    """An hour and a half of silence give a host up, unless nobody else says that it is alone."""
    world, web = crawling("a", pages=9)
    fall_silent(world)
    pass_time(world, 2.2 * HOUR_S)
    assert world.reports.units == []
    world.web.update(web)
    world.run(step_s=5.0)
    assert world.reports.units[0].reason == "complete"


def test_a_lone_host_that_stays_silent_is_given_up() -> None:
    """Hours later, and hardly asked meanwhile."""
    world, _ = crawling("a", pages=40)
    fall_silent(world)
    silent_s, before = world.clock.now_s, len(world.started)
    world.run(step_s=5.0)
    assert world.reports.units[0].reason.startswith("unreachable: timeout, ")
    assert world.clock.now_s - silent_s < 6 * HOUR_S
    assert len(world.started) - before < 20


def test_the_dead_at_the_end_of_a_crawl_are_no_outage() -> None:
    """Five that never answered are given up in their time, also when all others are done."""
    limits = replace(ANY_NAME, rules_retries=3)
    world = world_of(*NAMES, pages=3, limits=limits)
    spaced(world, *UNITS)
    for url in world.web:
        if url[7] not in "ab":
            world.web[url] = Page(outcome="timeout", elapsed_ms=30_000)
    world.give_list([order(unit) for unit in UNITS])
    begun_s = world.clock.now_s
    world.run(step_s=5.0)
    assert world.clock.now_s - begun_s < HOUR_S
    reasons = {unit.unit: unit.reason for unit in world.reports.units}
    assert reasons.pop(A) == reasons.pop(B) == "complete"
    assert set(reasons.values()) == {"unreachable: robots.txt: timeout"}

"""When a probe gives up and a crawl waits: a round is held up by its slowest probe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.modules.frontier.backoff import BackingOff, WallClock
from agent.modules.frontier.queues import AddressQueue
from agent.modules.limits import Politeness
from agent.pipeline.ledger import AddressBackoff
from agent.pipeline.messages.requests import Outcome, Tick
from tests.agent.fakes import FakeLedger, Page
from tests.agent.modules.answers import ended
from tests.agent.modules.frontier.sites import PLAIN, A, B, gaps, spaced, world_of
from tests.agent.world import ANY_NAME, World, order

RULES_A = "http://a.example/robots.txt"


def minutes(world: World) -> float:
    """How long it took from the first request to the end of everything, in fake time."""
    return (world.clock.now_s - world.started[0][0]) / 60


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (Page(status=500), "status 500"),
        (Page(status=429), "status 429"),
        (Page(outcome="refused"), "refused"),
        (Page(outcome="timeout", elapsed_ms=30_000), "timeout"),
        (Page(outcome="tls"), "tls"),
    ],
)
def test_a_probe_without_rules_is_tried_once_more_soon(rules: Page, said: str) -> None:
    """A lost packet is no reason, but two minutes later the probe is over and says why."""
    world = world_of("a")
    world.web[RULES_A] = rules
    world.give_list([order(A, max_transfer=50)])
    world.run()
    assert len(world.fetched(rules=True)) == 2
    assert world.fetched() == []
    assert minutes(world) < 2
    (unit,) = world.reports.units
    assert (unit.kind, unit.reason) == ("probe", f"unreachable: robots.txt: {said}")


def test_the_second_answer_lets_a_probe_go_on() -> None:
    """Rules that come with the second attempt are kept to, and the probe is whole."""
    world = world_of("a")
    world.web[RULES_A] = Page(status=503)
    world.give_list([order(A, max_transfer=50)])
    while len(world.started) < 1:
        world.complete()
        world.tick(1.0)
    world.complete()
    world.web[RULES_A] = Page(body=b"User-agent: *\nDisallow: /p1\n")
    world.run()
    assert world.reports.units[0].reason == "complete"
    assert "http://a.example/p1" not in world.fetched()


def test_a_crawl_waits_for_rules_that_its_probe_would_not() -> None:
    """A crawl asks for a robots.txt four times within half an hour before it gives the host up."""
    world = world_of("a")
    world.web[RULES_A] = Page(status=429)
    world.give_list([order(A)])
    world.run()
    assert len(world.fetched(rules=True)) == 4
    assert 10 < minutes(world) < 40
    assert world.reports.units[0].reason == "unreachable: robots.txt: status 429"


def test_retry_after_of_a_robots_txt_is_kept_by_a_crawl() -> None:
    """429 on robots.txt is no permission: the host is asked again when it said, then crawled."""
    world = world_of("a")
    world.web[RULES_A] = Page(status=429, retry_after_s=900.0)
    world.give_list([order(A)])
    while not world.started:
        world.complete()
        world.tick(1.0)
    world.complete()
    world.web[RULES_A] = Page(status=404)
    world.run()
    assert gaps(world)[0] == 900.0
    assert world.reports.units[0].reason == "complete"


@pytest.mark.parametrize("url", [RULES_A, "http://a.example/"])
def test_nobody_waits_hours_for_a_probe(url: str) -> None:
    """A probe that is asked to come back in an hour is over at once, and says so."""
    world = world_of("a", "b")
    world.web[url] = Page(status=503, retry_after_s=3600.0)
    spaced(world, A, B)
    world.give_list([order(A, max_transfer=50), order(B, max_transfer=50)])
    world.run()
    assert minutes(world) < 5
    reasons = {unit.unit: unit.reason for unit in world.reports.units}
    assert reasons[B] == "complete"
    assert reasons[A].startswith("unreachable: ")
    assert "status 503, and 3600 s until the next request" in reasons[A]


def test_all_probes_of_an_address_that_must_rest_are_over() -> None:
    """Names that share an address would wait for it too."""
    world = world_of("a", "b")
    world.web["http://a.example/"] = Page(status=429, retry_after_s=7200.0)
    world.give_list([order(A, max_transfer=50), order(B, max_transfer=50)])
    world.run()
    assert minutes(world) < 5
    assert all("until the next request" in unit.reason for unit in world.reports.units)


def test_a_crawl_waits_hours_if_it_is_asked_to() -> None:
    """A crawl of the same host comes back when it was told to, and misses nothing."""
    world = world_of("a", pages=3)
    top = world.web["http://a.example/"]
    world.web["http://a.example/"] = Page(status=503, retry_after_s=3600.0)
    world.give_list([order(A)])
    while "http://a.example/" not in world.fetched():
        world.complete()
        world.tick(1.0)
    world.complete()
    world.web["http://a.example/"] = top
    world.run()
    assert max(gaps(world)) == 3600.0
    assert world.reports.units[0].reason == "complete"
    assert len(world.ledger.captures) == 4


@pytest.mark.parametrize("outcome", ["timeout", "refused", "disconnected"])
def test_a_probe_of_a_host_that_falls_silent_is_over_in_minutes(outcome: Outcome) -> None:
    """Doubling rests end a probe after the fourth request in a row without an answer."""
    world = world_of("a", pages=30)
    world.give_list([order(A, max_transfer=50)])
    while len(world.started) < 4:
        world.complete()
        world.tick(1.0)
    for url in world.web:
        world.web[url] = Page(outcome=outcome, elapsed_ms=30_000)
    silent_s = world.clock.now_s
    world.run()
    assert world.clock.now_s - silent_s < 6 * 60
    assert (
        world.reports.units[0].reason == f"unreachable: {outcome}, and 320 s until the next request"
    )


def test_our_own_outage_ends_no_probe() -> None:
    """While nobody answers at all, probes wait, and rest no longer afterwards than before."""
    names = "abcdefgh"
    units = [f"http://{name}.example:80/" for name in names]
    world = world_of(*names, pages=6, politeness=replace(PLAIN, times_last=10))
    spaced(world, *units)
    web = dict(world.web)
    world.give_list([order(unit, max_transfer=50) for unit in units])
    while len(world.fetched()) < 2 * len(units):
        world.complete()
        world.tick(1.0)
    for url in world.web:
        world.web[url] = Page(outcome="timeout", elapsed_ms=30_000)
    for _ in range(1800):
        while world.complete():
            pass
        world.tick(1.0)
    assert world.reports.units == []
    world.web.update(web)
    back_s = world.clock.now_s
    world.run()
    assert {unit.reason for unit in world.reports.units} == {"complete"}
    assert world.clock.now_s - back_s < 6 * 60


def test_who_is_left_alone_is_shown_with_its_reason() -> None:
    """Addresses with errors or a Retry-After are counted and shown, until they answer again."""
    world = world_of("a", "b", pages=4)
    spaced(world, A, B)
    good = world.web["http://a.example/p1"]
    world.web["http://a.example/p1"] = Page(status=503, retry_after_s=500.0)
    world.give_list([order(A), order(B)])
    while "http://a.example/p1" not in world.fetched():
        world.complete()
        world.tick(1.0)
    while world.complete():
        pass
    state = world.crawl.state()
    (one,) = state.backed_off
    assert (state.backing_off, one.address, one.host, one.strikes) == (1, "192.0.2.1", A, 1)
    assert one.reason == "status 503, Retry-After 500 s"
    assert one.until_s == world.clock.now_s + 500
    world.web["http://a.example/p1"] = good
    world.run()
    for _ in range(60):
        world.tick(1.0)
    assert world.crawl.state().backing_off == 0


def test_many_that_are_left_alone_are_counted_and_some_shown() -> None:
    """However many there are, the ten that failed last are shown."""
    backing_off = BackingOff(FakeLedger(), WallClock())
    for number in range(500):
        address = AddressQueue(f"192.0.2.{number}", strikes=1)
        backing_off.note(address, ended(outcome="timeout", status=0, header=b""))
    assert len(backing_off) == 500
    assert [one.address for one in backing_off.last()] == [
        f"192.0.2.{number}" for number in range(499, 489, -1)
    ]
    backing_off.forget("192.0.2.499")
    assert backing_off.last()[0].address == "192.0.2.498"


def rested_after_crash(page: Page, seconds: float = 0.0) -> tuple[float, World]:
    """Let a page be answered, kill the process, and return how long its address then rested."""
    world = world_of("a", pages=4)
    world.web["http://a.example/p1"] = page
    world.give_list([order(A)])
    while "http://a.example/p1" not in world.fetched():
        world.complete()
        world.tick(1.0)
    while world.complete():
        pass
    ended_s, before = world.clock.now_s, len(world.started)
    world.ledger.commit()
    world.clock.now_s += seconds
    world.crash()
    while len(world.started) == before:
        world.tick(1.0)
        while world.complete():
            pass
    return world.started[before][0] - ended_s, world


def test_a_restart_forgets_no_retry_after() -> None:
    """Who asked for time has it, whether the process lives or not; then the crawl ends as ever."""
    rested_s, world = rested_after_crash(Page(status=503, retry_after_s=500.0))
    assert 500 <= rested_s <= 502
    world.web["http://a.example/p1"] = Page()
    world.run()
    assert world.reports.units[0].reason == "complete"
    assert world.ledger.rests() == []


def second_attempt(clock_jumps_s: float = 0.0) -> float:
    """Return after how many seconds a page is tried again, with a restart in between."""
    limits = replace(ANY_NAME, retry_s=300.0)
    politeness = Politeness(backoff_cap_s=60.0, retry_after_cap_s=60.0)
    world = world_of("a", pages=3, limits=limits, politeness=politeness)
    url = "http://a.example/p1"
    world.web[url] = Page(outcome="disconnected")
    world.give_list([order(A)])
    while url not in world.fetched():
        world.tick(1.0)
        while world.complete():
            pass
    ended_s = world.clock.now_s
    world.ledger.commit()
    world.crash()
    world.clock.asleep_s += clock_jumps_s
    world.run()
    tried_s = [at for at, _, one in world.started if one == url]
    assert len(tried_s) == 3
    assert tried_s[2] - tried_s[1] >= 1200
    assert set(world.fetched()) == set(world.web) - {RULES_A}
    return tried_s[1] - ended_s


def test_a_restart_forgets_no_time_of_a_further_attempt() -> None:
    """A page that failed is tried again when it was to be; its host goes on meanwhile."""
    assert 300 <= second_attempt() <= 321


def test_a_further_attempt_waits_for_no_clock_that_was_set_back() -> None:
    """None waits longer than one that has just failed, and none is lost."""
    assert 300 <= second_attempt(-1e6) <= 700
    assert second_attempt(1e6) <= 200


def test_a_restart_forgets_no_strikes() -> None:
    """The rest after the next error is doubled from there on."""
    world = world_of("a", pages=4)
    world.web[RULES_A] = Page(outcome="timeout")
    world.give_list([order(A)])
    rests = []
    for _ in range(3):
        before = len(world.started)
        while len(world.started) == before:
            world.complete()  # the look-up
            world.tick(1.0)
        while world.complete():
            pass
        (one,) = world.crawl.state().backed_off
        rests.append((one.strikes, one.until_s - world.clock.now_s))
        world.ledger.commit()
        world.crash()
        world.tick()
        (again,) = world.crawl.state().backed_off
        assert (again.strikes, again.reason) == (one.strikes, "timeout")
    assert rests == [(1, 40.0), (2, 80.0), (3, 160.0)]


def test_a_rest_that_is_long_over_is_forgotten() -> None:
    """A day later it says nothing any more; and a clock set back holds nobody for ever."""
    rested_s, world = rested_after_crash(Page(status=503, retry_after_s=500.0), 100_000.0)
    assert rested_s < 100_000 + 60 + 22
    assert world.ledger.rests() == []


def test_a_clock_that_was_set_back_holds_nobody_for_ever() -> None:
    """No rest is longer than the longest that a server may ask for."""
    ledger = FakeLedger()
    ledger.keep_rest(AddressBackoff("192.0.2.1", A, "status 503", 1, 10**15))
    backing_off, address = BackingOff(ledger, WallClock()), AddressQueue("192.0.2.1")
    backing_off.tell_time(Tick(100.0, 1_700_000_000_000, fetching=True))
    backing_off.resume(address, 100.0, 3600.0)
    assert (address.not_before_s, address.strikes) == (3700.0, 1)

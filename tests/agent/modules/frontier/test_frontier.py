"""Whose turn it is: intervals, rings, connections, attempts, ends, seen through a whole crawl."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.modules.limits import CrawlLimits
from agent.pipeline.messages.robots import RulesDue
from tests.agent.fakes import Page
from tests.agent.modules.frontier.sites import PLAIN, A, B, C, gaps, spaced, starts, world_of
from tests.agent.world import ANY_NAME, World, order


def test_an_address_rests_before_its_first_request() -> None:
    """After a start every address first waits one full interval, robots.txt included."""
    world = world_of("a")
    world.give_list([order(A)])
    begun = world.clock.now_s + 1
    world.run()
    assert starts(world)[0] == begun + 20
    assert world.started[0][2] == "http://a.example/robots.txt"


def test_the_interval_counts_from_the_end() -> None:
    """A long fetch does not shorten the rest after it."""
    world = world_of("a")
    world.give_list([order(A)])
    while len(world.started) < 2:
        world.complete()
        world.tick(1.0)
    for _ in range(30):
        world.tick(1.0)
    ended = world.clock.now_s
    world.fetcher.answer()
    world.run()
    assert starts(world)[2] - ended == pytest.approx(20.0, abs=1.01)
    assert set(gaps(world)[2:]) == {20.0}


def test_names_that_share_an_address_take_turns() -> None:
    """Hosts at one address are fetched one after the other on one clock."""
    world = world_of("a", "b")
    world.give_list([order(A), order(B)])
    world.run()
    assert set(gaps(world)) == {20.0}
    hosts = [url[7] for _, _, url in world.started][2:]
    assert "".join(hosts) in ("abababab", "babababa")


def test_addresses_of_their_own_do_not_wait_for_each_other() -> None:
    """Two addresses are crawled side by side."""
    world = world_of("a", "b")
    spaced(world, A, B)
    world.give_list([order(A), order(B)])
    world.run()
    assert starts(world, "a") == starts(world, "b")


def test_a_gap_is_followed_by_a_rest() -> None:
    """After time without a permit every address rests again, though its interval was over."""
    world = world_of("a")
    world.give_list([order(A)])
    while len(world.started) < 2:
        world.complete()
        world.tick(1.0)
    world.complete()
    world.fetching = False
    for _ in range(50):
        world.tick(1.0)
    assert len(world.started) == 2
    world.fetching = True
    world.tick(1.0)
    back = world.clock.now_s
    world.run()
    assert starts(world)[2] == back + 20


def test_a_process_that_stood_still_rests_too() -> None:
    """A pause of the process is a gap even if the permit seems to have held."""
    world = world_of("a")
    world.give_list([order(A)])
    while len(world.started) < 2:
        world.complete()
        world.tick(1.0)
    while world.complete():
        pass
    world.tick(61.0)
    assert len(world.started) == 2
    world.tick(19.0)
    assert len(world.started) == 2
    world.tick(1.0)
    assert len(world.started) == 3


def test_the_first_request_of_a_host_says_how_long_its_look_up_took() -> None:
    """The one that waited for it, awake or put aside until its turn, and no other."""
    world = world_of("a", "b", pages=3, limits=replace(ANY_NAME, parallel=1))
    spaced(world, A, B)
    world.resolver.took_ms = 12.5
    world.give_list([order(A, max_transfer=50), order(B, max_transfer=50)])
    world.run()
    world.give_list([order(A)], round_number=2)  # the address is known from before
    world.run()
    dues = [one.due for one in world.reports.requests]
    rules = [due for due in dues if isinstance(due, RulesDue)]
    told = {(due.host, due.round): due.lookup_ms for due in rules}
    assert told == {(A, 1): 12.5, (B, 1): 12.5, (A, 2): None}


def test_a_units_own_interval_is_its_share() -> None:
    """A unit whose list line names an interval is fetched no faster than that."""
    world = world_of("a", "b", pages=5)
    spaced(world, A, B)
    world.give_list([order(A, interval_ms=50_000), order(B, interval_ms=1_000)])
    world.run()
    assert set(gaps(world, "a")[1:]) == {50.0}
    assert set(gaps(world, "b")) == {20.0}


def test_retry_after_and_503_slow_the_address_and_keep_the_url() -> None:
    """A URL that was refused for now comes again, after what the server asked for."""
    world = world_of("a", pages=3)
    good = world.web["http://a.example/p1"]
    world.web["http://a.example/p1"] = Page(status=503, retry_after_s=500.0)
    world.give_list([order(A)])
    while "http://a.example/p1" not in world.fetched():
        world.complete()
        world.tick(1.0)
    world.complete()
    world.web["http://a.example/p1"] = good
    world.run()
    assert world.fetched().count("http://a.example/p1") == 2
    assert max(gaps(world)) == 500.0
    assert sorted(world.ledger.captures).count("http://a.example/p1") == 1
    assert world.reports.units[0].reason == "complete"


def test_attempts_are_counted_and_grow_apart() -> None:
    """A URL without an answer is tried three times, each time later, and then given up."""
    world = world_of("a", pages=20)
    world.web["http://a.example/p1"] = Page(outcome="disconnected")
    world.give_list([order(A)])
    world.run()
    tries = [when for when, _, url in world.started if url.endswith("/p1")]
    assert len(tries) == 3
    assert tries[1] - tries[0] >= 60
    assert tries[2] - tries[1] >= 240
    assert world.crawl.given_up.by_reason["disconnected"].examples == ["http://a.example/p1"]
    (unit,) = world.reports.units
    assert (unit.reason, unit.pages) == ("complete", len(world.fetched()))


def test_a_dead_host_is_given_up() -> None:
    """After so many requests without any answer its jobs end, with the reason."""
    world = world_of("a", "b", pages=30, limits=replace(ANY_NAME, failures_in_a_row=4))
    spaced(world, A, B)
    world.give_list([order(A), order(B)])
    while len(world.started) < 8:
        world.complete()
        world.tick(1.0)
    for url in world.web:
        if "//a." in url:
            world.web[url] = Page(outcome="timeout")
    world.run()
    reasons = {unit.unit: unit.reason for unit in world.reports.units}
    assert reasons == {A: "unreachable: timeout, 4 requests in a row", B: "complete"}
    assert world.crawl.given_up.count("unreachable") > 0


def test_an_outage_gives_nobody_up() -> None:
    """When nobody answers any more, URLs keep their attempts and hosts their jobs."""
    names = "abcdef"
    units = [f"http://{name}.example:80/" for name in names]
    world = world_of(*names, pages=3)
    spaced(world, *units)
    web = dict(world.web)
    world.give_list([order(unit) for unit in units])
    for url in world.web:
        world.web[url] = Page(outcome="refused")
    for _ in range(5000):
        while world.complete():
            pass
        world.tick(1.0)
    assert world.reports.units == []
    world.web.update(web)
    world.run()
    assert {unit.reason for unit in world.reports.units} == {"complete"}
    assert {unit.pages for unit in world.reports.units} == {3}


def test_dead_hosts_alone_come_to_an_end() -> None:
    """That it is our own network is not believed for ever: a round must end."""
    names = "abcdef"
    units = [f"http://{name}.example:80/" for name in names]
    world = world_of(*names)
    spaced(world, *units)
    for url in world.web:
        world.web[url] = Page(outcome="refused")
    world.give_list([order(unit) for unit in units])
    world.run(ticks=20_000, step_s=5.0)
    assert len(world.reports.units) == 6
    assert all("unreachable" in unit.reason for unit in world.reports.units)


def test_hosts_that_break_off_do_not_pass_for_an_outage() -> None:
    """Whoever sends half a header is there: hosts like that are given up in minutes, not hours."""
    names = "abcdef"
    units = [f"http://{name}.example:80/" for name in names]
    world = world_of(*names)
    spaced(world, *units)
    for url in world.web:
        if not url.endswith("robots.txt"):
            world.web[url] = Page(outcome="disconnected", broken_bytes=17)
    world.give_list([order(unit) for unit in units])
    begun_s = world.clock.now_s
    world.run(ticks=20_000, step_s=5.0)
    assert len(world.reports.units) == 6
    assert world.clock.now_s - begun_s < 1800
    assert len(world.fetched()) <= 6 * 3


def test_a_probe_ends_at_its_limit() -> None:
    """A probe fetches so many pages, robots.txt not counted, and is then done."""
    world = world_of("a", pages=30)
    world.give_list([order(A, max_transfer=7)])
    world.run()
    assert len(world.fetched()) == 7
    (unit,) = world.reports.units
    assert (unit.kind, unit.pages, unit.reason) == ("probe", 7, "page limit")


def test_a_probe_of_a_small_site_is_complete() -> None:
    """A probe that finds fewer pages than it may fetch has found all of them."""
    world = world_of("a", pages=5)
    world.give_list([order(A, max_transfer=5)])
    world.run()
    assert world.reports.units[0].reason == "complete"


def test_a_crawl_after_a_probe_fetches_everything() -> None:
    """What a probe has seen is fetched again by the crawl: it is another job."""
    world = world_of("a", pages=6)
    world.give_list([order(A, max_transfer=4)])
    world.run()
    world.give_list([order(A)])
    world.run()
    assert len(world.fetched()) == 4 + 6
    assert [unit.kind for unit in world.reports.units] == ["probe", "crawl"]
    assert [unit.job for unit in world.reports.quiet] == [1]


def test_pages_of_a_host_are_limited() -> None:
    """A host with more pages than allowed is a trap: its job ends there and says so."""
    world = world_of("a", pages=30, limits=replace(ANY_NAME, pages_per_host=9))
    world.give_list([order(A)])
    world.run()
    assert len(world.fetched()) == 9
    assert world.reports.units[0].reason == "page limit"


def test_a_unit_whose_top_page_is_blocked_is_done_at_once() -> None:
    """Where no URL passes the filters there is nothing to fetch, and the unit ends."""
    world = world_of("a", blocked=lambda url: True)
    world.give_list([order(A)])
    world.run()
    assert world.fetched() == []
    assert world.reports.units[0].reason == "nothing to fetch"


def test_a_burst_on_one_connection() -> None:
    """So many requests follow each other on an open connection, then the address rests."""
    world = world_of("a", pages=13, politeness=replace(PLAIN, burst=4))
    world.web = {url: replace(page, kept_alive=True) for url, page in world.web.items()}
    world.boot()
    world.give_list([order(A)])
    world.run(step_s=0.5)
    long = [gap for gap in gaps(world) if gap >= 20]
    assert len(world.started) == 14
    assert len(long) == 3
    assert all(gap < 20 for gap in gaps(world)[:3])


def test_without_keep_alive_there_is_no_burst() -> None:
    """A server that closes the connection gets its rest, whatever the burst."""
    world = world_of("a", pages=6, politeness=replace(PLAIN, burst=0))
    world.give_list([order(A)])
    world.run()
    assert min(gaps(world)) >= 20


def test_a_burst_that_runs_dry_is_followed_by_its_rest() -> None:
    """When the open connection has nothing more to carry, the other hosts wait their time."""
    world = world_of("a", "b", pages=2, politeness=replace(PLAIN, burst=0))
    world.web = {url: replace(page, kept_alive=True) for url, page in world.web.items()}
    world.boot()
    world.give_list([order(A), order(B)])
    world.run(step_s=0.5)
    hosts = [url[7] for _, _, url in world.started]
    turn = next(index for index, host in enumerate(hosts) if host != hosts[0])
    assert gaps(world)[turn - 1] >= 20


def test_so_many_requests_at_a_time() -> None:
    """Only so many connections are open; who waits for one has it before those that had a turn."""
    names = "abcdef"
    units = [f"http://{name}.example:80/" for name in names]
    world = world_of(*names, pages=3, limits=replace(ANY_NAME, parallel=2))
    spaced(world, *units)
    world.give_list([order(unit) for unit in units])
    most = 0
    while len(world.started) < 24 or world.fetcher.flights:
        world.tick(5.0)
        most = max(most, len(world.fetcher.flights))
        while world.complete():
            pass
    assert most == 2
    begun = [url[7] for _, _, url in world.started]
    assert [sorted(begun[at : at + 6]) for at in (0, 6, 12, 18)] == [list(names)] * 4


@pytest.mark.parametrize("in_memory", [0, 3, 1000])
def test_every_host_has_its_first_page_in_time(in_memory: int) -> None:
    """Within addresses / rate of its start, however much the others have to do."""
    names = [f"h{number}" for number in range(40)]
    limits = replace(ANY_NAME, parallel=2, addresses_in_memory=in_memory)
    world = world_of(*names, pages=30, limits=limits)
    spaced(world, *(f"http://{name}.example:80/" for name in names))
    world.give_list([order(f"http://{name}.example:80/") for name in names])
    first: dict[str, float] = {}
    begin = world.clock.now_s
    while len(first) < 40 and world.clock.now_s < begin + 500:
        while world.complete():
            pass
        world.tick(1.0)
        for at_s, _, url in world.started:
            if not url.endswith("robots.txt"):
                first.setdefault(url.split("/")[2], at_s)
    # Two requests a second; each host asks for its robots.txt first, then rests.
    assert len(first) == 40
    assert max(first.values()) - begin <= 20 + 2 * max(40 / 2, 20) + 5
    assert len(world.fetcher.flights) <= 2


def test_the_longest_begin_first() -> None:
    """Of addresses that are due at the same moment those have their turn that will take longest."""
    world = world_of("a", "b", "c", limits=replace(ANY_NAME, parallel=1))
    spaced(world, A, B, C)
    many = [order(f"http://b.example/s{number}") for number in range(9)]
    few = [order(f"http://c.example/s{number}") for number in range(3)]
    world.give_list([order(A), order(B), order(C), *few, *many])
    world.run()
    begun = list(dict.fromkeys(url[7] for _, _, url in world.started))
    assert begun == ["b", "c", "a"]


def test_a_host_that_takes_long_by_its_own_interval_begins_first() -> None:
    """Few URLs far apart take longer than many close together: URLs left times interval."""
    world = world_of("a", "b", pages=3, limits=replace(ANY_NAME, parallel=1))
    spaced(world, A, B)
    starts_of_a = tuple((f"http://a.example/s{number}", None) for number in range(5))
    lines = [order(A), *(order(url) for url, _ in starts_of_a)]
    world.give_list([*lines, order(B, interval_ms=600_000)])
    world.run(step_s=20.0)
    assert starts(world, "b")[0] < starts(world, "a")[0]


def test_so_many_addresses_are_in_memory() -> None:
    """Between two turns the others are records; those with a request or a page under way stay."""
    names = [f"h{number}" for number in range(60)]
    units = [f"http://{name}.example:80/" for name in names]
    world = world_of(*names, pages=4, limits=replace(ANY_NAME, addresses_in_memory=7))
    spaced(world, *units)
    world.give_list([order(unit) for unit in units])
    registry = world.crawl._frontiers[0]._registry
    most = 0
    while world.crawl.state().queued or world.crawl.state().in_flight:
        while world.complete():
            pass
        world.tick(1.0)
        world.tick(1.0)
        with_work = sum(bool(one.hosts) for one in registry.addresses.values())
        most = max(most, with_work - world.crawl.state().in_flight)
    assert most <= 7
    assert world.crawl.state().addresses <= 60
    pages = {url for url in world.web if not url.endswith("robots.txt")}
    assert pages <= set(world.fetched())


def test_a_long_rest_keeps_nobody_waiting() -> None:
    """While an address must rest for long, all others are crawled to their ends."""
    world = world_of("a", "b", limits=replace(ANY_NAME, parallel=1))
    spaced(world, A, B)
    world.web["http://a.example/"] = Page(status=503, retry_after_s=4000.0)
    world.give_list([order(A), order(B)])
    world.run(step_s=2.0)
    rest = gaps(world, "a").index(4000.0)
    begin, end = starts(world, "a")[rest : rest + 2]
    assert all(begin - 100 < at < end for at in starts(world, "b"))


def test_fetching_waits_for_slow_workers() -> None:
    """Pages that are fetched but not stored are bounded: memory does not grow with the queue."""
    limits = replace(ANY_NAME, under_way=3)
    names = "abcdefgh"
    units = [f"http://{name}.example:80/" for name in names]
    world = world_of(*names, limits=limits)
    spaced(world, *units)
    world.give_list([order(unit) for unit in units])
    for _ in range(200):
        while world.resolver.waiting or world.fetcher.flights:
            (world.resolver.answer if world.resolver.waiting else world.fetcher.answer)()
        world.tick(1.0)
    pages = [page for page, _ in world.worker.waiting if not page.is_rules]
    assert len(pages) == 3
    world.run()
    assert len(world.reports.units) == 8


def test_memory_holds_a_window_of_the_queue() -> None:
    """Of a job with very many URLs only a window is in memory."""
    limits = CrawlLimits(require_public_suffix=False, window=5)
    many = tuple(f"http://a.example/n{number}" for number in range(300))
    world = World({"http://a.example/": Page(many)}, limits=limits, politeness=PLAIN)
    world.give_list([order(A)])
    taken: list[int] = []
    take = world.ledger.take

    def counted(job: int, after: int, limit: int, level: int = 0) -> object:
        found = take(job, after, limit, level)
        taken.append(len(found))
        return found

    world.ledger.take = counted  # type: ignore[method-assign, assignment]
    world.run(step_s=20.0)
    assert max(taken) == 5
    assert len(world.fetched()) == 301
    assert world.fetched()[1:] == list(many)


def test_the_state_says_what_goes_on() -> None:
    """Counts of jobs, URLs, addresses and requests add up, and end at nothing."""
    world = world_of("a", "b", pages=9)
    spaced(world, A, B)
    world.give_list([order(A), order(B)])
    while len(world.started) < 4:
        world.complete()
        world.tick(1.0)
    state = world.crawl.state()
    assert (state.jobs, state.addresses) == (2, 2)
    assert state.in_flight == len(world.fetcher.flights)
    assert state.queued >= 2
    world.run()
    for _ in range(60):
        world.tick(1.0)
    state = world.crawl.state()
    assert (state.jobs, state.queued, state.in_flight) == (0, 0, 0)
    assert (state.under_way, state.addresses) == (0, 0)


def test_settings_take_effect_while_crawling() -> None:
    """A longer interval from the manager holds from the next rest on."""
    world = world_of("a", pages=9)
    world.give_list([order(A)])
    while len(world.started) < 3:
        world.complete()
        world.tick(1.0)
    slower = replace(PLAIN, interval_s=90.0, fast_interval_s=90.0)
    world.crawl.retune(slower, ANY_NAME, lambda url: False)
    world.run()
    assert set(gaps(world)[2:]) == {90.0}


def test_a_full_disk_stops_fetching_and_goes_on_by_itself() -> None:
    """Without room no request begins; when there is room again, all is kept."""
    world = world_of("a", pages=5)
    world.give_list([order(A)])
    while len(world.started) < 3:
        world.complete()
        world.tick(1.0)
    world.ledger.full = True
    for _ in range(200):
        while world.complete():
            pass
        world.tick(1.0)
    assert str(world.crawl.paused).startswith("disk full")
    assert len(world.started) <= 3
    world.ledger.full = False
    world.run()
    assert len(world.ledger.captures) == 6
    assert world.crawl.paused is None


def test_an_open_connection_is_no_licence_for_others() -> None:
    """A request to another host at the address waits its rest, though a connection is open."""
    limits = replace(ANY_NAME, rules_retries=0)
    world = world_of("a", "b", limits=limits, politeness=replace(PLAIN, burst=3))
    spaced(world, A, B)
    world.resolver_addresses[C] = world.resolver_addresses[B]
    world.web["http://b.example/robots.txt"] = Page(status=500, kept_alive=True)
    world.web["http://a.example/robots.txt"] = Page(status=302, location="http://c.example/r")
    world.give_list([order(B), order(A)])
    while len(world.started) < 2:
        while world.complete():
            pass
        world.tick(0.5)
    answered = [flight.request.url for flight in world.fetcher.flights]
    world.fetcher.answer(answered.index("http://b.example/robots.txt"))
    for _ in range(8):  # the unit of that host is done, and its address has nothing left
        world.tick(0.5)
    world.run(step_s=0.5)
    shared = [when for when, address, _ in world.started if address == "192.0.2.2"]
    assert len(shared) == 2
    assert shared[1] - shared[0] >= 20

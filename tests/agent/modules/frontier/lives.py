"""The life of an agent under a judge (`tests.agent.judge`), with everything that can happen."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from agent.modules.assemble import Crawl, CrawlPorts
from agent.modules.limits import Politeness
from agent.pipeline.crawl import CRAWL
from agent.pipeline.messages.jobs import ListSlice
from agent.pipeline.messages.requests import Outcome, Tick
from agent.runners.in_process import InProcessRunner
from shared.wire.orders import Order
from tests.agent.fakes import HTML, FakeClock, FakeResolver, FakeWorker, Page
from tests.agent.judge import Excuses, Judge, JudgedFetcher, JudgedLedger, JudgedReports
from tests.agent.world import ANY_NAME, TWO_OF_EACH, site, slices_of

__all__ = ["HOST_B", "INTERVAL_S", "UNITS", "AnyOrder", "live"]

INTERVAL_S = 20.0
UNIT_INTERVAL_S = 33.0
PARALLEL = 2
HOST_B = "http://b.example:80/"
UNITS = (
    "http://a.example:80/",
    HOST_B,
    "http://c.example:80/",
    "http://e.example:80/",
    "http://e.example:80/x/",
    "http://gone.example:80/",
)
STARTS = ("http://a.example/p3", "http://b.example/island/", "http://c.example/island")
"""Start pages: one that a link leads to as well, and two that only a list names."""

ADDRESSES = ("192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4")
ENDS: tuple[Outcome, ...] = (
    *("answered", "answered", "answered", "truncated"),
    *("refused", "timeout", "no_permit", "stopped", "malformed"),
)
LIMITS = replace(
    ANY_NAME,
    parallel=PARALLEL,
    window=3,
    ttl_least_s=0.0,
    refresh_s=30.0,
    retry_s=15.0,
    lookup_retry_s=5.0,
    stale_s=300.0,
    rules_s=500.0,
    rules_retry_s=10.0,
    failures_in_a_row=5,
    offline_addresses=2,
    pages_per_host=40,
)


def the_web() -> dict[str, Page]:
    """Return four hosts that lead to each other; one has rules, one hides them elsewhere."""
    web = site("a.example", 9) | site("b.example", 7) | site("c.example", 4) | site("e.example", 3)
    web["http://a.example/p1"] = Page(
        ("http://b.example/p6", "http://e.example/x/1"), retry_after_s=100.0
    )
    web["http://a.example/p2"] = Page((), status=301, location="http://c.example/p3")
    web["http://a.example/p3"] = Page((), status=503)
    web["http://a.example/"] = replace(web["http://a.example/"], elapsed_ms=9000.0)
    web["http://c.example/p1"] = Page((), status=429, retry_after_s=900.0)
    web["http://a.example/p4"] = Page((), outcome="disconnected")
    web["http://b.example/p1"] = Page((), status=502)
    web["http://a.example/p7"] = Page((), status=500)
    web["http://e.example/x/"] = Page(("http://e.example/x/1", "http://e.example/p1"))
    web["http://e.example/x/1"] = Page(("http://e.example/x/2", "http://b.example/p2"))
    web["http://e.example/x/2"] = Page(("http://new.example/",), retry_after_s=50.0)
    rules = b"User-agent: *\nDisallow: /p2\nCrawl-delay: 45\n"
    web["http://b.example/island/"] = Page(("http://c.example/island", "http://b.example/p3"))
    web["http://c.example/island"] = Page(("http://c.example/p2",))
    web["http://b.example/robots.txt"] = Page(body=rules, header=HTML)
    web["http://c.example/robots.txt"] = Page(status=302, location="http://d.example/robots.txt")
    web["http://d.example/robots.txt"] = Page(
        body=b"User-agent: *\nDisallow: /p2\nCrawl-delay: 70\n"
    )
    web["http://e.example/robots.txt"] = Page(status=500)
    return {url: replace(page, kept_alive="//b." not in url) for url, page in web.items()}


class AnyOrder(RuleBasedStateMachine):
    """One agent's life, with everything that can happen to it."""

    @initialize(
        two=st.booleans(),
        seed=st.integers(0, 9999),
        burst=st.sampled_from([1, 3, 0]),
        times_last=st.sampled_from([0.0, 10.0]),
        in_memory=st.sampled_from([0, 1, 5000]),
    )
    def begin(
        self,
        two: bool,
        seed: int,
        burst: int,
        times_last: float,
        in_memory: int = 5000,
        parallel: int = PARALLEL,
        late_s: float = 0.0,
    ) -> None:
        self.late_s = late_s  # of each tick
        self.limits = replace(LIMITS, addresses_in_memory=in_memory, parallel=parallel)
        self.partitions = TWO_OF_EACH if two else {}
        self.random = random.Random(seed)
        self.clock = FakeClock()
        self.judge = Judge(
            self.clock,
            INTERVAL_S,
            parallel,
            {HOST_B: 45.0, UNITS[2]: 70.0},
            burst=burst,
            times_last=times_last,
            unit_delays_s={UNITS[3]: UNIT_INTERVAL_S},
        )
        self.reports = JudgedReports(self.judge)
        self.ledger = JudgedLedger()
        self.ledger.orders_at_a_time = 2
        self.ledger.judge, self.ledger.reports, self.ledger.opened = (
            self.judge,
            self.reports,
            {},
        )
        self.web = the_web()
        self.addresses = {
            "http://a.example:80/": ("192.0.2.1", "192.0.2.4"),
            HOST_B: ("192.0.2.2",),
            "http://c.example:80/": ("192.0.2.1",),
            "http://e.example:80/": ("192.0.2.3", "192.0.2.1"),
            "http://d.example:80/": ("192.0.2.3",),
            "http://gone.example:80/": (),
        }
        self.round = 1
        self.orders: tuple[Order, ...] = ()
        self.slices: Iterator[ListSlice] = iter(())
        self.permitted = True
        self.was_fetching = False
        self.ticked_s, self.ticked_ms = 0.0, 0
        self.boot()

    def boot(self) -> None:
        self.fetcher = JudgedFetcher(self.clock, self.web, self.judge)
        self.resolver = FakeResolver()
        self.resolver.addresses = self.addresses
        self.resolver.ttl_s = 20.0
        self.worker = FakeWorker(self.web)
        ports = CrawlPorts(
            self.ledger, self.fetcher, self.resolver, self.worker, self.reports, self.clock
        )
        self.crawl = Crawl(
            ports,
            self.politeness(),
            self.limits,
            "PRS",
            lambda url: False,
            given_up=Excuses(self.judge),
            denied=Excuses(self.judge),
            stopped=Excuses(self.judge),
        )
        self.runner = InProcessRunner(
            CRAWL,
            self.crawl.make,
            partitions=self.partitions,
            choose=random.Random(self.random.random()).randrange,
            capacity=4,
            batch=3,
        )
        self.was_fetching = False
        # As a process does that finds a list on its disk.
        self.slices = slices_of(self.ledger, self.orders, self.round)
        scope = self.crawl.scope
        self.judge.units = {job.unit: job.number for job in scope.jobs.values()}
        self.judge.done = set(scope.finished)

    def politeness(self) -> Politeness:
        return Politeness(
            interval_s=self.judge.interval_s,
            fast_interval_s=INTERVAL_S / 4,  # for hosts that send faster than any of these
            times_last=self.judge.times_last,
            burst=self.judge.burst,
        )

    def tick(self, seconds: float) -> None:
        self.clock.now_s += seconds + self.late_s
        self.runner.run_until_settled()
        fetching = self.permitted and not self.crawl.paused
        epoch_ms = self.clock.epoch_ms()
        passed_s = max(self.clock.now_s - self.ticked_s, (epoch_ms - self.ticked_ms) / 1000)
        if fetching and (passed_s > LIMITS.gap_s or not self.was_fetching):
            self.judge.resumes()
        self.was_fetching = fetching
        self.ticked_s, self.ticked_ms = self.clock.now_s, epoch_ms
        self.judge.fetching, self.judge.ticked_s = fetching, self.clock.now_s
        self.runner.tick(Tick(self.clock.now_s, self.clock.epoch_ms(), fetching))
        self.reports.check_closed()

    @rule(
        units=st.sets(st.sampled_from(UNITS)),
        probes=st.sets(st.sampled_from(UNITS)),
        new_round=st.booleans(),
        starts=st.sets(st.sampled_from(STARTS)),
    )
    def new_list(
        self, units: set[str], probes: set[str], new_round: bool, starts: Collection[str] = ()
    ) -> None:
        """The manager changes the list, and it is taken to its end."""
        self.begin_list(units, probes, new_round, starts)
        self.take_slices(1000)

    @rule(
        units=st.sets(st.sampled_from(UNITS)),
        probes=st.sets(st.sampled_from(UNITS)),
        new_round=st.booleans(),
        starts=st.sets(st.sampled_from(STARTS)),
    )
    def begin_list(
        self, units: set[str], probes: set[str], new_round: bool, starts: Collection[str] = ()
    ) -> None:
        """The manager changes the list; an agent that was about to take one takes this one."""
        self.round += new_round
        orders = [
            Order(
                unit,
                max_transfer=4 * (unit in probes),
                interval_ms=round(1000 * self.judge.unit_delays_s.get(unit, 0)) or None,
                starts=_starts_in(unit, starts),
            )
            for unit in sorted(units)
        ]
        self.orders = tuple(orders)
        self.slices = slices_of(self.ledger, orders, self.round)

    @rule(count=st.integers(1, 8))
    def take_slices(self, count: int) -> None:
        """Some slices of the list are taken."""
        for one in islice(self.slices, count):
            before = {job.unit: job.number for job in self.crawl.scope.jobs.values()}
            done = self.judge.done
            begun = {job.unit: 0 for job, _ in one.begun}
            self.judge.units = before | begun
            self.judge.done -= begun.keys()
            self.runner.post("seed.list", one)
            self.runner.run_until_settled()
            scope = self.crawl.scope
            for job in one.altered:
                if job.unit in done and job.unit not in scope.finished:
                    self.reports.reopened(job.number)
            if one.last:
                self.check_units({order.url for order in self.orders})
            self.judge.units = {job.unit: job.number for job in scope.jobs.values()}
            self.judge.done = set(scope.finished)
            self.reports.check_closed()

    def check_units(self, listed: set[str]) -> None:
        """The list's units are held, and what is done of its round and may return: crawls, and
        probes that a crawl may continue.
        """
        jobs, finished = self.crawl.scope.jobs, self.crawl.scope.finished
        assert listed <= set(jobs)
        for unit in set(jobs) - listed:
            job = jobs[unit]
            assert (job.round, unit in finished) == (self.round, True)
            assert job.kind == "crawl" or self.ledger.may_reopen(job.number)

    @rule(seconds=st.sampled_from([0.0, 0.3, 1.0, 7.0, 20.0, 21.0, 59.0, 400.0]))
    def time_passes(self, seconds: float) -> None:
        """The loop ticks."""
        self.tick(seconds)

    @rule(seconds=st.sampled_from([-4000.0, 2.0, 61.0, 30_000.0]))
    def machine_sleeps(self, seconds: float) -> None:
        """The wall clock goes on while the other one stands still; or somebody sets it back."""
        self.clock.asleep_s += seconds
        if seconds:
            self.judge.wall_clock_jumps()

    @rule(interval_s=st.sampled_from([INTERVAL_S, 2 * INTERVAL_S]))
    def settings_change(self, interval_s: float) -> None:
        """The manager asks for another interval while the crawl goes on."""
        self.runner.run_until_settled()
        self.judge.retune(interval_s)
        self.crawl.retune(self.politeness(), self.limits, lambda url: False)

    @rule(
        count=st.integers(1, 40),
        seconds=st.sampled_from([1.0, 10.0, 20.0]),
        asleep_s=st.sampled_from([0.0, 0.0, 61.0]),
    )
    def all_goes_well(self, count: int, seconds: float, asleep_s: float) -> None:
        """For a while, everything is done at once; the machine may sleep in between."""
        for number in range(count):
            while self.complete_one("answered"):
                pass
            if number == count // 2:
                self.machine_sleeps(asleep_s)
            self.tick(seconds)

    def complete_one(self, outcome: Outcome | None) -> bool:
        doors = [
            *(["look up"] * len(self.resolver.waiting)),
            *(["page"] * len(self.worker.waiting)),
            *(["fetch"] * len(self.fetcher.flights)),
        ]
        if not doors:
            return False
        match self.random.choice(doors):
            case "look up":
                self.resolver.answer(self.choose([host for host, _ in self.resolver.waiting]))
            case "page":
                pages = [page.url for page, _ in self.worker.waiting]
                self.worker.answer(self.choose(pages))
            case _:
                chosen = self.choose([flight.request.url for flight in self.fetcher.flights])
                self.fetcher.answer(chosen, None if outcome == "answered" else outcome)
        return True

    def choose(self, names: list[str]) -> int:
        """Choose one by its name, so that the choice is the same in whichever order they came."""
        return names.index(self.random.choice(sorted(names)))

    @rule(count=st.integers(1, 5), outcome=st.sampled_from(ENDS))
    def some_is_done(self, count: int, outcome: Outcome) -> None:
        """Some of what is under way outside comes back, in any order, between two ticks."""
        for _ in range(count):
            self.complete_one(outcome)
        self.runner.run_until_settled()

    @rule(count=st.integers(1, 40))
    def our_network_fails(self, count: int) -> None:
        """For a while nobody answers: several addresses that did, or the only one."""
        for _ in range(count):
            while self.complete_one("timeout"):
                pass
            self.tick(40.0)

    @rule()
    def permit_changes(self) -> None:
        """The permit is lost, or comes back."""
        self.permitted = not self.permitted

    @rule(
        host=st.sampled_from(UNITS[:4]),
        addresses=st.permutations(ADDRESSES),
        count=st.integers(0, 2),
    )
    def host_moves(self, host: str, addresses: list[str], count: int) -> None:
        """A name leads elsewhere, or nowhere, from the next look-up on."""
        self.addresses[host] = tuple(addresses[:count])

    @rule()
    def commit(self) -> None:
        """The loop commits."""
        self.runner.run_until_settled()
        self.ledger.commit()

    @rule(seconds=st.sampled_from([0.0, 5.0, 100.0]))
    def crash(self, seconds: float) -> None:
        """kill -9, and a new process."""
        self.judge.crash()
        self.ledger = self.ledger.after_crash()
        self.reports.crash()
        self.clock.now_s += seconds
        self.boot()

    @precondition(lambda self: hasattr(self, "runner"))
    @invariant()
    def mailboxes_are_bounded(self) -> None:
        """No mailbox grows beyond its capacity and what one batch makes of itself."""
        for module, greatest in self.runner.greatest_mailboxes().items():
            assert greatest <= 4 + 3 * 40, f"{module}: {greatest}"

    def teardown(self) -> None:
        """In the end, everything that is in force gets done."""
        if not hasattr(self, "runner"):
            return
        self.permitted = True
        self.take_slices(1000)
        for host, address in zip(UNITS[:4], ADDRESSES, strict=True):
            self.addresses[host] = (address,)
        self.web["http://e.example/robots.txt"] = Page(status=404)
        # A day and more: a rest that a restart found may be so long, where a clock was set back.
        for _ in range(4000):
            while self.complete_one("answered"):
                pass
            self.runner.run_until_settled()
            self.tick(25.0)
            if not self.fetcher.flights and not self.left:
                break
        assert not self.left, (self.left, self.crawl.state())
        assert self.crawl.state().under_way == 0
        for row in self.ledger.jobs():
            assert row.job.number in {unit.job for unit in self.reports.units}
        # A list that ends all jobs closes all of them: those that are done stay for their round.
        numbers = {row.job.number for row in self.ledger.jobs()}
        self.new_list(set(), set(), True)
        assert not self.ledger.jobs()
        assert numbers <= {unit.job for unit in self.reports.quiet}

    @property
    def left(self) -> list[str]:
        return [row.job.unit for row in self.ledger.jobs() if not row.finished]


def _starts_in(unit: str, urls: Collection[str]) -> tuple[tuple[str, None], ...]:
    """Return the start pages of a whole host, as its order has them."""
    top = unit.removesuffix(":80/")
    return tuple((url.removeprefix(top), None) for url in sorted(urls) if url.startswith(f"{top}/"))


def live(seed: int, in_memory: int, parallel: int = PARALLEL, late_s: float = 0.0) -> AnyOrder:
    """Lead a long life in which all happens that can."""
    choose = random.Random(seed)
    life = AnyOrder()
    life.begin(seed % 2 > 0, seed, (1, 3, 0)[seed % 3], 10.0, in_memory, parallel, late_s)
    life.new_list(set(UNITS), set(), False)
    for _ in range(40):
        match choose.randrange(12):
            case 0:
                units = {unit for unit in UNITS if choose.random() < 0.7}
                probes = {unit for unit in UNITS if choose.random() < 0.2}
                starts = [url for url in STARTS if choose.random() < 0.5]
                life.begin_list(units, probes, choose.random() < 0.3, starts)
                life.take_slices(choose.choice([0, 1, 2, 4, 1000]))
            case 1 if choose.random() < 0.5:
                life.take_slices(choose.choice([1, 2, 4]))
            case 1:
                life.permit_changes()
                life.tick(1.0)
            case 2:
                life.host_moves(
                    choose.choice(UNITS[:4]), choose.sample(ADDRESSES, 4), choose.choice([1, 1, 2])
                )
            case 3:
                life.settings_change(choose.choice([INTERVAL_S, 2 * INTERVAL_S]))
            case 4:
                life.commit()
                life.crash(choose.choice([0.0, 5.0, 100.0]))
            case 5:
                life.machine_sleeps(choose.choice([-4000.0, 2.0, 61.0]))
            case 6 | 7:
                life.some_is_done(choose.randint(1, 5), choose.choice(ENDS))
                life.time_passes(choose.choice([0.0, 0.3, 7.0, 21.0, 59.0, 400.0]))
            case _:
                life.permitted = True
                seconds, asleep_s = choose.choice([1.0, 10.0, 20.0]), choose.choice([0.0, 61.0])
                life.all_goes_well(choose.randint(1, 30), seconds, asleep_s)
    return life

"""Names to addresses: at once where they are known, in the background where they are old."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from agent.modules.dns.resolve import ASKED_AHEAD, NOWHERE, Resolve
from agent.modules.limits import CrawlLimits
from agent.pipeline.handler import Output
from agent.pipeline.ledger import JobRow
from agent.pipeline.messages.hosts import (
    HostBegun,
    HostFailed,
    HostFound,
    LookUp,
    Moved,
    Placed,
    Unreached,
)
from agent.pipeline.messages.jobs import Job, ListChanged
from agent.pipeline.messages.pages import Candidate
from agent.pipeline.messages.requests import Tick
from agent.pipeline.messages.robots import RulesFetched, RulesRedirected
from agent.pipeline.partition import Partition
from agent.pipeline.shared_addresses import SharedRule, SharedRules
from shared.host_failures import LOOK_UP_FAILURES, HostFailure
from tests.agent.fakes import FakeClock, FakeLedger, FakeResolver, handle

A, B = "http://a.example:80/", "http://b.example:80/"
LIMITS = CrawlLimits(ttl_least_s=100, refresh_s=1000, lookup_retry_s=30, stale_s=5000)


class Office:
    """A resolve module, and the look-ups that it asks for."""

    def __init__(self, *rows: JobRow, limits: CrawlLimits = LIMITS) -> None:
        self.clock = FakeClock()
        self.resolver = FakeResolver()
        self.resolver.ttl_s = 200.0
        self.answers: list[LookUp] = []
        self.shared: SharedRules = {}
        self.begins = True  # whether the frontier takes up at once what is placed
        self.module = Resolve(
            ledger_of(rows),
            self.resolver,
            self.clock,
            limits,
            Partition(),
            self.answers.append,
            lambda: self.shared,
        )

    def see(self, *hosts: str, job: int = 1) -> list[Output]:
        batch = [Candidate(f"{host}x", host, job, 1, 0, None) for host in hosts]
        return self.begin(list(self.module.handle_candidates(batch)))

    def begin(self, outputs: list[Output]) -> list[Output]:
        """Take up what was placed, as the frontier does once there is a place."""
        for port, message in outputs if self.begins else ():
            if isinstance(message, Placed) and port == "placed":
                begun = HostBegun(message.host, message.address, (message.job,))
                assert not list(self.module.handle_begun([begun]))
        return outputs

    def answer(self) -> list[Output]:
        """Answer all look-ups that are under way, and those that follow from it."""
        outputs: list[Output] = []
        while self.resolver.waiting:
            self.resolver.answer()
            answers, self.answers[:] = list(self.answers), []
            outputs += self.begin(list(self.module.handle_answer(answers)))
        return outputs

    def tick(self, seconds: float = 0.0) -> list[Output]:
        self.clock.now_s += seconds
        return self.begin(list(self.module.handle_tick([Tick(self.clock.now_s, 0, True)])))

    def tell(self, port: str, message: object) -> list[Output]:
        return handle(self.module, port, message)


def of(outputs: Iterable[Output], port: str) -> list[object]:
    return [message for name, message in outputs if name == port]


def ledger_of(rows: Iterable[JobRow]) -> FakeLedger:
    ledger = FakeLedger()
    for one in rows:
        ledger.open_job(one.job)
        ledger.place_job(one.job.number, one.host, one.address)
        if one.finished:
            ledger.finish_job(one.job.number)
    return ledger


def row(job: int, host: str, address: str = "", finished: bool = False) -> JobRow:
    return JobRow(Job(job, host, "crawl", 1), host if address else "", address, 0, 0, 0, finished)


def test_a_new_host_is_looked_up_once() -> None:
    """Its candidates wait on disk; one message a job says that they have an address."""
    office = Office()
    assert office.see(A, A) == []
    assert office.see(A, job=2) == []
    outputs = office.answer()
    assert office.resolver.asked == [A]
    assert of(outputs, "found") == [HostFound(A, ("192.0.2.1",))]
    assert of(outputs, "placed") == [Placed(1, A, "192.0.2.1"), Placed(2, A, "192.0.2.1")]


def test_a_known_host_passes_at_once() -> None:
    """A candidate of a host with an address waits for nothing, and a batch makes one message."""
    office = Office()
    office.see(A)
    office.answer()
    assert office.see(A, A, A) == [("placed", Placed(1, A, "192.0.2.1"))]
    assert office.resolver.asked == [A]


def test_an_old_address_serves_while_it_is_looked_up() -> None:
    """After its time the name is asked again in the background."""
    office = Office()
    office.see(A)
    office.answer()
    office.clock.now_s += 201
    assert office.see(A) == [("placed", Placed(1, A, "192.0.2.1"))]
    assert office.resolver.asked == [A, A]
    assert of(office.answer(), "moved") == []


def test_a_list_that_turns_round_moves_nobody() -> None:
    """As long as the address in use is among the answer, the host stays where it is."""
    office = Office()
    office.resolver.addresses[A] = ("192.0.2.1", "192.0.2.2")
    office.see(A)
    office.answer()
    office.resolver.addresses[A] = ("192.0.2.2", "192.0.2.1")
    office.clock.now_s += 201
    office.see(A)
    outputs = office.answer()
    assert of(outputs, "moved") == []
    assert of(outputs, "found") == [HostFound(A, ("192.0.2.2", "192.0.2.1"))]


def test_another_address_moves_the_host() -> None:
    """An answer without the address in use moves the host, and new candidates go there."""
    office = Office()
    office.see(A)
    office.answer()
    office.resolver.addresses[A] = ("192.0.2.9",)
    office.clock.now_s += 201
    office.see(A)
    outputs = office.answer()
    assert of(outputs, "moved") == [Moved(A, "192.0.2.9", "192.0.2.1")]
    assert of(outputs, "placed") == []
    assert office.see(A) == [("placed", Placed(1, A, "192.0.2.9"))]


def test_sites_of_shared_addresses_are_spread_over_them_by_domain() -> None:
    """Hosts of one domain are asked at one; an address that is not shared is nobody's choice."""
    office = Office()
    office.shared = {one: SharedRule(100) for one in ("192.0.2.1", "192.0.2.2")}
    hosts = [f"http://{name}.d{n}.jp:80/" for n in range(20) for name in ("www", "blog")]
    for host in hosts:
        office.resolver.addresses[host] = ("192.0.2.1", "192.0.2.2", "192.0.2.3")
    placed = []
    for host in hosts:
        office.see(host)
        placed += [one.address for _, one in office.answer() if isinstance(one, Placed)]
    assert len(placed) == len(hosts)
    assert placed[::2] == placed[1::2]
    assert set(placed) == {"192.0.2.1", "192.0.2.2"}
    office.resolver.addresses[A] = ("192.0.2.0", "192.0.2.1", "192.0.2.2")
    office.see(A)
    (found,) = (one for _, one in office.answer() if isinstance(one, Placed))
    assert found.address == "192.0.2.0"


def test_a_host_that_is_not_reached_goes_to_its_next_address() -> None:
    """Each of its addresses is left once; at the last one it stays, and is given up there."""
    office = Office()
    office.resolver.addresses[A] = tried = ("192.0.2.1", "192.0.2.2", "2001:db8::1")
    office.see(A)
    office.answer()
    # What else a name has is not remembered for hosts that wait: it is asked for again.
    assert office.tell("unreached", Unreached(A, tried[0])) == []
    assert of(office.answer(), "moved") == [Moved(A, tried[1], tried[0])]
    assert office.see(A) == [("placed", Placed(1, A, tried[1]))]
    assert office.tell("unreached", Unreached(A, tried[0])) == []  # it has left it
    assert office.tell("unreached", Unreached(A, tried[1])) == [
        ("moved", Moved(A, tried[2], tried[1]))
    ]
    assert office.tell("unreached", Unreached(A, tried[2])) == []
    assert office.resolver.asked == [A, A]
    office.clock.now_s += 201
    office.see(A)
    assert of(office.answer(), "moved") == []


def test_an_address_that_is_new_to_a_name_is_tried() -> None:
    """Where all others were left in vain, the next look-up may bring one that was not."""
    office = Office()
    office.see(A)
    office.answer()
    office.tell("unreached", Unreached(A, "192.0.2.1"))
    assert of(office.answer(), "moved") == []
    office.resolver.addresses[A] = ("192.0.2.1", "192.0.2.7")
    office.clock.now_s += 201
    office.see(A)
    assert of(office.answer(), "moved") == [Moved(A, "192.0.2.7", "192.0.2.1")]


def test_a_proxy_that_is_not_reached_is_no_hosts_fault() -> None:
    """Where a name stands for the address there is no other; nobody is asked."""
    office = Office()
    office.resolver.addresses[A] = ("//a.example",)
    office.see(A)
    office.answer()
    assert office.tell("unreached", Unreached(A, "//a.example")) == []
    assert office.resolver.asked == [A]


def test_times_to_live_are_kept_within_reason() -> None:
    """A name that says 0 is not asked for every page, one that says a year is asked daily."""
    office = Office()
    office.resolver.ttl_s = 0
    office.see(A)
    office.answer()
    office.clock.now_s += 99
    office.see(A)
    assert office.resolver.asked == [A]
    office.clock.now_s += 2
    office.resolver.ttl_s = 1e9
    office.see(A)
    office.answer()
    office.clock.now_s += 86401
    office.see(A)
    assert office.resolver.asked == [A, A, A]


def test_a_host_without_new_pages_is_looked_up_rarely() -> None:
    """While only old URLs are fetched, the name is still watched, but not as often as it says."""
    office = Office()
    office.see(A)
    office.answer()
    office.tick()
    office.tick(999)
    assert office.resolver.asked == [A]
    office.tick(2)
    assert office.resolver.asked == [A, A]


def test_hosts_of_jobs_that_are_done_are_left_alone() -> None:
    """A host is not looked up again when nothing of it will be fetched."""
    office = Office()
    office.see(A)
    office.answer()
    office.tell("changed", ListChanged(done=(Job(1, A, "crawl", 1),)))
    office.tick()
    office.tick(100_000)
    assert office.resolver.asked == [A]


def test_a_host_without_work_leaves_16_bytes() -> None:
    """A unit that comes again in a new round finds its address, without a question, for a while."""
    office = Office()
    for number in range(50):
        office.see(f"http://h{number}.example:80/", job=number)
    office.answer()
    jobs = [Job(number, f"http://h{number}.example:80/", "crawl", 1) for number in range(50)]
    office.tell("changed", ListChanged(done=tuple(jobs)))
    assert not office.module._hosts
    again = office.see("http://h7.example:80/", job=77)
    assert again == [("placed", Placed(77, "http://h7.example:80/", "192.0.2.1"))]
    assert len(office.resolver.asked) == 50
    office.clock.now_s += 201
    assert office.see("http://h8.example:80/", job=78) == []  # out of date: asked again
    assert len(office.resolver.asked) == 51


def test_an_address_from_memory_is_watched_as_any_other() -> None:
    """A host that was taken up from memory moves when its name leads elsewhere."""
    office = Office()
    office.see(A)
    office.answer()
    office.tell("changed", ListChanged(ended=(Job(1, A, "crawl", 1),)))
    office.see(A, job=2)
    office.resolver.addresses[A] = ("192.0.2.9",)
    office.tick()
    office.tick(1001)
    assert of(office.answer(), "moved") == [Moved(A, "192.0.2.9", "192.0.2.1")]


def test_no_such_name_fails_at_once_and_is_remembered() -> None:
    """A name that does not exist ends its host's jobs; for a while nobody asks again."""
    office = Office()
    office.resolver.addresses[A] = ()
    office.see(A)
    outputs = office.answer()
    assert of(outputs, "failed") == [HostFailed(A, "no such name")]
    assert of(outputs, "found") == [HostFound(A, ())]
    assert office.see(A) == [("failed", HostFailed(A, NOWHERE))]
    assert office.resolver.asked == [A]
    office.clock.now_s += 101
    office.resolver.addresses[A] = ("192.0.2.5",)
    assert office.see(A) == []
    assert of(office.answer(), "placed") == [Placed(1, A, "192.0.2.5")]


@pytest.mark.parametrize("failure", sorted(LOOK_UP_FAILURES))
def test_why_a_host_has_no_address_is_remembered_as_a_code(failure: HostFailure) -> None:
    """With the look-up, and as long as nobody asks again."""
    office = Office()
    office.see(A)
    answer = LookUp(A, (), 60.0, "in words", failure=failure)
    (failed,) = of(list(office.module.handle_answer([answer])), "failed")
    assert failed == HostFailed(A, "in words", failure)
    assert office.see(A) == [("failed", HostFailed(A, NOWHERE, failure))]


def test_hosts_about_which_nobody_answers_are_counted() -> None:
    """Until an answer, or until they are given up."""
    office = Office()
    office.resolver.addresses[A] = ()
    office.resolver.temporary.add(A)
    office.see(A)
    assert office.module.unanswered == 0
    office.answer()
    assert office.module.unanswered == 1
    office.resolver.addresses[A] = ("192.0.2.1",)
    office.resolver.temporary.clear()
    office.tick(1000)
    office.answer()
    assert office.module.unanswered == 0


def test_temporary_failures_are_tried_again() -> None:
    """When the servers do not answer, a name is asked again, each time later, then given up."""
    office = Office()
    office.resolver.addresses[A] = ()
    office.resolver.temporary.add(A)
    office.see(A)
    assert office.answer() == []
    office.tick()
    for wait_s in (30, 120, 480):
        assert office.tick(wait_s - 1) == []
        assert not office.resolver.waiting
        office.tick(1.1)
        assert len(office.resolver.waiting) == 1
        outputs = office.answer()
    assert of(outputs, "failed") == [HostFailed(A, "no such name")]
    assert len(office.resolver.asked) == 4


def test_an_outage_fails_no_host() -> None:
    """When no name at all can be looked up, it is our own network: everybody waits."""
    office = Office()
    hosts = [f"http://h{number}.example:80/" for number in range(6)]
    for host in hosts:
        office.resolver.addresses[host] = ()
        office.resolver.temporary.add(host)
    office.see(*hosts)
    outputs = office.answer()
    office.tick()
    for _ in range(40):
        office.tick(100)
        outputs += office.answer()
    assert of(outputs, "failed") == []
    for host in hosts:
        office.resolver.addresses[host] = ("192.0.2.8",)
    office.tick(2000)
    assert len(of(office.answer(), "placed")) == 6


def test_a_placed_host_outlives_its_name_for_a_while() -> None:
    """A name that cannot be looked up any more keeps its address for some hours, not for ever."""
    office = Office()
    office.see(A)
    office.answer()
    office.resolver.addresses[A] = ()
    office.tick()
    office.tick(4000)
    assert office.answer() == []
    assert office.see(A) == [("placed", Placed(1, A, "192.0.2.1"))]
    outputs: list[Output] = []
    for _ in range(10):
        outputs += office.tick(1000)
        outputs += office.answer()
    assert of(outputs, "moved") == [Moved(A, "", "192.0.2.1", "no such name")]


def test_few_questions_at_a_time() -> None:
    """A list of many hosts does not flood the site's resolver."""
    office = Office(limits=replace(LIMITS, lookups=3))
    office.see(*(f"http://h{number}.example:80/" for number in range(10)))
    assert len(office.resolver.waiting) == 3
    assert office.module.waiting == 10
    assert len(of(office.answer(), "placed")) == 10
    assert office.module.waiting == 0


def test_a_restart_takes_up_unplaced_jobs() -> None:
    """After a restart unplaced jobs get an address; placed ones are watched once they begin."""
    office = Office(row(1, A), row(2, B, "192.0.2.7"), row(3, "http://c.example:80/", "", True))
    assert office.resolver.asked == []  # nobody listens yet
    office.tick()
    assert office.resolver.asked == [A]
    assert of(office.answer(), "placed") == [Placed(1, A, "192.0.2.1")]
    assert office.see(B, job=2) == [("placed", Placed(2, B, "192.0.2.7"))]
    assert office.resolver.asked == [A, B]
    assert of(office.answer(), "moved") == [Moved(B, "192.0.2.1", "192.0.2.7")]


def test_who_waits_is_placed_where_the_host_begins_before_its_look_up_is_over() -> None:
    """After a restart one unit of a host may have its address, and another wait for it."""
    office = Office(row(1, A, "192.0.2.7"), row(2, A + "x/"))
    office.tick()
    assert office.resolver.asked == [A]
    begun = office.tell("begun", HostBegun(A, "192.0.2.7", (1,)))
    assert begun == [("placed", Placed(2, A, "192.0.2.7"))]
    answered = office.answer()
    assert of(answered, "moved") == [Moved(A, "192.0.2.1", "192.0.2.7")]
    assert not of(answered, "placed")


def test_who_waits_for_a_place_is_no_object_here() -> None:
    """A placed host is known by the ledger and the cache alone, until the frontier begins it."""
    hosts = [f"http://h{number}.example:80/" for number in range(50)]
    office = Office(*(row(number, host) for number, host in enumerate(hosts, 1)))
    office.begins = False
    office.tick()
    assert len(of(office.answer(), "placed")) == 50
    assert not office.module._hosts
    assert not len(office.module._again)
    office.tick(100_000)
    assert len(office.resolver.asked) == 50, "nobody is watched who is not crawled"


def test_of_a_long_list_few_wait_in_memory() -> None:
    """Hosts beyond those that will soon be asked for stay in the ledger, and get their turn."""
    hosts = [f"http://h{number}.example:80/" for number in range(3 * ASKED_AHEAD)]
    office = Office(*(row(number, host) for number, host in enumerate(hosts, 1)))
    office.begins = False
    placed: set[object] = set()
    for number, host in enumerate(hosts, 1):
        office.see(host, job=number)
        assert len(office.module._hosts) <= ASKED_AHEAD + LIMITS.lookups
    while len(placed) < len(hosts):
        office.tick()
        placed.update(of(office.answer(), "placed"))
        assert len(office.module._hosts) <= ASKED_AHEAD + LIMITS.lookups
    assert sorted(office.resolver.asked) == sorted(hosts)


def test_a_partition_takes_up_its_own_hosts_only() -> None:
    """With several partitions each host of the ledger is looked up by one of them."""
    hosts = [f"http://h{number}.example:80/" for number in range(20)]
    asked: list[str] = []
    for number in (0, 1):
        resolver, clock = FakeResolver(), FakeClock()
        rows = [row(index + 1, host) for index, host in enumerate(hosts)]
        module = Resolve(
            ledger_of(rows), resolver, clock, LIMITS, Partition(number, 2), lambda answer: None
        )
        list(module.handle_tick([Tick(1, 0, True)]))
        asked += resolver.asked
    assert sorted(asked) == sorted(hosts)


def test_redirects_of_robots_txt_get_an_address() -> None:
    """The host behind a redirect is looked up like any other; without an address it is lost."""
    office = Office()
    redirect = RulesRedirected(A, B, "http://b.example/robots.txt", 1, 3, "crawl")
    assert office.tell("rules", redirect) == []
    assert of(office.answer(), "rules") == [replace(redirect, address="192.0.2.1")]
    assert office.tell("rules", redirect) == [("rules", replace(redirect, address="192.0.2.1"))]
    office.resolver.addresses["http://gone.example:80/"] = ()
    office.tell("rules", replace(redirect, host="http://gone.example:80/"))
    lost = RulesFetched(A, "", 0, b"", "http://gone.example:80/: no such name")
    assert of(office.answer(), "rules_lost") == [lost]


def test_late_answers_disturb_nobody() -> None:
    """A host whose jobs left the list before its look-up was answered is forgotten."""
    office = Office()
    office.see(A)
    office.tell("changed", ListChanged(ended=(Job(1, A, "crawl", 1),)))
    assert of(office.answer(), "placed") == []

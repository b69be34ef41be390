"""A host changes its address: nothing is fetched twice or at two places, and the rest restarts."""

from __future__ import annotations

import pytest

from agent.modules.counts import StopCounts
from agent.modules.frontier import Frontier
from agent.modules.limits import CrawlLimits, Politeness
from agent.modules.server_list.scope import scope_of
from agent.pipeline.handler import Output
from agent.pipeline.ledger import QueuedUrl
from agent.pipeline.messages.hosts import HandedOver, Moved, Placed
from agent.pipeline.messages.jobs import Job, ListChanged, UnitClosed, UnitFinished
from agent.pipeline.messages.requests import Due, Tick
from agent.pipeline.messages.robots import RulesDue, RulesKnown
from agent.pipeline.partition import Partition, partition_of
from tests.agent.fakes import FakeLedger, handle
from tests.agent.modules.answers import ended, kept

HOST = "http://a.example:80/"
JOB = Job(1, HOST, "crawl", 1)
OTHER = Job(2, HOST + "dir/", "crawl", 1)


def address_in(partition: int, skip: int = 0) -> str:
    """Return an address that the partition with this number of two holds."""
    names = [f"192.0.2.{number}" for number in range(1, 100)]
    return [name for name in names if partition_of(name, 2) == partition][skip]


OLD, NEW, THIRD = address_in(0), address_in(1), address_in(0, 1)


class Pair:
    """Both partitions of a frontier on one ledger; messages go where the runner would send them."""

    def __init__(self) -> None:
        self.ledger = FakeLedger()
        for job in (JOB, OTHER):
            self.ledger.open_job(job)
            urls = [f"{job.unit.replace(':80', '')}{number}" for number in range(3)]
            self.ledger.add_new(job.number, urls)
            self.ledger.push(QueuedUrl(0, url, job.number, 1, 0, None) for url in urls)
        self.now_s = 1000.0
        self.out: list[Output] = []
        self.scope = scope_of(self.ledger)
        self.parts = [
            Frontier(
                self.ledger,
                self.scope,
                Politeness(times_last=0),
                CrawlLimits(),
                Partition(number, 2),
                StopCounts(),
                StopCounts(),
            )
            for number in (0, 1)
        ]

    def to(self, port: str, message: object) -> list[Output]:
        """Send a message to its partition, and follow what is handed over."""
        address = getattr(message, "address", "")
        outputs = self.to_part(partition_of(address, 2), port, message)
        for _ in range(5):
            handed = [one for name, one in outputs if name == "handed"]
            outputs = [output for output in outputs if output[0] != "handed"]
            for one in handed:
                outputs += self.to("handed", one)
        return outputs

    def to_part(self, part: int, port: str, message: object) -> list[Output]:
        outputs = handle(self.parts[part], port, message)
        self.out += outputs
        return outputs

    def to_all(self, port: str, message: object) -> list[Output]:
        outputs: list[Output] = []
        both = [output for part in (0, 1) for output in self.to_part(part, port, message)]
        for name, one in both:
            outputs += self.to("handed", one) if name == "handed" else [(name, one)]
        return outputs

    def tick(self, seconds: float = 0.0) -> list[Output]:
        self.now_s += seconds
        return self.to_all("tick", Tick(self.now_s, int(self.now_s * 1000), True))

    def wait_for_turn(self) -> list[Output]:
        """Let time pass until something has its turn."""
        for _ in range(10):
            outputs = [(port, one) for port, one in self.tick(20.0) if port != "begun"]
            if outputs:
                return outputs
        return []

    def begin(self, address: str) -> Due:
        """Bring the host to an address, and its first page to the network."""
        self.to_all("changed", ListChanged((JOB, OTHER)))
        self.to("placed", Placed(1, HOST, address))
        self.tick()
        ((port, rules),) = self.wait_for_turn()
        assert port == "rules_due"
        assert isinstance(rules, RulesDue)
        self.end(rules)
        self.to_all("rules_known", RulesKnown(HOST, address, 1e9, None))
        return self.next_due()

    def next_due(self) -> Due:
        ((port, due),) = self.wait_for_turn()
        assert port == "due"
        assert isinstance(due, Due)
        return due

    def end(self, due: Due | RulesDue) -> list[Output]:
        return self.to("ended", ended(due, ended_s=self.now_s))

    def keep(self, due: Due) -> list[Output]:
        self.end(due)
        return self.to("kept", kept(due.url, HOST, due.address, due.job))

    @property
    def handed(self) -> list[HandedOver]:
        return [one for name, one in self.out if isinstance(one, HandedOver)]


def test_the_rest_that_a_host_asks_for_moves_with_it() -> None:
    """Its Crawl-delay counts from its last page, at whichever address that was."""
    pair = Pair()
    due = pair.begin(OLD)
    pair.to_all("rules_known", RulesKnown(HOST, OLD, 1e9, 50.0))
    pair.keep(due)
    last_s = pair.now_s
    pair.to_all("moved", Moved(HOST, NEW, OLD))
    assert pair.handed == [HandedOver(HOST, NEW, (JOB,), last_s + 50.0)]
    pair.to_all("moved", Moved(HOST, THIRD, NEW))
    assert pair.handed[-1].not_before_s == last_s + 50.0


def test_a_host_moves_when_nothing_is_under_way() -> None:
    """The old address gives it no more turns; the new one begins with its rest and the rules."""
    pair = Pair()
    due = pair.begin(OLD)
    assert pair.to_all("moved", Moved(HOST, NEW, OLD)) == []
    assert pair.tick(100.0) == []
    pair.end(due)
    assert pair.handed == []  # fetched, but not kept
    pair.to("kept", kept(due.url, HOST, OLD))
    assert pair.handed == [HandedOver(HOST, NEW, (JOB,))]
    row = pair.ledger.job(1)
    assert row is not None
    assert row.address == NEW
    assert pair.tick(1.0) == []
    ((port, rules),) = pair.wait_for_turn()
    assert port == "rules_due"
    assert isinstance(rules, RulesDue)
    assert rules.address == NEW
    pair.end(rules)
    pair.to_all("rules_known", RulesKnown(HOST, NEW, 1e9, None))
    seen = due.url
    assert pair.next_due().url != seen


def test_new_jobs_wait_for_the_host() -> None:
    """A job that is placed at the new address begins only when the host has come."""
    pair = Pair()
    due = pair.begin(OLD)
    pair.to_all("moved", Moved(HOST, NEW, OLD))
    pair.to("placed", Placed(2, HOST, NEW))
    assert pair.tick(100.0) == []
    pair.keep(due)
    assert pair.parts[1].state().jobs == 2
    assert pair.parts[0].state().jobs == 0


def test_a_host_that_nobody_has_comes_at_once() -> None:
    """If the old address holds nothing of it, the new one need not wait."""
    pair = Pair()
    pair.to_all("changed", ListChanged((JOB, OTHER)))
    pair.to_all("moved", Moved(HOST, NEW, OLD))
    assert pair.handed == [HandedOver(HOST, NEW, ())]
    pair.to("placed", Placed(1, HOST, NEW))
    assert pair.parts[1].state().jobs == 1


def test_it_may_move_back_before_it_has_left() -> None:
    """A host that comes back while the old address still holds it simply goes on."""
    pair = Pair()
    due = pair.begin(OLD)
    pair.to_all("moved", Moved(HOST, NEW, OLD))
    pair.to("placed", Placed(2, HOST, NEW))
    pair.to_all("moved", Moved(HOST, OLD, NEW))
    pair.keep(due)
    assert pair.handed == [HandedOver(HOST, OLD, (OTHER,))]
    assert pair.parts[0].state().jobs == 2
    assert pair.next_due().address == OLD


def test_it_may_move_on_before_it_has_left() -> None:
    """A host that moves twice goes to the last address, with all its jobs."""
    pair = Pair()
    due = pair.begin(OLD)
    pair.to_all("moved", Moved(HOST, NEW, OLD))
    pair.to("placed", Placed(2, HOST, NEW))
    pair.to_all("moved", Moved(HOST, THIRD, NEW))
    pair.keep(due)
    assert pair.parts[0].state().jobs == 2
    assert pair.parts[1].state().jobs == 0
    for number in (1, 2):
        row = pair.ledger.job(number)
        assert row is not None
        assert row.address == THIRD


def test_it_may_move_on_while_it_is_between() -> None:
    """Who does not get the host any more passes it on when it comes."""
    pair = Pair()
    due = pair.begin(OLD)
    pair.to_part(1, "moved", Moved(HOST, NEW, OLD))
    pair.to_part(1, "moved", Moved(HOST, THIRD, NEW))
    pair.to_part(0, "moved", Moved(HOST, NEW, OLD))
    pair.end(due)
    ((port, handed),) = pair.to_part(0, "kept", kept(due.url, HOST, OLD))
    assert (port, handed) == ("handed", HandedOver(HOST, NEW, (JOB,)))
    pair.to_part(0, "moved", Moved(HOST, THIRD, NEW))
    pair.to("handed", handed)
    assert pair.parts[0].state().jobs == 1
    row = pair.ledger.job(1)
    assert row is not None
    assert row.address == THIRD


def test_a_host_without_an_address_any_more_ends() -> None:
    """Its jobs finish with the reason, once what is under way is kept."""
    pair = Pair()
    due = pair.begin(OLD)
    pair.to_all("moved", Moved(HOST, "", OLD, "no such name"))
    assert [port for port, _ in pair.tick()] == []
    pair.keep(due)
    finished = [one for _, one in pair.tick() if isinstance(one, UnitFinished)]
    assert [(one.job, one.reason, one.pages) for one in finished] == [
        (1, "unreachable: no such name", 1)
    ]


@pytest.mark.parametrize("when", ["leaving", "between"])
def test_a_job_that_ends_on_its_way_is_closed_once(when: str) -> None:
    """A list change in the middle of a move closes the job, by the old address or the new."""
    pair = Pair()
    due = pair.begin(OLD)
    pair.to_all("moved", Moved(HOST, NEW, OLD))
    pair.ledger.drop_job(JOB.number)
    pair.scope.units.end(JOB.unit)
    pair.scope.jobs.forget(JOB.number)
    change = ListChanged(ended=(JOB,))
    if when == "leaving":
        assert pair.to_all("changed", change) == []  # its request is under way
        assert pair.keep(due) == []
    else:
        pair.end(due)
        ((_, handed),) = pair.to_part(0, "kept", kept(due.url, HOST, OLD))
        assert pair.to_all("changed", change) == []
        pair.to("handed", handed)
    closed = [one for name, one in pair.out if name == "closed"]
    assert closed == [UnitClosed(1, HOST, HOST)]
    assert pair.parts[0].state().jobs == pair.parts[1].state().jobs == 0


def test_each_partition_recovers_its_own_hosts() -> None:
    """After a restart a job is taken up by the partition of its address, and by no other."""
    pair = Pair()
    pair.ledger.place_job(1, HOST, OLD)
    pair.ledger.place_job(2, HOST, NEW)
    pair.ledger.commit()
    again = pair.ledger.after_crash()
    jobs = [
        Frontier(
            again,
            scope_of(again),
            Politeness(),
            CrawlLimits(),
            Partition(number, 2),
            StopCounts(),
            StopCounts(),
        ).state()
        for number in (0, 1)
    ]
    assert [state.jobs for state in jobs] == [1, 1]
    assert [again.queued(number) for number in (1, 2)] == [3, 3]

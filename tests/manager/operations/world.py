"""A world in miniature: a manager's database, fake agents that follow the protocol, fake time.

`FakeAgent` does what `rights_model` asks of an agent and no more: it holds one list at
a time, acknowledges it when nothing else is under way, fetches only with a list and a permit
(counted from the sending of the sync), and fetches nothing again that it has finished, as long as
its lists name it, but says with each of them that it is finished. So what `World.fetchable` says of
two agents at once is what two real ones would believe.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field, replace

from manager.assignment.refetch_rules import DrawnPage, Refetched
from manager.db.engine import Database
from manager.db.hosts import address_rules
from manager.distance.line_sums import COUNTS, UnitSum
from manager.errors import PrsmError
from manager.operations.actor import Actor
from manager.operations.fleet.server_lists import current_list
from manager.operations.hosts.addresses import hosts_to_resolve, record_resolutions
from manager.operations.hosts.hosts import import_hosts
from manager.operations.identity.enrolment import AgentIdentity, enrol, issue_join_token
from manager.operations.logs.log_entry import accept_log
from manager.operations.logs.log_summary import CountedProbe, LogSummary
from manager.operations.planning.requested_probes import order_probes
from manager.operations.policy import Policy
from manager.operations.rounds.tick import TickOutcome, tick
from shared.wire.names import hash_of_key
from shared.wire.orders import ListHead, Order, OrderKind, orders
from shared.wire.sync import (
    FinishedUnit,
    HeldPermit,
    HostAddresses,
    HostRest,
    SharedAddress,
    SyncAnswer,
    SyncRequest,
)
from shared.wire.sync_json import json_of
from shared.wire.sync_reading import read_answer
from tests.manager.log_sums import unit_sum
from tests.manager.operations.syncs import sync

ADMIN = Actor("user", "hana", "request-1")

POLICY = Policy(
    permit_s=600,
    grace_s=60,
    plain_permit_s=7200,
    tick_s=5,
    max_tick_gap_s=60,
    sync_interval_s=60,
    probe_timeout_s=3000,
    plain_probe_timeout_s=9000,
    log_timeout_s=20,
    tick_batch_rows=50,
    parallel_probes=20,
    max_full_probe_pairs=2_000_000,  # all agents probe all hosts: tests say which do not
)

PROBED_PAGES, CRAWLED_PAGES = 10, 20
"""Of a unit, drawn from the log of a probe and of a whole crawl."""

MARGIN_MS = 30_000
"""One request deadline and one interval: so much earlier a permit is over at the agent."""


@dataclass(frozen=True)
class Work:
    """What a list says of a unit."""

    kind: str
    round: int
    max_transfer: int
    share: int = 0  # agents at once on its host
    only: tuple[str, ...] = ()  # pages to fetch again
    continues: int | None = None  # the oldest round whose work goes on
    probed: bool = False  # its own probe of the round counts

    @property
    def key(self) -> str:
        """Return what makes it another order for the same unit in the same round."""
        return " ".join((self.kind, *self.only))


@dataclass
class FakeAgent:
    """One agent: what is on its disk, and what its process knows."""

    identity: AgentIdentity
    speed: float = 1.0
    reopens: bool = False  # whether it continues a unit in the round that it finished it in
    starts: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of its list, by unit
    unit_rounds: bool = False  # whether a list may name a round of each unit
    continues_probes: bool = False  # whether a crawl begins where its probe ended
    refetches: bool = False  # whether it fetches pages again, and its own are drawn
    sees_bytes: int = 9_000  # of every page; a liar says what it likes
    crawl_delay_ms: int | None = None  # of every robots.txt; None: an agent before such reports
    shared_held: int | None = 0  # change of address rules in force; None: an agent before them
    # On disk.
    sequence: int = 0
    held: int = 0
    listed: dict[str, Work] = field(default_factory=dict)
    done: set[tuple[str, str, int]] = field(default_factory=set)
    unanswered: list[FinishedUnit] = field(default_factory=list)
    claims: dict[tuple[str, str, int], FinishedUnit] = field(default_factory=dict)
    lines: list[UnitSum] = field(default_factory=list)
    probes: dict[tuple[str, int], int] = field(default_factory=dict)  # pages, by unit and round
    probed: list[CountedProbe] = field(default_factory=list)
    drawn: list[DrawnPage] = field(default_factory=list)
    again: list[Refetched] = field(default_factory=list)
    outbox: list[LogSummary] = field(default_factory=list)
    shared: dict[str, SharedAddress] = field(default_factory=dict)
    reports: int = 0
    requests: int = 0
    # In memory.
    boots: int = 1
    permit_until_ms: int = 0
    epoch: int = 0
    sees: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return its name."""
        return self.identity.name

    def fetchable(self, now_ms: int) -> dict[str, Work]:
        """Return what it believes that it may fetch."""
        if now_ms >= self.permit_until_ms:
            return {}
        return {
            unit: work
            for unit, work in self.listed.items()
            if (unit, work.key, work.round) not in self.done
        }

    def reboot(self) -> None:
        """Start again: a permit does not outlive a process."""
        self.boots += 1
        self.permit_until_ms = 0

    def lose_disk(self) -> None:
        """Come back with a new disk and the same key; only the sequence was saved elsewhere."""
        self.reboot()
        self.held = 0
        self.listed, self.done, self.claims = {}, set(), {}
        self.unanswered, self.lines, self.outbox = [], [], []
        self.drawn, self.again = [], []
        self.probes, self.probed = {}, []
        self.shared = {}
        self.shared_held = None if self.shared_held is None else 0

    def rate_at(self, address: str) -> float:
        """Return how fast it may fetch from an address: 1 is one request in its interval."""
        told = self.shared.get(address)
        if told is None:
            return 1.0 if self.shared_held is not None else 2.0  # one before asks fast hosts faster
        return math.sqrt(told.domains) / told.shares


def changed_something(outcome: TickOutcome) -> bool:
    """Return whether a tick changed anything."""
    return any(astuple(outcome))


class World:
    """The manager's database with its agents, and a clock that only tests move."""

    def __init__(self, db: Database, policy: Policy = POLICY) -> None:
        self.db = db
        self.policy = policy
        self.true_ms = 1_000_000_000_000
        self.leapt_ms = 0
        self.follower_ms = 0
        self.epoch = 0
        self.agents: dict[str, FakeAgent] = {}
        self.address: dict[str, tuple[str, ...]] = {}
        self.sizes: dict[str, int] = {}  # of units, in pages of a KByte; others have 100
        self.crawled: Counter[tuple[str, int]] = Counter()  # crawls of (unit, round), by any agent
        self.rests: dict[str, list[HostRest]] = {}  # what hosts tell agents to wait

    @property
    def now_ms(self) -> int:
        """Return what the manager's clock shows."""
        return self.true_ms + self.leapt_ms

    @property
    def served_ms(self) -> int:
        """Return what the clock of the manager that agents reach shows, where it does not lead."""
        return self.now_ms + self.follower_ms

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.true_ms += round(seconds * 1000)

    def leap(self, seconds: float) -> None:
        """Let the manager's clock jump, while no time passes."""
        self.leapt_ms += round(seconds * 1000)

    def reach_follower(self, seconds: float) -> None:
        """Let agents reach a manager whose clock is so much ahead of the leader's; 0: the leader.

        It stays so until this is called again.
        """
        self.follower_ms = round(seconds * 1000)

    def join(
        self, *names: str, kind: str = "sync", speed: float = 1.0, key: str = "key of"
    ) -> None:
        """Let agents enrol and, where they sync, call for the first time.

        key: another word for who joins again, with another key.
        """
        for name in names:
            token = issue_join_token(self.db, name, ADMIN, self.now_ms).token
            key_hash = hash_of_key(f"{key} {name}")
            made = enrol(
                self.db, name, token, key_hash, self.now_ms, "plain" if kind == "plain" else "sync"
            )
            self.agents[name] = FakeAgent(made.agent, speed)
            if kind == "sync":
                self.sync(name)

    def hosts(self, *names: str, address: str | None = None) -> None:
        """Import hosts by name and resolve them: each at an address of its own, or all at one."""
        import_hosts(self.db, enumerate(names, 1), ADMIN, self.now_ms, self.policy)
        for name in names:
            self.address[f"http://{name}:80/"] = (address or _address(name),)
        self.resolve()

    def order_probes(self, *names: str) -> None:
        """Let a person order probes of hosts: a round orders none itself with a single agent."""
        for name in names:
            order_probes(self.db, ADMIN, self.now_ms, host=name, policy=self.policy)

    def resolve(self) -> int:
        """Resolve what is due; hosts that nobody gave an address have one of their own."""
        due = hosts_to_resolve(self.db, self.now_ms, 1000)
        answered = [
            replace(one, addresses=self.address.get(one.key, (_address(one.key),))) for one in due
        ]
        record_resolutions(self.db, answered, self.now_ms, self.policy)
        return len(due)

    def tick(self) -> TickOutcome:
        """Let the manager's clock tick."""
        return tick(self.db, self.now_ms, self.policy, epoch=self.epoch)

    def change_leader(self, seconds: float) -> None:
        """Let another manager lead, whose clock shows more, or less, than that of the one before.

        It ticks at once.
        """
        self.epoch += 1
        self.leap(seconds)
        self.tick()

    def request(self, name: str, *, reports_waiting: int | None = None) -> SyncRequest:
        """Return what an agent would send now."""
        agent = self.agents[name]
        agent.sequence += 1
        left_ms = agent.permit_until_ms - self.true_ms
        return SyncRequest(
            agent=name,
            boot_id=f"boot {agent.boots}",
            sequence=agent.sequence,
            version="1",
            clock_ms=self.true_ms,
            state="working",
            generation_held=agent.held,
            permit=HeldPermit(epoch=agent.epoch, remaining_ms=left_ms) if left_ms > 0 else None,
            finished=tuple(
                replace(one, crawl_delay_ms=agent.crawl_delay_ms) for one in agent.unanswered
            ),
            rests=tuple(self.rests.get(name, ())),
            addresses=tuple(
                HostAddresses(host=host, addresses=tuple(seen)) for host, seen in agent.sees.items()
            ),
            refetches=agent.refetches,
            unit_rounds=agent.unit_rounds,
            shared_held=agent.shared_held,
            reopens=agent.reopens,
            reports_waiting=(
                int(bool(agent.lines or agent.again or agent.probed or agent.outbox))
                if reports_waiting is None
                else reports_waiting
            ),
        )

    def sync(self, name: str, *, answer_lost: bool = False) -> SyncAnswer:
        """Let an agent sync; where the answer is lost it learns nothing."""
        agent = self.agents[name]
        sent_ms = self.true_ms
        request = self.request(name)
        self.before_call()
        answer = sync(self.db, agent.identity, request, self.served_ms, self.policy)
        assert read_answer(json_of(answer)) == answer
        if not answer_lost:
            self.take_answer(name, answer, sent_ms, len(request.finished))
        return answer

    def take_answer(self, name: str, answer: SyncAnswer, sent_ms: int, told: int) -> None:
        """Let an agent act on an answer to a request that it sent then."""
        agent = self.agents[name]
        agent.unanswered = agent.unanswered[told:]
        if answer.shared_number is not None:
            if answer.shared_from == 0:
                agent.shared = {}
            for one in answer.shared:
                agent.shared.pop(one.address, None)
                if one.domains:
                    agent.shared[one.address] = one
            agent.shared_held = answer.shared_number
        if answer.permit is None:
            agent.permit_until_ms = 0
            return
        agent.epoch = answer.permit.epoch
        until_ms = sent_ms + round(answer.permit.duration_s * 1000) - MARGIN_MS
        agent.permit_until_ms = max(agent.permit_until_ms, until_ms)

    def take_list(self, name: str) -> int:
        """Let an agent take M1 and work from it; return its generation."""
        agent = self.agents[name]
        self.before_call()
        version = current_list(self.db, agent.identity, self.served_ms, self.policy)
        head, *items = orders(version.lines)
        assert isinstance(head, ListHead)
        assert head.generation == version.generation
        agent.listed = {
            item.url: _work(agent, item, version.round)
            for item in items
            if not isinstance(item, ListHead) and item.url.endswith("/")
        }
        before = agent.starts
        agent.starts = {
            item.url: tuple(path for path, _ in item.starts)
            for item in items
            if not isinstance(item, ListHead) and item.starts
        }
        if agent.reopens:
            opened = {unit for unit, pages in agent.starts.items() if before.get(unit) != pages}
            agent.done = {one for one in agent.done if one[0] not in opened}
        agent.held = version.generation
        # What left the list is forgotten: it may be asked for anew.
        listed = {(unit, work.key, work.round) for unit, work in agent.listed.items()}
        agent.done &= listed
        # What is finished is said again: the manager does not know it, or there is news of a piece
        # that rests, which may bring nothing.
        agent.unanswered += [
            claim
            for unit, work in agent.listed.items()
            if (work.share or (unit, work.key, work.round) in agent.done)
            and (claim := agent.claims.get((unit, work.kind, work.round))) is not None
            and claim not in agent.unanswered
        ]
        return version.generation

    def call(self, name: str) -> None:
        """Sync; take the list where it is another one, and sync again to acknowledge it."""
        for _ in range(3):
            answer = self.sync(name)
            if answer.generation == self.agents[name].held and answer.permit is not None:
                return
            if answer.generation != self.agents[name].held:
                self.take_list(name)

    def fetch(self, name: str, unit: str, kbytes: int = -1) -> None:
        """Let an agent fetch all of a unit that it may fetch. kbytes: -1: what `sizes` says."""
        agent = self.agents[name]
        kbytes = self.sizes.get(unit, 100) if kbytes < 0 else kbytes
        work = agent.fetchable(self.true_ms)[unit]
        fetched = min(kbytes, work.max_transfer) if work.max_transfer else kbytes
        took_ms = round(fetched * self.distance(name, unit))
        agent.done.add((unit, work.key, work.round))
        kind: OrderKind = "probe" if work.max_transfer else "crawl"
        known = agent.probes.pop((unit, work.round), 0) if work.probed else 0
        claim = FinishedUnit(
            unit=unit,
            kind="refetch" if work.only else kind,
            round=work.round,
            pages=fetched,
            response_bytes=fetched * 1000,
        )
        agent.unanswered.append(claim)
        agent.claims[unit, work.kind, work.round] = claim
        if kind == "probe" and agent.continues_probes:
            agent.probes[unit, work.round] = fetched
        if known:
            agent.probed.append(CountedProbe(unit, work.round))
            took_ms = round((fetched - known) * self.distance(name, unit))
            fetched -= known
        agent.requests += fetched
        if kind == "crawl":
            self.crawled[unit, work.round] += 1
        if work.only:
            agent.again += (
                Refetched(unit[:-1] + path, 200, agent.sees_bytes) for path in work.only
            )
            return
        if agent.refetches:
            first = PROBED_PAGES if known else 0
            last = PROBED_PAGES if kind == "probe" else CRAWLED_PAGES
            agent.drawn += (
                DrawnPage(
                    round=work.round,
                    unit=unit,
                    url=f"{unit}{n}.html",
                    rank=n * 7 % 101,
                    status=200,
                    response_bytes=agent.sees_bytes,
                    kind=kind,
                )
                for n in range(first, last if fetched else first)
            )
        if fetched or not known:
            agent.lines.append(
                unit_sum(unit, work.round, work.kind, fetched, fetched * 1000, took_ms)
            )

    def distance(self, name: str, unit: str) -> float:
        """Return the ms per KByte between an agent and a unit, the same each time."""
        digest = hashlib.sha256(f"{name} {unit}".encode()).digest()
        return (1 + digest[0] / 16) * self.agents[name].speed

    def report(self, name: str) -> None:
        """Let an agent close its log and send what waits, each until it is accepted."""
        sent = self.report_unheard(name)
        del self.agents[name].outbox[:sent]

    def report_unheard(self, name: str) -> int:
        """Let an agent send its logs and hear no answer, so that it keeps them; return how many."""
        agent = self.agents[name]
        if agent.lines or agent.again or agent.probed:
            agent.reports += 1
            units = tuple(_merged(agent.lines))
            agent.outbox.append(
                LogSummary(
                    name=f"{name}.{agent.reports:012d}",
                    sha256=hashlib.sha256(
                        f"{agent.reports} {units} {agent.again} {agent.probed}".encode()
                    ).hexdigest(),
                    size_bytes=1,
                    lines=sum(one.requests for one in units),
                    quarantined=0,
                    since_ms=self.now_ms,
                    until_ms=self.now_ms,
                    path="",
                    units=units,
                    drawn=tuple(agent.drawn),
                    refetched=tuple(agent.again),
                    probed=tuple(agent.probed),
                )
            )
            agent.lines, agent.drawn, agent.again, agent.probed = [], [], [], []
        self.before_call()
        for one in agent.outbox:
            accept_log(self.db, agent.identity, one, self.now_ms, self.policy)
        return len(agent.outbox)

    def before_call(self) -> None:
        """Do what a test wants done before an agent calls the manager; nothing here."""

    def work(self, name: str, most: int | None = None) -> int:
        """Let an agent fetch what it may, report and sync; return how many units it fetched."""
        units = sorted(self.agents[name].fetchable(self.true_ms))[:most]
        for unit in units:
            self.fetch(name, unit)
        self.report(name)
        return len(units)

    def run(self, *, turns: int = 200, names: Iterable[str] | None = None) -> int:
        """Let everybody work until nothing happens any more; return after how many turns."""
        for turn in range(turns):
            self.wait(self.policy.tick_s)
            self.resolve()
            outcome = self.tick()
            fetched = 0
            for name in self.agents if names is None else names:
                self.call(name)
                self.check_exclusive()
                fetched += self.work(name)
                self.call(name)
                self.check_exclusive()
            if not changed_something(outcome) and not fetched:
                # A little later nothing is waited for any more: logs, grace.
                self.wait(self.policy.log_timeout_s + 1)
                for name in self.agents if names is None else names:
                    self.call(name)
                if not changed_something(self.tick()):
                    return turn
        raise AssertionError(f"still busy after {turns} turns")

    def check_exclusive(self) -> None:
        """Refuse two agents that both believe they may fetch a unit, or an address.

        Of a split host so many may fetch at once as each of them was told. At an address that many
        sites share the rates of all agents add up to no more than its own.
        """
        of_unit: dict[str, str] = {}
        of_address: dict[str, dict[str, int]] = {}
        for name, agent in self.agents.items():
            for unit, work in agent.fetchable(self.true_ms).items():
                other = of_unit.setdefault(unit, name)
                assert other == name, f"{other} and {name} may both fetch {unit}"
                host = unit[: unit.index("/", 8) + 1]
                for address in self.address.get(host, ()):
                    shares = of_address.setdefault(address, {})
                    shares[name] = min(shares.get(name, 99), max(1, work.share))
        with self.db.read() as tx:
            rules = address_rules.of_addresses(tx, of_address)
        for address, shares in of_address.items():
            rule = rules.get(address)
            if len(shares) > 1 and rule is not None and rule.rule != "single":
                told = [self.agents[name].shared.get(address) for name in shares]
                domains = max(rule.domains, *(one.domains for one in told if one), 1)
                rate = sum(self.agents[name].rate_at(address) for name in shares)
                assert rate <= math.sqrt(domains) + 1e-9, f"{shares} at {address}: {rate}, {rule}"
                continue
            least = min(shares.values())
            assert len(shares) <= least, f"{shares} may fetch from {address} at once"

    def try_sync(self, name: str) -> PrsmError | None:
        """Sync, and return the refusal if there was one."""
        try:
            self.sync(name)
        except PrsmError as error:
            return error
        return None


def _work(agent: FakeAgent, item: Order, round_number: int) -> Work:
    """Return the work of a line: one that goes on and is finished stays what it was."""
    number = round_number if item.round is None else item.round
    work = Work(
        item.kind, number, item.max_transfer, item.share, item.only, item.continues, item.probed
    )
    first = number if item.continues is None else item.continues
    for before in range(first, number):
        if (item.url, work.key, before) in agent.done:
            return replace(work, round=before)
    return work


def _merged(lines: Iterable[UnitSum]) -> list[UnitSum]:
    """Return one sum for each unit, round and kind, as intake makes them."""
    merged: dict[tuple[str, int, str], UnitSum] = {}
    for line in lines:
        key = (line.unit, line.round, line.kind)
        before = merged.get(key)
        merged[key] = (
            line
            if before is None
            else replace(
                line,
                **{name: getattr(before, name) + getattr(line, name) for name in COUNTS},
            )
        )
    return list(merged.values())


def _address(name: str) -> str:
    digest = hashlib.sha256(name.encode()).digest()
    return f"198.{digest[0]}.{digest[1]}.{digest[2]}"

"""Whatever is lost, late, repeated or killed: an agent never fetches what is not its own.

A model manager keeps rights as docs/architecture.md says: withdrawn at a generation and free when
that is acknowledged, all free when the permit is over. The network loses, delays, repeats and
reorders; the agent's process is killed and starts again; clocks only go forward. The
real manager also fences old lists off; this one does not, so the agent must be safe by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from agent.errors import LinkError, RefusedError
from agent.link.actions import Action, GrantPermit, RevokePermit, TakeList, View
from agent.link.poller import ListNumber, ResumedLink
from agent.pipeline.permit import PermitGate
from shared.wire.sync import Permit, SyncAnswer, SyncRequest
from tests.agent.link.fake_clock import FakeClock
from tests.agent.link.pollers import make_poller
from tests.examples import examples

PERMIT_S = 1000.0
MARGIN_S = 50.0  # the longest that a request lasts, and its address's rest
UNITS = ("a", "b")


@dataclass
class ModelManager:
    """Rights of one agent, and who else fetches."""

    generation: int = 0
    epoch: int = 0
    until_s: float = -1.0
    rights: dict[str, int | None] = field(default_factory=dict)  # unit: withdrawn at
    others: set[str] = field(default_factory=set)
    sequence: int = 0

    def tick(self, now_s: float) -> None:
        """End a permit that is over: everything is free, in a new generation."""
        if self.until_s < now_s and self.rights:
            self.generation += 1
            self.rights.clear()

    def sync(self, request: SyncRequest, now_s: float) -> SyncAnswer | None:
        """Answer a sync; None: refused, because a later one was answered."""
        self.tick(now_s)
        if request.sequence < self.sequence:
            return None
        self.sequence = request.sequence
        held = request.generation_held
        for unit, at in list(self.rights.items()):
            if at is not None and at <= held:
                del self.rights[unit]
                self.others.add(unit)  # it was withdrawn for somebody
        if self.until_s < now_s:
            self.epoch += 1
        self.until_s = now_s + PERMIT_S
        return SyncAnswer(
            server_time_ms=0,
            next_poll_s=60,
            round=1,
            generation=self.generation,
            permit=Permit(epoch=self.epoch, duration_s=PERMIT_S),
        )

    def list(self) -> tuple[ListNumber, frozenset[str]]:
        """Return M1 as it is now."""
        units = frozenset(unit for unit, at in self.rights.items() if at is None)
        return ListNumber(1, self.generation), units


@dataclass
class Message:
    """Something on its way between the two."""

    request: SyncRequest
    answer: SyncAnswer | None = None
    refused: bool = False


class TwoOwners(RuleBasedStateMachine):
    """The agent, the manager and the network between them."""

    @initialize()
    def start(self) -> None:
        self.clock = FakeClock()
        self.manager = ModelManager()
        self.network: list[Message] = []
        self.sequence = 0
        self.disk: tuple[ListNumber, frozenset[str]] = (ListNumber(), frozenset())
        self.begin_process()

    def begin_process(self) -> None:
        self.gate = PermitGate(self.clock, MARGIN_S)
        held, self.units = self.disk
        self.poller = make_poller(
            "prs1", seed=1, now_s=self.clock.boottime_s(), resumed=ResumedLink(held)
        )
        self.wants_list = False
        self.closing: dict[int, tuple[str, float]] = {}  # job: unit, last request's begin
        self.jobs = 0

    def do(self, actions: Sequence[Action]) -> None:
        for action in actions:
            if isinstance(action, GrantPermit):
                self.gate.grant(action.epoch, action.duration_s, action.sent_boottime_s)
            elif isinstance(action, RevokePermit):
                self.gate.revoke()
            elif isinstance(action, TakeList):
                self.wants_list = True

    # the agent

    @rule(then=st.sampled_from(["nothing", "list", "list and close", "list, close and sync"]))
    def talk(self, then: str) -> None:
        """A sync that nothing happens to, and what follows it."""
        self.send()
        message = self.network[-1]
        self.arrive(message)
        self.arrive(message)
        if then != "nothing" and self.wants_list:
            self.take_list(broken=False)
        if "close" in then:
            while self.closing:
                self.close_unit()
        if "sync" in then:
            self.talk("nothing")

    @rule()
    def send(self) -> None:
        self.sequence += 1
        view = View("working", 0)
        request = self.poller.request(self.sequence, view, self.clock.boottime_s())
        self.network.append(Message(request))

    @rule(broken=st.booleans())
    @precondition(lambda self: self.wants_list)
    def take_list(self, broken: bool) -> None:
        self.wants_list = False
        now_s = self.clock.boottime_s()
        if broken:
            self.do(self.poller.list_failed(LinkError("x"), now_s))
            return
        held, units = self.manager.list()
        self.disk = (held, units)
        dropped = sorted(self.units - units) if self.gate.may_fetch() else []
        self.units = units
        numbers = range(self.jobs, self.jobs + len(dropped))
        self.jobs += len(dropped)
        self.closing |= {job: (unit, now_s) for job, unit in zip(numbers, dropped, strict=True)}
        self.do(self.poller.list_in_force(held, numbers, now_s))

    @rule()
    @precondition(lambda self: self.closing)
    def close_unit(self) -> None:
        job = min(self.closing)
        del self.closing[job]
        self.poller.unit_closed(job, self.clock.boottime_s())

    @rule(luck=st.integers(0, 3))
    def kill_agent(self, luck: int) -> None:
        if luck == 0:
            self.begin_process()

    # the network

    @rule(
        index=st.integers(0, 5),
        twice=st.booleans(),
        what=st.sampled_from(["arrive", "lose", "give up"]),
    )
    @precondition(lambda self: self.network)
    def happen(self, index: int, twice: bool, what: str) -> None:
        """Something happens to a message on its way."""
        message = self.network[index % len(self.network)]
        if what == "arrive":
            self.arrive(message)
            if twice and message.answer is not None:
                self.network.append(Message(message.request, message.answer))
        else:  # the agent's patience ends; the message may arrive all the same
            if what == "lose":
                self.network.remove(message)
            error = LinkError("lost")
            self.do(self.poller.failed(message.request.sequence, error, self.clock.boottime_s()))

    def arrive(self, message: Message) -> None:
        """A request arrives at the manager, or its answer at the agent."""
        now_s = self.clock.boottime_s()
        number = message.request.sequence
        if message.answer is None and not message.refused:
            message.answer = self.manager.sync(message.request, now_s)
            message.refused = message.answer is None
            return
        self.network.remove(message)
        if message.answer is None:
            self.do(self.poller.failed(number, RefusedError(409, "stale"), now_s))
        else:
            self.do(self.poller.answered(number, message.answer, now_s))

    # the manager and time

    @rule(
        unit=st.sampled_from(UNITS),
        what=st.sampled_from(["give", "give", "withdraw", "give to another", "another is done"]),
    )
    def manage(self, unit: str, what: str) -> None:
        """The manager decides about a unit."""
        manager, now_s = self.manager, self.clock.boottime_s()
        manager.tick(now_s)
        free = unit not in manager.rights and unit not in manager.others
        if what == "give" and free and manager.until_s > now_s:
            manager.generation += 1
            manager.rights[unit] = None
        elif what == "withdraw" and manager.rights.get(unit, 0) is None:
            manager.generation += 1
            manager.rights[unit] = manager.generation
        elif what == "give to another" and free:
            manager.others.add(unit)
        elif what == "another is done":
            manager.others.discard(unit)

    @rule(seconds=st.sampled_from([1.0, 40.0, 500.0, 940.0, 3000.0]), asleep=st.booleans())
    def time_passes(self, seconds: float, asleep: bool) -> None:
        if asleep:
            self.clock.sleep(seconds)
        else:
            self.clock.advance(seconds)
        self.manager.tick(self.clock.boottime_s())

    @invariant()
    def never_longer_than_granted(self) -> None:
        if self.gate.may_fetch():
            assert self.manager.until_s >= self.clock.boottime_s() + MARGIN_S

    @invariant()
    def never_two_owners(self) -> None:
        now_s = self.clock.boottime_s()
        fetching = set(self.units) if self.gate.may_fetch() else set()
        fetching |= {unit for unit, at in self.closing.values() if now_s - at < MARGIN_S}
        assert not fetching & self.manager.others


TwoOwners.TestCase.settings = settings(
    max_examples=examples(300), stateful_step_count=60, deadline=None
)
TestTwoOwners = TwoOwners.TestCase

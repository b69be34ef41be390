"""Never two agents at one unit: rights and permits against a network and clocks that misbehave.

A model of one unit, two agents and a manager. Answers to lists and syncs arrive late, in any
order, or never; agents restart; the manager stops, and its clock leaps and is set back. Agents
keep to the rules that `rights_model` names. The manager is the pure rules and nothing
else, so a history that lets two agents fetch at once is a hole in the rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule

from manager.assignment.permits import Permit, extension_ms
from tests.examples import examples
from tests.manager.assignment.rights_model import (
    Free,
    Granted,
    Kind,
    Right,
    acknowledge,
    end_at_agent,
    finish,
    grant,
    holder,
    permit_over,
    stands_in,
    withdraw,
)

PERMIT_MS, DEADLINE_MS, INTERVAL_MS = 100, 7, 5
LONGEST_GAP_MS = 20
AGENTS = [0, 1]

agent_numbers = st.sampled_from(AGENTS)
Work = tuple[Kind, int]


@dataclass
class ServerSide:
    """What the manager keeps of an agent."""

    generation: int = 1
    changed: bool = False
    sequence: int = 0
    permit: Permit = field(default_factory=Permit)


@dataclass
class Robot:
    """What an agent knows. list_generation 0: it has no list."""

    boot: int = 0
    list_generation: int = 0
    list_in_force: int = 0
    work: Work | None = None
    told_generation: int = 0
    end_ms: int = -1
    busy_until_ms: int = -1
    sequence: int = 0
    finished: set[Work] = field(default_factory=set)
    unreported: set[Work] = field(default_factory=set)

    def believes(self, now_ms: int) -> bool:
        """Return whether it would start a request to the unit now."""
        return self.work is not None and self.work not in self.finished and now_ms < self.end_ms

    def acknowledged(self, now_ms: int) -> int:
        """Return the generation it names as held: the newest that is wholly in force."""
        if self.work is not None or now_ms >= self.busy_until_ms:
            self.list_in_force = self.list_generation
        return self.list_in_force


@dataclass(frozen=True)
class SyncSent:
    """A sync on its way to the manager."""

    agent: int
    boot: int
    sequence: int
    sent_ms: int
    generation_held: int
    finished: frozenset[Work]


@dataclass(frozen=True)
class SyncAnswered:
    """An answer on its way back."""

    sent: SyncSent
    permit: bool
    generation: int


@dataclass(frozen=True)
class ListAnswered:
    """A list on its way to an agent."""

    agent: int
    boot: int
    generation: int
    work: Work | None


class Exclusion(RuleBasedStateMachine):
    """Everything that can happen to one unit."""

    syncs = Bundle("syncs")
    answers = Bundle("answers")
    lists = Bundle("lists")

    def __init__(self) -> None:
        super().__init__()
        self.real_ms = 1_000
        self.clock_off_ms = 0
        self.last_tick_ms = 1_000
        self.hidden_step_left = True
        self.round = 1
        self.right: Right = Free()
        self.servers = [ServerSide() for _ in AGENTS]
        self.robots = [Robot() for _ in AGENTS]

    @property
    def clock_ms(self) -> int:
        return self.real_ms + self.clock_off_ms

    @invariant()
    def never_two(self) -> None:
        """At most one agent fetches, or would if it could, and the manager knows which."""
        active = [
            number
            for number, robot in enumerate(self.robots)
            if robot.believes(self.real_ms) or self.real_ms < robot.busy_until_ms
        ]
        assert len(active) <= 1
        if active:
            assert holder(self.right) == active[0]

    # The world

    @rule(by_ms=st.sampled_from([1, 4, 10, LONGEST_GAP_MS + 1, 60, 140]))
    def time_passes(self, by_ms: int) -> None:
        """Without a tick: for longer than the longest gap, that is an outage of the manager."""
        self.real_ms += by_ms

    @rule(ticks=st.sampled_from([2, 10, 15]))
    def the_manager_ticks_on(self, ticks: int) -> None:
        """Time in which permits run out, for the manager watches it pass."""
        for _ in range(ticks):
            self.real_ms += LONGEST_GAP_MS // 2
            self.tick(favours=0, acts=False)

    @rule(by_ms=st.sampled_from([500, 110, LONGEST_GAP_MS + 1, -5, -60, -110, -500]))
    def the_managers_clock_is_set(self, by_ms: int) -> None:
        self.clock_off_ms += by_ms

    @precondition(lambda self: self.hidden_step_left)
    @rule(by_ms=st.integers(1, LONGEST_GAP_MS))
    def the_managers_clock_slips_unseen(self, by_ms: int) -> None:
        self.hidden_step_left = False
        self.clock_off_ms += by_ms

    # The manager

    @rule(favours=agent_numbers, acts=st.booleans())
    def tick(self, favours: int, acts: bool) -> None:
        """Extend, end what is over, then give or take the unit, then raise generations."""
        by_ms = extension_ms(self.last_tick_ms, self.clock_ms, LONGEST_GAP_MS)
        self.last_tick_ms = self.clock_ms
        for number, server in enumerate(self.servers):
            server.permit = replace(server.permit, until_ms=server.permit.until_ms + by_ms)
            if holder(self.right) == number and server.permit.is_over(self.clock_ms):
                self.right = permit_over(self.right, number)
                server.generation += 1
                server.permit = server.permit.expire(server.generation)
        if acts and holder(self.right) is None:
            self.it_is_granted(favours, Kind.CRAWL)
        elif acts:
            self.it_is_withdrawn()
        for server in self.servers:
            server.generation += server.changed
            server.changed = False

    @rule()
    def a_new_round_begins(self) -> None:
        self.round += 1

    @rule(agent=agent_numbers, kind=st.sampled_from(list(Kind)))
    def it_is_granted(self, agent: int, kind: Kind) -> None:
        if isinstance(self.right, Free):
            server = self.servers[agent]
            self.right = grant(self.right, agent, kind, self.round, server.generation + 1)
            server.changed = True

    @rule()
    def it_is_withdrawn(self) -> None:
        if isinstance(self.right, Granted):
            server = self.servers[self.right.agent]
            self.right = withdraw(self.right, server.generation + 1)
            server.changed = True

    @rule(target=lists, agent=agent_numbers)
    def list_is_asked_for(self, agent: int) -> ListAnswered:
        server = self.servers[agent]
        named = stands_in(self.right, agent, server.generation)
        right = self.right
        work = (right.kind, right.round) if named and not isinstance(right, Free) else None
        return ListAnswered(agent, self.robots[agent].boot, server.generation, work)

    @rule(target=answers, sent=syncs)
    def sync_is_handled(self, sent: SyncSent) -> SyncAnswered:
        server = self.servers[sent.agent]
        if sent.sequence <= server.sequence:
            return SyncAnswered(sent, permit=False, generation=0)  # refused: it came late
        server.sequence = sent.sequence
        for kind, number in sorted(sent.finished):
            before = self.right
            self.right = finish(self.right, sent.agent, kind, number, sent.generation_held)
            # A list that is asked for after this is a new one.
            server.changed |= self.right != before
        self.right = acknowledge(self.right, sent.agent, sent.generation_held)
        held = sent.generation_held or server.permit.fence_generation
        renewed = server.permit.renew(held, self.last_tick_ms, PERMIT_MS, LONGEST_GAP_MS)
        if renewed is not None:
            server.permit = renewed
        return SyncAnswered(sent, renewed is not None, server.generation)

    # The agents

    @rule(target=syncs, agent=agent_numbers)
    def sync_is_sent(self, agent: int) -> SyncSent:
        robot = self.robots[agent]
        robot.sequence += 1
        return SyncSent(
            agent,
            robot.boot,
            robot.sequence,
            self.real_ms,
            robot.acknowledged(self.real_ms),
            frozenset(robot.unreported),
        )

    @rule(answer=answers)
    def answer_arrives(self, answer: SyncAnswered) -> None:
        sent, robot = answer.sent, self.robots[answer.sent.agent]
        if sent.boot != robot.boot or not answer.generation:
            return
        robot.unreported -= sent.finished
        robot.told_generation = max(robot.told_generation, answer.generation)
        same_list = robot.list_generation == sent.generation_held
        if answer.permit and (same_list or robot.list_generation >= answer.generation):
            end_ms = end_at_agent(sent.sent_ms, PERMIT_MS, DEADLINE_MS, INTERVAL_MS)
            robot.end_ms = max(robot.end_ms, end_ms)

    @rule(answer=lists)
    def list_arrives(self, answer: ListAnswered) -> None:
        robot = self.robots[answer.agent]
        newest = max(robot.list_generation, robot.told_generation)
        if answer.boot == robot.boot and answer.generation >= newest:
            robot.list_generation = answer.generation
            robot.work = answer.work

    @rule(agent=agent_numbers, lasts_ms=st.integers(1, DEADLINE_MS))
    def a_request_starts(self, agent: int, lasts_ms: int) -> None:
        robot = self.robots[agent]
        if robot.believes(self.real_ms) and self.real_ms >= robot.busy_until_ms:
            robot.busy_until_ms = self.real_ms + lasts_ms

    @rule(agent=agent_numbers)
    def the_unit_is_finished(self, agent: int) -> None:
        robot = self.robots[agent]
        if robot.work is None or self.real_ms < robot.busy_until_ms:
            return
        if robot.believes(self.real_ms):
            robot.finished.add(robot.work)
            robot.unreported.add(robot.work)

    @rule(agent=agent_numbers)
    def the_machine_restarts(self, agent: int) -> None:
        robot = self.robots[agent]
        robot.boot += 1
        robot.end_ms = robot.busy_until_ms = -1

    # Exchanges without trouble, so that histories get somewhere

    @rule(agent=agent_numbers)
    def a_sync(self, agent: int) -> None:
        self.answer_arrives(self.sync_is_handled(self.sync_is_sent(agent)))

    @rule(agent=agent_numbers)
    def sync_list_and_sync(self, agent: int) -> None:
        self.a_sync(agent)
        self.list_arrives(self.list_is_asked_for(agent))
        self.a_sync(agent)


TestExclusion = Exclusion.TestCase
TestExclusion.settings = settings(max_examples=examples(300), stateful_step_count=50, deadline=None)


# Histories that chance finds too seldom


def taken_over() -> tuple[Exclusion, ListAnswered]:
    """Return the model after agent 0's right went to agent 1, and an old list of agent 0.

    The list names the unit and is still on its way.
    """
    model = Exclusion()
    model.tick(favours=0, acts=True)
    late = model.list_is_asked_for(0)
    assert isinstance(late, ListAnswered)
    assert late.work is not None
    model.tick(favours=0, acts=False)  # it never had a permit: its right is free again
    model.tick(favours=1, acts=True)
    model.sync_list_and_sync(1)
    assert model.robots[1].believes(model.real_ms)
    return model, late


def test_a_list_older_than_one_heard_of_is_not_taken() -> None:
    """A sync tells of a newer list; the old one that arrives after it comes too late."""
    model, late = taken_over()
    model.a_sync(0)
    assert model.robots[0].end_ms > model.real_ms
    model.list_arrives(late)
    model.never_two()


def test_a_permit_is_not_for_a_list_that_the_sync_did_not_name() -> None:
    """The old list arrives between a sync that named none and its answer."""
    model, late = taken_over()
    sent = model.sync_is_sent(0)
    model.list_arrives(late)
    assert model.robots[0].work is not None
    answer = model.sync_is_handled(sent)
    assert isinstance(answer, SyncAnswered)
    assert answer.permit
    model.answer_arrives(answer)
    model.never_two()


def test_who_was_written_off_does_not_come_back_with_its_list() -> None:
    """It held list and permit, was silent too long, and syncs with the old list again."""
    model = Exclusion()
    model.tick(favours=0, acts=True)
    model.a_sync(0)
    model.list_arrives(model.list_is_asked_for(0))
    assert model.robots[0].believes(model.real_ms)
    model.the_manager_ticks_on(15)
    model.tick(favours=1, acts=True)
    model.sync_list_and_sync(1)
    assert model.robots[1].believes(model.real_ms)
    model.a_sync(0)
    model.never_two()
    model.sync_list_and_sync(0)
    assert model.robots[0].end_ms > model.real_ms
    model.never_two()


def test_a_permit_counts_from_the_latest_moment_that_may_be() -> None:
    """It was renewed long after a tick, and then the clock stepped on, too little to be seen."""
    model = Exclusion()
    model.tick(favours=0, acts=True)
    model.sync_list_and_sync(0)
    model.time_passes(LONGEST_GAP_MS)
    model.a_sync(0)
    model.tick(favours=0, acts=False)
    model.the_managers_clock_slips_unseen(LONGEST_GAP_MS)
    for _ in range(3 * PERMIT_MS):
        model.tick(favours=1, acts=False)
        model.it_is_granted(1, Kind.CRAWL)  # where it is free
        model.tick(favours=1, acts=False)
        model.sync_list_and_sync(1)
        model.never_two()
        if model.robots[0].believes(model.real_ms):
            model.a_request_starts(0, DEADLINE_MS)
        model.time_passes(1)
    assert model.robots[1].believes(model.real_ms)


def test_a_right_does_pass_on() -> None:
    """The rules are not only safe: a withdrawal that is acknowledged lets the next one in."""
    model = Exclusion()
    model.tick(favours=0, acts=True)
    model.sync_list_and_sync(0)
    assert holder(model.right) == 0
    model.tick(favours=0, acts=True)
    model.a_sync(0)
    assert holder(model.right) == 0
    model.sync_list_and_sync(0)
    assert holder(model.right) is None
    model.tick(favours=1, acts=True)
    model.sync_list_and_sync(1)
    assert model.robots[1].believes(model.real_ms)
    model.never_two()

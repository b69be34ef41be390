"""Whatever happens in whatever order: never two agents at one address, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from manager.db.engine import Database
from manager.errors import ConflictError
from manager.operations.fleet.agents import retire
from manager.operations.fleet.contact import subscribe, unsubscribe
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_merge import merge_host
from manager.operations.hosts.host_split import split_host
from manager.operations.hosts.host_views import HostFilter, list_hosts
from manager.operations.hosts.hosts import exclude_host, include_host
from manager.operations.rounds.rounds import (
    METHODS,
    apply_plan,
    cancel_round,
    current_round,
    make_plan,
    start_round,
)
from shared.wire.sync import SyncRequest
from tests.manager.operations.big_host import know_directories
from tests.manager.operations.discovered import record_discovered
from tests.manager.operations.syncs import sync
from tests.manager.operations.world import ADMIN, World

NAMES = ("a", "b", "c")
HOSTS = tuple(f"h{number}.jp" for number in range(6))

ALONE = HOSTS[3:]
"""Hosts that are always alone at their address."""

agent_names = st.sampled_from(NAMES)
host_names = st.sampled_from(HOSTS)


class Fleet(RuleBasedStateMachine):
    """Three agents, a manager, and all that can happen between them."""

    template: Path

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="prsm-fleet-"))
        shutil.copyfile(self.template, self.folder / "db")
        self.db = Database(f"sqlite:///{self.folder}/db")

        @sa.event.listens_for(self.db.engine, "connect")
        def hurry(connection: Any, _record: object) -> None:
            connection.execute("PRAGMA synchronous = OFF")

        self.world = World(self.db)
        self.gone: set[str] = set()
        self.sent: dict[str, SyncRequest] = {}
        self.found = 0

    @initialize(shared=st.integers(0, 3), method=st.one_of(st.none(), st.sampled_from(METHODS)))
    def begin(self, shared: int, method: str | None) -> None:
        """Some hosts at one address, the others at their own; perhaps a round goes on."""
        self.world.join(*NAMES)
        if shared:
            self.world.hosts(*HOSTS[:shared], address="203.0.113.9")
        self.world.hosts(*HOSTS[shared:])
        if method is not None:
            self.start_round(method, probe=shared % 2 == 0)
            self.world.tick()
            for name in NAMES:
                self.world.call(name)

    @rule(seconds=st.sampled_from([1, 5, 30, 200, 700, 4000]))
    def wait(self, seconds: int) -> None:
        """Time passes, without a tick: longer than a minute is an outage of the manager."""
        self.world.wait(seconds)

    @rule(ticks=st.integers(1, 30))
    def keep_ticking(self, ticks: int) -> None:
        """The manager runs well for a while."""
        for _ in range(ticks):
            self.world.wait(40)
            self.world.tick()
            self.world.check_exclusive()

    @rule(seconds=st.sampled_from([-90_000, -3000, -20, 20, 3000, 90_000]))
    def leap(self, seconds: int) -> None:
        """The manager's clock jumps, and a tick comes before it jumps again."""
        self.world.leap(seconds)
        self.world.tick()

    @rule(
        seconds=st.sampled_from([-3000, -50, 50, 3000]),
        times=st.integers(1, 10),
        between=st.sampled_from([0, 1, 40, 3000]),
    )
    def change_leader(self, seconds: int, times: int, between: int) -> None:
        """The lead goes to and fro between managers whose clocks differ."""
        for _ in range(times):
            self.world.wait(between)
            self.world.change_leader(seconds)
            self.world.wait(between)
            self.world.change_leader(-seconds)
            self.world.check_exclusive()

    @rule(seconds=st.sampled_from([-90_000, -50, 0, 50, 90_000]))
    def reach_follower(self, seconds: int) -> None:
        """From now on agents reach another manager, whose clock differs from the leader's."""
        self.world.reach_follower(seconds)

    @rule()
    def tick(self) -> None:
        """Names are resolved and the manager ticks."""
        self.world.resolve()
        self.world.tick()

    @rule(name=agent_names, answer_lost=st.booleans())
    def sync(self, name: str, answer_lost: bool) -> None:
        """An agent syncs; the answer may be lost."""
        if name not in self.gone:
            self.world.sync(name, answer_lost=answer_lost)

    @rule(name=agent_names)
    def call(self, name: str) -> None:
        """An agent syncs, takes its list and acknowledges it."""
        if name not in self.gone:
            self.world.call(name)

    @rule(name=agent_names)
    def keep_request(self, name: str) -> None:
        """An agent sends a sync that a proxy holds back."""
        self.sent[name] = self.world.request(name)

    @rule(name=agent_names)
    def deliver_late(self, name: str) -> None:
        """The proxy delivers it, perhaps twice, perhaps too late; nobody hears the answer."""
        if name in self.sent and name not in self.gone:
            identity = self.world.agents[name].identity
            try:
                sync(self.db, identity, self.sent[name], self.world.now_ms, self.world.policy)
            except ConflictError:
                return

    @rule(name=agent_names)
    def take_list(self, name: str) -> None:
        """An agent takes its list, and says so only with a later sync."""
        if name not in self.gone:
            self.world.take_list(name)

    @rule(name=agent_names, most=st.integers(1, 4))
    def fetch(self, name: str, most: int) -> None:
        """An agent fetches some of what it may."""
        for unit in sorted(self.world.agents[name].fetchable(self.world.true_ms))[:most]:
            self.world.fetch(name, unit)

    @rule(name=agent_names)
    def report(self, name: str) -> None:
        """An agent sends its log."""
        self.world.report(name)

    @rule(
        silent=st.one_of(st.none(), agent_names),
        most=st.sampled_from([0, 0, 1, 4]),
        turns=st.sampled_from([1, 3, 20]),
        comes_back=st.booleans(),
    )
    def work(self, silent: str | None, most: int, turns: int, comes_back: bool) -> None:
        """For a while everybody works, or everybody but one; 20 turns outlast a permit."""
        for _ in range(turns):
            self.world.wait(40)
            self.world.resolve()
            self.world.tick()
            for name in NAMES:
                if name != silent and name not in self.gone:
                    self.world.call(name)
                    self.world.check_exclusive()
                    self.world.work(name, most)
                    self.world.call(name)
                    self.world.check_exclusive()
        if comes_back and silent is not None and silent not in self.gone:
            self.world.sync(silent)

    @rule(name=agent_names)
    def be_silent(self, name: str) -> None:
        """An agent is not heard of until others have its units; then it syncs with its old list."""
        for _ in range(20):
            self.world.wait(40)
            self.world.tick()
            for other in NAMES:
                if other != name and other not in self.gone:
                    self.world.call(other)
                    self.world.check_exclusive()
        if name not in self.gone:
            self.world.sync(name)

    @rule(name=agent_names, disk=st.booleans())
    def crash(self, name: str, disk: bool) -> None:
        """An agent starts again, perhaps with an empty disk."""
        agent = self.world.agents[name]
        agent.lose_disk() if disk else agent.reboot()

    @rule(method=st.sampled_from(METHODS), probe=st.booleans())
    def start_round(self, method: str, probe: bool) -> None:
        """The administrator starts a round, where none goes on and there is anything to do."""
        try:
            start_round(
                self.db,
                method,
                ADMIN,
                self.world.now_ms,
                probe=probe,
                policy=self.world.policy,
            )
        except ConflictError:
            return

    @precondition(lambda self: current_round(self.db) is not None)
    @rule()
    def cancel_round(self) -> None:
        """The administrator cancels it."""
        cancel_round(self.db, ADMIN, self.world.now_ms)

    @rule(method=st.sampled_from(METHODS), seed=st.integers(0, 3))
    def move(self, method: str, seed: int) -> None:
        """The administrator makes a plan and applies it, whatever goes on."""
        try:
            plan = make_plan(
                self.db, method, ADMIN, self.world.now_ms, seed=seed, policy=self.world.policy
            )
            apply_plan(self.db, plan, ADMIN, self.world.now_ms)
        except ConflictError:
            return

    @rule(name=host_names, out=st.booleans())
    def exclude(self, name: str, out: bool) -> None:
        """A site's owner asks to be left out, or comes back."""
        if out:
            exclude_host(self.db, name, "asked to", ADMIN, self.world.now_ms)
        else:
            include_host(self.db, name, ADMIN, self.world.now_ms)

    @rule(name=agent_names, shared=st.booleans())
    def discover(self, name: str, shared: bool) -> None:
        """An agent finds a host, perhaps at an address where others are."""
        self.found += 1
        url = f"http://new{self.found}.jp/"
        if shared:
            self.world.address[f"http://new{self.found}.jp:80/"] = ("203.0.113.9",)
        identity = self.world.agents[name].identity
        record_discovered(self.db, identity, [(1, url, None)], self.world.now_ms)

    @rule(name=st.sampled_from(ALONE), parts=st.sampled_from([2, 3]))
    def split(self, name: str, parts: int) -> None:
        """The administrator splits a host whose directories are known, if nobody is at it."""
        key = f"http://{name}:80/"
        know_directories(self.db, key, self.world.agents["a"].identity.id)
        try:
            split_host(self.db, key, ADMIN, self.world.now_ms, parts=parts)
        except ConflictError:
            return

    @rule(name=st.sampled_from(ALONE))
    def merge(self, name: str) -> None:
        """The administrator merges it again, if it is split and nobody is at it."""
        try:
            merge_host(self.db, name, ADMIN, self.world.now_ms)
        except ConflictError:
            return

    @rule(
        name=agent_names, host=st.sampled_from(ALONE), directory=st.sampled_from(["news", "docs"])
    )
    def find_inside(self, name: str, host: str, directory: str) -> None:
        """An agent finds a page in a directory that may be another's."""
        self.found += 1
        url = f"http://{host}/{directory}/{self.found}.html"
        identity = self.world.agents[name].identity
        record_discovered(self.db, identity, [(1, url, None)], self.world.now_ms)

    @rule(name=agent_names)
    def leave(self, name: str) -> None:
        """An agent stops fetching and leaves; it may come back."""
        agent = self.world.agents[name]
        agent.permit_until_ms, agent.held, agent.listed = 0, 0, {}
        unsubscribe(self.db, agent.identity, self.world.now_ms, self.world.policy)

    @rule(name=agent_names)
    def come_back(self, name: str) -> None:
        """An agent that left takes part again."""
        if name not in self.gone:
            subscribe(self.db, self.world.agents[name].identity, self.world.now_ms)

    @precondition(lambda self: not self.gone)
    @rule(name=agent_names)
    def retire(self, name: str) -> None:
        """The administrator retires an agent while it fetches."""
        retire(self.db, name, ADMIN, self.world.now_ms)
        self.gone.add(name)

    @invariant()
    def one_robot_an_address(self) -> None:
        """No unit and no address has two agents that believe they may fetch there."""
        self.world.check_exclusive()

    @invariant()
    def consistent(self) -> None:
        """Every state that a transaction left passes the check."""
        assert check(self.db) == []

    def teardown(self) -> None:
        """When everybody who is left works again, the round ends with one owner for each unit."""
        try:
            self._finish()
        finally:
            self.db.close()
            shutil.rmtree(self.folder)

    def _finish(self) -> None:
        # By a clock that is behind, a contact counts as of the last tick; `run` ticks too seldom.
        self.world.reach_follower(0)
        here = [name for name in NAMES if name not in self.gone and name in self.world.agents]
        for name in here:
            subscribe(self.db, self.world.agents[name].identity, self.world.now_ms)
        for _ in range(3):
            # Long enough for every permit that somebody took along to end, and with ticks.
            for _ in range(20):
                self.world.wait(40)
                self.world.tick()
            for name in here:
                self.world.call(name)
        self.world.run(names=here)
        assert current_round(self.db) is None, "the round did not end"
        assert check(self.db) == []
        for state in ("probing",):
            assert not list_hosts(self.db, HostFilter(state=state)).hosts


@pytest.mark.timeout(900)
def test_never_two_owners_and_nothing_lost(sqlite_template: Path) -> None:
    """Any order of syncs, lists, crashes, leaps, rounds, plans and leaving keeps the promises."""
    Fleet.template = sqlite_template
    run_state_machine_as_test(
        Fleet,
        settings=settings(
            max_examples=50 if os.environ.get("PRSM_TESTS") == "all" else 3,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )

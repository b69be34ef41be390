"""Whatever happens while a round probes: no page is lost, and only what was seen is not needed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from manager.db.engine import Database
from manager.db.planning.spare_probes import SEEN_WHOLE
from manager.db.tables import probe_orders
from manager.errors import ConflictError
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_views import host_detail
from manager.operations.planning.requested_probes import order_probes
from manager.operations.rounds.rounds import cancel_round, current_round, start_round
from shared.wire.sync import FinishedUnit
from tests.manager.operations.world import ADMIN, POLICY, World
from tests.postgres import PostgresServer

NAMES = ("a", "b", "c")
HOSTS = tuple(f"h{number}.jp" for number in range(5))
SIZES = (1, 6, 49, 50, 120)
agent_names, host_names = st.sampled_from(NAMES), st.sampled_from(HOSTS)


def unit(name: str) -> str:
    return f"http://{name}:80/"


class Probing(RuleBasedStateMachine):
    """Three agents that probe hosts of all sizes, and all that can come between."""

    new_database: ClassVar[Any]

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.db: Database = self.stack.enter_context(self.new_database())
        policy = replace(
            POLICY,
            max_full_probe_pairs=0,
            control_hosts_per_agent=0,
            probe_large_share=0,
            probe_steps=1,
            whole_host_check_share=0.3,
            whole_hosts_most_share=0.7,
        )
        self.world = World(self.db, policy)
        self.world.join(*NAMES)

    @initialize(
        sizes=st.lists(st.sampled_from(SIZES), min_size=len(HOSTS), max_size=len(HOSTS)),
        shared=st.integers(0, 3),
        method=st.sampled_from(["default", "random", "keep"]),
    )
    def begin(self, sizes: list[int], shared: int, method: str) -> None:
        """Hosts, some of them at one address; a round begins."""
        self.world.sizes = {unit(name): size for name, size in zip(HOSTS, sizes, strict=True)}
        if shared:
            self.world.hosts(*HOSTS[:shared], address="203.0.113.9")
        self.world.hosts(*HOSTS[shared:])
        start_round(self.db, method, ADMIN, self.world.now_ms, policy=self.world.policy)

    @rule(seconds=st.sampled_from([1, 5, 40]))
    def tick(self, seconds: int) -> None:
        """The manager runs for a while."""
        self.world.wait(seconds)
        self.world.tick()

    @rule(name=agent_names)
    def call(self, name: str) -> None:
        """An agent syncs and takes its list."""
        self.world.call(name)

    @rule(name=agent_names, most=st.integers(1, 5), short=st.booleans())
    def fetch(self, name: str, most: int, short: bool) -> None:
        """An agent fetches some of what it may; where short it says that there was one page."""
        for key in sorted(self.world.agents[name].fetchable(self.world.true_ms))[:most]:
            work = self.world.agents[name].listed[key]
            self.world.fetch(name, key, kbytes=1 if short and work.kind == "probe" else -1)

    @rule(name=agent_names)
    def fail(self, name: str) -> None:
        """An agent finds a host that it probes out of reach."""
        agent = self.world.agents[name]
        for key, work in sorted(agent.fetchable(self.world.true_ms).items())[:1]:
            if work.kind == "probe":
                claim = FinishedUnit(
                    unit=key, kind="probe", round=work.round, pages=0, response_bytes=0,
                    reason="unreachable: timeout", failure="unreachable",
                )  # fmt: skip
                agent.done.add((key, work.key, work.round))
                agent.unanswered.append(claim)
                agent.claims[key, work.kind, work.round] = claim

    @rule(name=agent_names)
    def report(self, name: str) -> None:
        """An agent sends its log."""
        self.world.report(name)

    @rule(name=agent_names, disk=st.booleans())
    def crash(self, name: str, disk: bool) -> None:
        """An agent starts again, perhaps with an empty disk: its lines are lost."""
        agent = self.world.agents[name]
        agent.lose_disk() if disk else agent.reboot()

    @rule(host=host_names)
    def order(self, host: str) -> None:
        """A person orders probes of a host."""
        try:
            order_probes(self.db, ADMIN, self.world.now_ms, host=host, policy=self.world.policy)
        except ConflictError:
            return

    @rule()
    def cancel(self) -> None:
        """A person cancels the round, and starts another."""
        try:
            cancel_round(self.db, ADMIN, self.world.now_ms)
            start_round(self.db, "default", ADMIN, self.world.now_ms, policy=self.world.policy)
        except ConflictError:
            return

    @invariant()
    def consistent(self) -> None:
        """Every state that a transaction left passes the check; no two agents are at a host."""
        self.world.check_exclusive()
        assert check(self.db) == []

    @invariant()
    def needless_orders_have_a_witness(self) -> None:
        """Another agent's probe of the same round is done, with fewer pages than the limit."""
        c, done = probe_orders.c, probe_orders.alias("done")
        witness = sa.exists().where(
            done.c.unit_id == c.unit_id,
            done.c.round == c.round,
            done.c.agent_id != c.agent_id,
            done.c.state == "done",
            done.c.pages < self.world.policy.probe_pages,
        )
        with self.db.read() as tx:
            orders = sa.select(c.id).where(c.state == "not_needed", c.reason == SEEN_WHOLE)
            assert tx.values(orders.where(~witness)) == []
            given = orders.where(c.granted_ms.is_not(None), c.finished_ms.is_not(None))
            assert tx.values(given) == [], "what was carried out is not called needless"

    def teardown(self) -> None:
        """When everybody works again, the round ends and every host was crawled whole."""
        try:
            for _ in range(20):
                self.world.wait(40)
                self.world.tick()
            for name in NAMES:
                self.world.call(name)
            self.world.run()
            assert current_round(self.db) is None
            with self.db.read() as tx:
                left = sa.select(probe_orders.c.id).where(
                    probe_orders.c.state.in_(("waiting", "granted", "finished"))
                )
                assert tx.values(left) == []
            for name, size in zip(HOSTS, self.world.sizes.values(), strict=True):
                assert host_detail(self.db, name).units[0].pages == size
        finally:
            self.stack.close()


def _run(machine: type[Probing]) -> None:
    every = os.environ.get("PRSM_TESTS") == "all"
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=60 if every else 6,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.timeout(900)
def test_on_sqlite(sqlite_template: Path) -> None:
    """Any order of probes, lies, failures, crashes and orders of people."""

    @contextmanager
    def new_database() -> Iterator[Database]:
        folder = Path(tempfile.mkdtemp(prefix="prsm-probing-"))
        shutil.copyfile(sqlite_template, folder / "db")
        opened = Database(f"sqlite:///{folder}/db")

        @sa.event.listens_for(opened.engine, "connect")
        def hurry(connection: Any, _record: object) -> None:
            connection.execute("PRAGMA synchronous = OFF")

        try:
            yield opened
        finally:
            opened.close()
            shutil.rmtree(folder)

    _run(type("OnSqlite", (Probing,), {"new_database": staticmethod(new_database)}))


@pytest.mark.timeout(900)
@pytest.mark.postgres
def test_on_postgresql(postgres_server: PostgresServer) -> None:
    """The same on the other database."""

    @contextmanager
    def new_database() -> Iterator[Database]:
        with postgres_server.new_database() as url:
            opened = Database(url)
            try:
                yield opened
            finally:
                opened.close()

    _run(type("OnPostgresql", (Probing,), {"new_database": staticmethod(new_database)}))

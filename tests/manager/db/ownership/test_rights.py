"""The set form of the rules, in SQL, does what the rules say of each unit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.hosts import hosts
from manager.db.hosts.addresses import merge_groups
from manager.db.hosts.hosts import NewHost
from manager.db.ownership import right_lists, rights
from manager.db.ownership.rights import Grant
from manager.db.tables import holdings
from shared.messages import Message
from tests.examples import examples
from tests.manager.assignment.rights_model import (
    FREE,
    Free,
    Granted,
    Kind,
    Right,
    RightError,
    Withdrawn,
    acknowledge,
    finish,
    grant,
    may_grant,
    permit_over,
    withdraw,
)

TEST = Message("ownership.moved_by_hand")

KEYS = ("http://a.jp:80/", "http://b.jp:80/", "http://c.jp:80/")
units = st.integers(0, len(KEYS) - 1)
agent_numbers = st.integers(0, 1)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("grant"), agent_numbers, units, st.sampled_from(Kind)),
        st.tuples(st.just("withdraw"), agent_numbers, units),
        st.tuples(st.just("take back"), agent_numbers),
        st.tuples(st.just("acknowledge"), agent_numbers, st.integers(-1, 1)),
        st.tuples(st.just("finish"), agent_numbers, units),
        st.tuples(st.just("permit over"), agent_numbers),
        st.tuples(st.just("raise"), agent_numbers),
    ),
    max_size=25,
)


@pytest.fixture(scope="module")
def template(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two agents and three hosts, the last two at one address."""
    path = tmp_path_factory.mktemp("rights") / "db"
    shutil.copyfile(sqlite_template, path)
    db = Database(f"sqlite:///{path}")
    prepare(db)
    db.close()
    return path


def prepare(db: Database) -> None:
    """Add the agents and the hosts."""
    with db.write() as tx:
        for name in ("x", "y"):
            agents.add(tx, name, "sync", name, 0)
        hosts.add_hosts(tx, [NewHost(key, key, None, None) for key in KEYS], 0)
        merge_groups(tx, {}, {1: 1, 2: 2, 3: 2})


def stored(tx: Transaction) -> dict[int, Right]:
    """Return the rights in the table as the rules know them; units by their place in KEYS."""
    found: dict[int, Right] = {}
    for row in rights.of_units(tx, [1, 2, 3]):
        held = Granted(row.agent_id - 1, Kind(row.kind), row.round, row.granted_generation)
        found[row.unit_id - 1] = (
            held
            if row.withdrawn_generation is None
            else Withdrawn(
                held.agent, held.kind, held.round, held.granted_generation, row.withdrawn_generation
            )
        )
    return found


class Model:
    """What the rules say, unit by unit, next to what the table says."""

    def __init__(self, tx: Transaction) -> None:
        self.tx = tx
        self.rights: dict[int, Right] = dict.fromkeys(range(len(KEYS)), FREE)
        self.generation = [1, 1]

    def apply(self, step: tuple[object, ...]) -> None:
        """Do one step on both."""
        name, agent, *rest = step
        assert isinstance(agent, int)
        unit = rest[0] if rest and isinstance(rest[0], int) else 0
        match name:
            case "grant":
                kind = rest[1]
                assert isinstance(kind, Kind)
                self.give(agent, unit, kind)
            case "withdraw":
                rights.withdraw(self.tx, 5, TEST, unit_ids=[unit + 1], agent_id=agent + 1)
                if not isinstance(self.rights[unit], Free) and self.of(unit) == agent:
                    self.rights[unit] = withdraw(self.rights[unit], self.generation[agent] + 1)
            case "take back":
                rights.withdraw(self.tx, 5, TEST, agent_id=agent + 1)
                for each, right in self.rights.items():
                    if self.of(each) == agent:
                        self.rights[each] = withdraw(right, self.generation[agent] + 1)
            case "acknowledge":
                held = max(0, self.generation[agent] + unit)
                rights.free(self.tx, 5, TEST, agent_id=agent + 1, acknowledged=held)
                for each, right in self.rights.items():
                    self.rights[each] = acknowledge(right, agent, held)
            case "finish":
                right = self.rights[unit]
                if isinstance(right, Granted | Withdrawn) and right.agent == agent:
                    rights.free(self.tx, 5, TEST, agent_id=agent + 1, unit_ids=[unit + 1])
                    self.rights[unit] = finish(right, agent, right.kind, right.round, 10**9)
            case "permit over":
                rights.free(self.tx, 5, TEST, agent_id=agent + 1)
                for each, right in self.rights.items():
                    self.rights[each] = permit_over(right, agent)
            case "raise":
                agents.raise_generation(self.tx, agent + 1)
                self.generation[agent] += 1

    def of(self, unit: int) -> int | None:
        """Return who has a unit."""
        right = self.rights[unit]
        return None if isinstance(right, Free) else right.agent

    def give(self, agent: int, unit: int, kind: Kind) -> None:
        """Grant on both, where the rules allow it over the whole group."""
        group = [unit] if unit == 0 else [1, 2]
        if not may_grant((self.rights[each] for each in group), agent):
            return
        if not isinstance(self.rights[unit], Free):
            return  # the queries never offer a unit that somebody has
        try:
            self.rights[unit] = grant(self.rights[unit], agent, kind, 1, self.generation[agent] + 1)
        except RightError:
            return
        given = Grant(unit + 1, 1 if unit == 0 else 2, kind, 1, 0)
        rights.grant(self.tx, agent + 1, [given], 4)


@settings(max_examples=examples(150), deadline=None)
@given(taken=steps)
def test_sql_does_what_the_rules_say(template: Path, taken: list[tuple[object, ...]]) -> None:
    """After any steps the table holds the rights that the rules hold, unit by unit."""
    path = template.with_suffix(".run")
    shutil.copyfile(template, path)
    db = Database(f"sqlite:///{path}")
    try:
        with db.write() as tx:
            model = Model(tx)
            for step in taken:
                model.apply(step)
                expected = {u: r for u, r in model.rights.items() if not isinstance(r, Free)}
                assert stored(tx) == expected, step
    finally:
        db.close()


def test_every_right_that_ends_leaves_a_holding(database: Database) -> None:
    """Who held what until when is known for ever: logs are judged by it."""
    prepare(database)
    with database.write() as tx:
        rights.grant(tx, 1, [Grant(1, 1, "crawl", 3, 0)], 100)
        rights.free(tx, 250, rights.FINISHED, agent_id=1, unit_ids=[1])
        rights.grant(tx, 2, [Grant(1, 1, "probe", 4, 50)], 300)
        held = right_lists.held_between(tx, 1, 200, 240)
        assert [(row.unit, row.kind, row.round, row.since_ms, row.until_ms) for row in held] == [
            (KEYS[0], "crawl", 3, 100, 250)
        ]
        assert right_lists.held_between(tx, 1, 251, 999) == []
        assert [row.until_ms for row in right_lists.held_between(tx, 2, 0, 999)] == [None]
        assert tx.value(sa.select(sa.func.count()).select_from(holdings)) == 1

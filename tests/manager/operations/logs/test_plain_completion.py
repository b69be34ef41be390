"""A unit of a plain agent is finished when its logs show it, and never before."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.tables import rights, unit_rounds, units
from manager.operations.fleet.agents import agent_detail
from manager.operations.fleet.contact import subscribe, unsubscribe
from manager.operations.rounds.rounds import current_round
from tests.manager.log_sums import unit_sum
from tests.manager.operations.plain_agent import HOUR_S, CountingAgent, counting_agent
from tests.manager.operations.world import POLICY

YEAR_S: Final = 365 * 24 * HOUR_S
CALM: Final = replace(POLICY, plain_permit_s=YEAR_S, max_tick_gap_s=YEAR_S, grace_s=YEAR_S)
"""Nothing is taken from an agent that is silent for some nights."""
FIVE: Final = {f"h{number}.jp": 3 for number in range(1, 6)}
EXAMPLES: Final = 150 if os.environ.get("PRSM_TESTS") == "all" else 3


def prepared(database: Database, pages: dict[str, int], *, comments: bool) -> CountingAgent:
    """Return an agent that has just asked for its first list."""
    agent = counting_agent(database, pages, comments=comments, policy=CALM)
    agent.ask_list()
    return agent


def finished(agent: CountingAgent) -> set[str]:
    """Return the units that the manager takes as finished."""
    with agent.world.db.read() as tx:
        query = sa.select(units.c.key).join(unit_rounds, unit_rounds.c.unit_id == units.c.id)
        return set(tx.values(query.where(unit_rounds.c.state == "finished")))


def test_one_line_of_one_unit_finishes_no_other(database: Database) -> None:
    """Five units, one line of one of them, and the list asked for again: four stay on it."""
    agent = prepared(database, FIVE, comments=False)
    first = sorted(agent.listed)[0]
    agent.fetch(first)
    agent.close_log()
    agent.send()
    agent.ask_list()
    agent.ask_list()
    assert finished(agent) <= {first}
    assert agent.listed >= set(agent.pages) - {first}


def test_one_line_of_one_unit_finishes_nothing_of_an_agent_with_comments(
    database: Database,
) -> None:
    """An agent that has written `#Finished=` is believed by that comment, and by nothing else."""
    agent = prepared(database, FIVE, comments=True)
    first, second, *_ = sorted(agent.listed)
    agent.fetch(first, 3)
    agent.fetch(second)
    agent.close_log()
    agent.send()
    assert finished(agent) == {first}
    agent.ask_list()
    assert finished(agent) == {first}
    assert agent.listed == set(agent.pages) - {first}


def test_a_list_at_each_nightly_start_finishes_nothing_that_goes_on(database: Database) -> None:
    """The source's agent: a list at night, a log in the morning; a large host needs nights."""
    agent = prepared(database, {"small.jp": 1, "large.jp": 9, "silent.jp": 1}, comments=False)
    small, large = "http://small.jp:80/", "http://large.jp:80/"
    for night in range(6):
        agent.fetch(small)
        agent.fetch(large, 3)
        agent.wait(9 * HOUR_S)
        agent.close_log()
        agent.send()
        agent.wait(15 * HOUR_S)
        agent.ask_list()
        assert finished(agent) == ({small} if night >= 1 else set()) | (
            {large} if night >= 3 else set()
        )
    assert agent.listed == {"http://silent.jp:80/"}


def test_a_late_log_and_a_restart_of_the_process_finish_nothing(database: Database) -> None:
    """Yesterday's log arrives at the nightly start; the process starts twice in that night."""
    agent = prepared(database, FIVE, comments=False)
    for unit in sorted(agent.listed):
        agent.fetch(unit)
    agent.wait(9 * HOUR_S)
    agent.close_log()
    agent.wait(15 * HOUR_S)
    agent.send()
    agent.ask_list()
    agent.wait(60)
    agent.ask_list()
    assert finished(agent) == set()


def test_a_restart_that_was_ordered_forgets_what_was_fetched(database: Database) -> None:
    """After RESTART a unit begins anew: old lines finish it neither then nor two nights later."""
    agent = prepared(database, {"a.jp": 2}, comments=False)
    unit = "http://a.jp:80/"
    agent.fetch(unit)
    agent.close_log()
    agent.send()
    with database.write() as tx:
        number = agent.world.agents["p"].identity.id
        agents.update(tx, number, restart_ordered_ms=agent.world.now_ms)
    agent.wait(60)
    agent.ask_list()
    agent.wait(48 * HOUR_S)
    agent.close_log()
    agent.send()
    agent.wait(2 * HOUR_S)
    agent.ask_list()
    assert finished(agent) == set()
    assert agent_detail(database, "p", agent.world.now_ms).view.crawl_rights == 1


def order_restart(agent: CountingAgent) -> None:
    """Let the administrator order RESTART."""
    world = agent.world
    with world.db.write() as tx:
        number = world.agents["p"].identity.id
        agents.update(tx, number, restart_ordered_ms=world.now_ms)


def test_a_late_log_of_before_a_restart_finishes_nothing(database: Database) -> None:
    """It was closed before the list was dropped; what it says to be finished is fetched anew."""
    agent = prepared(database, FIVE, comments=True)
    first, second, *_ = sorted(agent.listed)
    agent.fetch(first, 3)
    agent.wait(HOUR_S)
    agent.close_log()
    agent.wait(2 * HOUR_S)
    order_restart(agent)
    agent.wait(60)
    agent.ask_list()
    agent.send()
    assert finished(agent) == set()
    agent.fetch(second, 3)
    agent.wait(HOUR_S)
    agent.close_log()
    agent.send()
    assert finished(agent) == {second}


def test_lines_of_before_a_restart_fill_no_page_limit(database: Database) -> None:
    """A limit is reached by the lines since the restart."""
    agent = prepared(database, FIVE, comments=True)
    first, *_ = sorted(agent.listed)
    with database.write() as tx:
        tx.execute(rights.update().values(max_transfer=3))
    agent.fetch(first, 2)
    agent.wait(HOUR_S)
    agent.close_log()
    agent.send()
    order_restart(agent)
    agent.wait(60)
    agent.ask_list()
    agent.fetched.clear()
    for count, done in ((1, set()), (3, {first})):
        agent.fetch(first, count)
        agent.said.clear()
        agent.wait(HOUR_S)
        agent.close_log()
        agent.send()
        assert finished(agent) == done
        agent.fetched.clear()


@pytest.mark.parametrize(
    ("lines", "pages", "robots_lines", "odd_lines", "is_finished"),
    [
        (3, 0, 0, 0, True),  # three answers of 404
        (3, 3, 1, 0, False),  # a robots.txt of each night
        (5, 2, 3, 0, False),
        (6, 1, 3, 0, True),
        (2, 2, 0, 1, True),  # one that says what no line can
    ],
)
def test_all_lines_but_those_of_robots_txt_fill_a_page_limit(
    database: Database,
    lines: int,
    pages: int,
    robots_lines: int,
    odd_lines: int,
    *,
    is_finished: bool,
) -> None:
    """Answers of any status do, over all logs; robots.txt is asked for as often as need be."""
    agent = prepared(database, FIVE, comments=True)
    first, *_ = sorted(agent.listed)
    with database.write() as tx:
        tx.execute(rights.update().values(max_transfer=3))
    agent.wait(60)
    for number, part in enumerate((1, lines - 1)):
        agent.close_log()
        unit = replace(unit_sum(first, 1, "crawl", part, 100, 9), pages=pages if number else 0)
        if number:
            unit = replace(unit, robots_lines=robots_lines, odd_lines=odd_lines)
        log = replace(agent.outbox.pop(), units=(unit,), finished=())
        agent.outbox.append(log)
        agent.send()
        agent.wait(60)
    assert (first in finished(agent)) == is_finished


def test_lines_of_before_it_left_finish_nothing_after_it_came_back(database: Database) -> None:
    """A unit that is given to it again is another order, of the same round and kind though."""
    agent = prepared(database, FIVE, comments=False)
    world, identity = agent.world, agent.world.agents["p"].identity
    first, second, *_ = sorted(agent.listed)
    agent.fetch(first)
    agent.wait(9 * HOUR_S)
    agent.close_log()
    agent.send()
    unsubscribe(database, identity, world.now_ms, CALM)
    agent.wait(38 * HOUR_S)
    subscribe(database, identity, world.now_ms, CALM)
    agent.wait(60)
    agent.ask_list()
    assert first in agent.listed
    agent.fetch(second)
    agent.wait(9 * HOUR_S)
    agent.close_log()
    agent.send()
    agent.wait(15 * HOUR_S)
    agent.ask_list()
    assert finished(agent) == set()


def test_a_clock_of_the_manager_that_is_set_back_finishes_nothing(database: Database) -> None:
    """A log that was closed tomorrow was not closed within the hour."""
    agent = prepared(database, FIVE, comments=False)
    agent.world.leap(48 * HOUR_S)
    agent.world.tick()
    agent.ask_list()
    for unit in sorted(agent.listed):
        agent.fetch(unit)
    agent.wait(9 * HOUR_S)
    agent.close_log()
    agent.send()
    agent.world.leap(-48 * HOUR_S)
    agent.world.tick()
    agent.wait(15 * HOUR_S)
    agent.ask_list()
    assert finished(agent) == set()


def test_a_clock_of_the_manager_that_is_set_back_voids_no_comment(database: Database) -> None:
    """When the unit was given, by the wrong clock, is not known any more."""
    agent = prepared(database, FIVE, comments=True)
    world = agent.world
    world.leap(48 * HOUR_S)
    world.tick()
    order_restart(agent)
    agent.ask_list()
    world.leap(-48 * HOUR_S)
    world.tick()
    first, *_ = sorted(agent.listed)
    agent.fetch(first, 3)
    agent.wait(60)
    agent.close_log()
    agent.send()
    assert finished(agent) == {first}


def test_a_clock_of_the_agent_that_is_behind_holds_nothing_open(database: Database) -> None:
    """All of its logs come two hours after the minute of their names."""
    agent = prepared(database, FIVE, comments=True)
    for unit in sorted(agent.listed):
        agent.fetch(unit, 3)
        agent.wait(60)
        agent.close_log()
        named = datetime.fromtimestamp(agent.world.now_ms / 1000 - 2 * HOUR_S, UTC)
        log = agent.outbox.pop()
        name = f"p.{named:%Y%m%d%H%M}"
        agent.outbox.append(replace(log, name=name, until_ms=agent.world.now_ms))
        agent.send()
    assert finished(agent) == set(agent.pages)


def test_an_agent_that_joins_again_may_be_one_without_comments(database: Database) -> None:
    """What the program before wrote is no promise of the one that joins now."""
    agent = prepared(database, FIVE, comments=True)
    first, *_ = sorted(agent.listed)
    agent.fetch(first, 3)
    agent.close_log()
    agent.send()
    agent.world.join("p", kind="plain", key="another")
    agent.comments = False
    agent.wait(60)
    agent.ask_list()
    for unit in sorted(agent.listed):
        agent.fetch(unit, 3)
    agent.wait(600)
    agent.close_log()
    agent.send()
    agent.wait(60)
    agent.ask_list()
    assert finished(agent) == set(agent.pages)


@contextmanager
def fresh_database(template: Path) -> Iterator[Database]:
    """Yield a database of its own, for one example."""
    with tempfile.TemporaryDirectory(prefix="prsm-plain-") as folder:
        path = Path(folder) / "db"
        shutil.copyfile(template, path)
        database = Database(f"sqlite:///{path}")
        try:
            yield database
        finally:
            database.engine.dispose()


pages_of_units = st.lists(st.integers(1, 4), min_size=1, max_size=4)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("fetch"), st.integers(0, 3)),
        st.tuples(st.sampled_from(["close", "send", "list"]), st.just(0)),
        st.tuples(st.just("wait"), st.sampled_from([1, 30 * 60, 10 * HOUR_S, 40 * HOUR_S])),
    ),
    max_size=40,
)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(pages=pages_of_units, taken=steps)
def test_comments_finish_what_is_fetched_and_nothing_else(
    sqlite_template: Path, pages: list[int], taken: list[tuple[str, int]]
) -> None:
    """Whatever an agent with comments does in whatever order: finished is what it has fetched."""
    with fresh_database(sqlite_template) as database:
        agent = prepared(
            database, {f"h{n}.jp": count for n, count in enumerate(pages)}, comments=True
        )
        units_in_order = sorted(agent.pages)
        for what, value in [*taken, ("close", 0)]:
            if what == "fetch":
                agent.fetch(units_in_order[value % len(units_in_order)])
            elif what == "close":
                agent.wait(60)
                agent.close_log()
            elif what == "send":
                agent.send()
            elif what == "list":
                agent.ask_list()
            else:
                agent.wait(value)
            done = {unit for unit in agent.pages if not agent.left(unit)}
            assert finished(agent) <= done
        for unit in units_in_order:
            agent.ask_list()
            agent.fetch(unit, 4)
        agent.wait(60)
        agent.close_log()
        agent.send()
        assert finished(agent) == set(agent.pages)


nights = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["work", "log", "list"]), max_size=4),
        st.booleans(),
    ),
    max_size=6,
)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(pages=pages_of_units, taken=nights)
def test_an_agent_of_nights_is_never_taken_for_finished_too_early(
    sqlite_template: Path, pages: list[int], taken: list[tuple[list[str], bool]]
) -> None:
    """A list at each nightly start, a log each morning: partial logs, late ones and restarts too.

    Each night brings at least one page of each unit that has one left. Once nothing is left, three
    nights finish all.
    """
    with fresh_database(sqlite_template) as database:
        agent = prepared(
            database, {f"h{n}.jp": count for n, count in enumerate(pages)}, comments=False
        )

        def night(events: list[str], *, late: bool) -> None:
            agent.ask_list()
            for unit in sorted(agent.pages):
                agent.fetch(unit)
            for event in events:
                agent.wait(2 * HOUR_S)
                if event == "log":
                    agent.close_log()
                    agent.send()
                elif event == "list":
                    agent.ask_list()
                else:
                    agent.fetch(sorted(agent.pages)[0])
                assert finished(agent) <= {one for one in agent.pages if not agent.left(one)}
            agent.wait((9 - 2 * len(events)) * HOUR_S)
            agent.close_log()
            if not late:
                agent.send()
            agent.wait(15 * HOUR_S)
            if late:
                agent.send()

        for events, late in taken:
            night(events, late=late)
            assert finished(agent) <= {one for one in agent.pages if not agent.left(one)}
        for _ in range(4 + 3):
            night([], late=False)
        agent.ask_list()
        assert finished(agent) == set(agent.pages)
        agent.wait(60)
        assert current_round(database) is None

"""Agents as people see and steer them."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.errors import ConflictError, NotFoundError
from manager.operations.fleet.agents import (
    agent_detail,
    list_agents,
    list_join_tokens,
    order_command,
    retire,
    set_next_list_limit,
)
from manager.operations.identity.enrolment import issue_join_token
from manager.operations.people.audit_log import audit_page
from shared.errors import FormatError
from tests.manager.operations.fleet.test_contact import H1, crawling
from tests.manager.operations.world import ADMIN, World


def test_every_agent_has_a_state_and_a_reason(database: Database) -> None:
    """From new to retired, in words; what it owns and may fetch beside it."""
    world = crawling(database, "b")
    world.join("a", kind="plain")
    world.join("c")
    retire(database, "c", ADMIN, world.now_ms)
    views = list_agents(database, world.now_ms, world.policy)
    assert [(view.row.name, view.liveness.state) for view in views] == [
        ("a", "new"),
        ("b", "working"),
        ("c", "retired"),
    ]
    assert all(view.liveness.reason for view in views)
    assert [(view.units_owned, view.crawl_rights) for view in views] == [(0, 0), (1, 1), (0, 0)]


def test_work_is_seen_in_what_was_fetched(database: Database) -> None:
    """An agent that finishes units works; one that only calls is idle, and that needs a look.

    A round that has just begun marks nobody: its list is a moment old.
    """
    world = crawling(database, "a")
    fresh = agent_detail(database, "a", world.now_ms, world.policy).view.liveness
    assert (fresh.state, fresh.attention) == ("working", False)
    assert fresh.reason.code == "fleet.state_list_fetched"
    for _ in range(33):
        world.wait(30)
        world.tick()
        world.sync("a")
    idle = agent_detail(database, "a", world.now_ms, world.policy).view.liveness
    assert (idle.state, idle.attention) == ("idle", True)
    world.fetch("a", H1)
    world.sync("a")
    assert agent_detail(database, "a", world.now_ms, world.policy).view.liveness.state == "working"


def test_retiring_twice_is_once(database: Database) -> None:
    """A repeat of what is done already is no new act."""
    world = World(database)
    world.join("a")
    retire(database, "a", ADMIN, world.now_ms)
    retire(database, "a", ADMIN, world.now_ms + 1)
    assert len(audit_page(database, action="agent.retire")) == 1


def test_commands_that_make_no_sense_are_refused(database: Database) -> None:
    """Unknown words, unknown agents, plain agents that could not hear it, retired ones."""
    world = World(database)
    world.join("a")
    world.join("p", kind="plain")
    with pytest.raises(FormatError, match="must be restart or drain or pause or resume"):
        order_command(database, "a", "explode", ADMIN, 0)
    with pytest.raises(FormatError, match="only a restart deletes them"):
        order_command(database, "a", "drain", ADMIN, 0, pages=True)
    with pytest.raises(ConflictError, match="cannot be ordered to delete pages"):
        order_command(database, "p", "restart", ADMIN, 0, pages=True)
    with pytest.raises(NotFoundError):
        order_command(database, "nobody", "drain", ADMIN, 0)
    with pytest.raises(ConflictError, match="can only restart"):
        order_command(database, "p", "pause", ADMIN, 0)
    retire(database, "a", ADMIN, 0)
    with pytest.raises(ConflictError, match="was retired"):
        order_command(database, "a", "restart", ADMIN, 0)
    with pytest.raises(FormatError, match="pages = -1"):
        set_next_list_limit(database, "p", -1, ADMIN, 0)


def test_a_limited_crawl_is_finished_when_its_limit_is(database: Database) -> None:
    """An agent reads a limit as a probe; what it says of it counts for the crawl it is."""
    world = crawling(database, "a")
    set_next_list_limit(database, "a", 50, ADMIN, world.now_ms)
    world.tick()
    world.call("a")
    work = world.agents["a"].fetchable(world.true_ms)[H1]
    assert (work.kind, work.max_transfer) == ("probe", 50)
    world.fetch("a", H1)
    world.call("a")
    assert agent_detail(database, "a", world.now_ms).view.crawl_rights == 0


def test_tokens_are_listed_until_used(database: Database) -> None:
    """People see which invitations are open, never the tokens."""
    issue_join_token(database, "new", ADMIN, 1000)
    waiting = list_join_tokens(database, 2000)
    assert [(row.agent, row.issued_by) for row in waiting] == [("new", "hana")]
    assert list_join_tokens(database, 10**12) == []

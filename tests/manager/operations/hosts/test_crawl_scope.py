"""The scope of the crawl: what it closes and opens, and who hears of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.db.hosts import hosts
from manager.errors import ConflictError
from manager.operations.hosts.addresses import hosts_to_resolve
from manager.operations.hosts.crawl_scope import (
    preview_scope,
    scope_of_crawl,
    set_scope,
    try_scope,
)
from manager.operations.hosts.hosts import exclude_host, import_hosts, include_host
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.rounds import start_round
from shared.errors import LineError
from tests.manager.operations.syncs import sync
from tests.manager.operations.world import ADMIN, World

JP, COM = "http://a.example.jp:80/", "http://a.example.com:80/"


def _states(db: Database) -> dict[str, str]:
    with db.read() as tx:
        return {unit.key: unit.state for unit in hosts.units_of_hosts(tx, [JP, COM])}


def test_a_narrower_scope_closes_units_in_mid_crawl(database: Database) -> None:
    """Their agents' next lists name them no more; a wider scope opens them again."""
    world = World(database)
    world.join("a")
    world.hosts("a.example.jp", "a.example.com")
    start_round(database, "tree", ADMIN, world.now_ms, probe=False)
    for _ in range(4):
        world.tick()
        world.call("a")
    assert set(world.agents["a"].listed) == {JP, COM}
    found = preview_scope(database, "include *.jp")
    assert (found.closed_hosts, found.closed_units, found.closed_examples) == (1, 1, [COM])
    assert set(_states(database).values()) == {"placed"}

    assert set_scope(database, "include *.jp", "the goal", ADMIN, world.now_ms) == 1
    world.tick()
    world.call("a")
    assert set(world.agents["a"].listed) == {JP}
    assert _states(database) == {JP: "placed", COM: "excluded"}
    shown = scope_of_crawl(database)
    assert (shown.version, shown.outside, shown.is_applied) == (1, 1, True)
    assert hosts_to_resolve(database, world.now_ms + 10**9, 9)[0].key == JP
    assert len(hosts_to_resolve(database, world.now_ms + 10**9, 9)) == 1
    assert audit_page(database, limit=1)[0].action == "scope.set"

    set_scope(database, "", "", ADMIN, world.now_ms)
    assert _states(database) == {JP: "placed", COM: "idle"}


def test_lists_and_agents_bring_nothing_from_outside(database: Database) -> None:
    """A line of an import is refused with the rule; the top page of a partial host is not."""
    world = World(database)
    text = "exclude http://a.example.jp/\ninclude *.jp\ninclude http://a.example.com/blog/"
    set_scope(database, text, "", ADMIN, world.now_ms)
    lines = ["http://b.example.jp/", "http://a.example.jp/x", "a.example.com", "b.example.com"]
    done = import_hosts(database, enumerate(lines, 1), ADMIN, world.now_ms)
    assert done.new == 2
    assert [line for line, _ in done.refused] == [2, 4]
    assert "by the rule `default exclude`" in str(done.refused[1][1])
    tried = try_scope(database, "A.Example.COM/about")
    assert (tried.is_inside, tried.is_host_inside, tried.rule) == (False, True, "default exclude")
    assert try_scope(database, "http://b.example.jp/").line == 2


def test_agents_receive_a_scope_once(database: Database) -> None:
    """By its version; an agent of the version before hears nothing of it."""
    world = World(database)
    world.join("a")

    def told(held: int | None) -> tuple[int, str] | None:
        request = replace(world.request("a"), scope_held=held)
        world.agents["a"].sequence += 1
        answer = sync(database, world.agents["a"].identity, request, world.now_ms, world.policy)
        scope = answer.scope
        return None if scope is None else (scope.version, scope.text)

    assert told(0) is None
    set_scope(database, "include *.jp", "", ADMIN, world.now_ms)
    assert told(None) is None
    assert told(0) == (1, "include *.jp")
    assert told(1) is None


def test_a_bad_line_changes_nothing(database: Database) -> None:
    """Nor does a change of a version that is no longer in force."""
    now_ms = World(database).now_ms
    with pytest.raises(LineError, match="line 2: allow"):
        set_scope(database, "include *.jp\nallow x", "", ADMIN, now_ms)
    with pytest.raises(LineError, match="line 1"):
        preview_scope(database, "include")
    assert scope_of_crawl(database).version == 0
    set_scope(database, "include *.jp", "", ADMIN, now_ms, 0)
    with pytest.raises(ConflictError, match="changed in the meantime"):
        set_scope(database, "include *.com", "", ADMIN, now_ms, 0)
    assert set_scope(database, "include *.jp", "", ADMIN, now_ms) == 1


def test_an_excluded_host_stays_excluded_whatever_the_scope(database: Database) -> None:
    """And one that is included again stays outside where the scope says so."""
    world = World(database)
    world.hosts("a.example.jp", "a.example.com")
    set_scope(database, "include *.jp", "", ADMIN, world.now_ms)
    exclude_host(database, COM, "asked for", ADMIN, world.now_ms)
    set_scope(database, "", "", ADMIN, world.now_ms)
    assert _states(database)[COM] == "excluded"
    set_scope(database, "include *.jp", "", ADMIN, world.now_ms)
    include_host(database, COM, ADMIN, world.now_ms)
    assert _states(database)[COM] == "excluded"
    set_scope(database, "", "", ADMIN, world.now_ms)
    assert _states(database)[COM] == "idle"

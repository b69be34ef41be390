"""M2: what agents find outside their units."""

from __future__ import annotations

from manager.db.engine import Database
from manager.operations.hosts.host_views import host_detail, list_hosts
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.people.audit_log import audit_page
from manager.operations.policy import Policy
from tests.manager.operations.discovered import record_discovered
from tests.manager.operations.world import World

DAY_MS = 86_400_000


def agent(database: Database) -> AgentIdentity:
    """Return an agent that has joined."""
    world = World(database)
    world.join("a")
    return world.agents["a"].identity


def test_who_found_a_host_and_where_is_kept(database: Database) -> None:
    """The finder probes it first; the referer tells people why it is known."""
    finder = agent(database)
    found = [(1, "http://new.jp/", "http://old.jp/links.html"), (2, "no url", None)]
    brought = record_discovered(database, finder, found, 7)
    assert (brought.new, brought.known, brought.refused_count) == (1, 0, 1)
    host = host_detail(database, "new.jp").host
    assert (host.found_by, host.referer, host.first_seen_ms) == (
        finder.id,
        "http://old.jp/links.html",
        7,
    )


def test_a_referer_may_be_any_bytes(database: Database) -> None:
    """What is no text spoils neither its host nor the others."""
    finder = agent(database)
    referers = {
        "a.jp": b"http://old.jp/caf\xe9".decode("utf-8", "surrogateescape"),
        "b.jp": "http://old.jp/\0.html",
        "c.jp": "http://old.jp/\u65e5.html",
    }
    found = [(n, f"http://{host}/", text) for n, (host, text) in enumerate(referers.items(), 1)]
    assert record_discovered(database, finder, found, 7).new == 3
    kept = [host_detail(database, host).host.referer for host in referers]
    assert kept == ["http://old.jp/caf\ufffd", "http://old.jp/\ufffd.html", referers["c.jp"]]


def test_a_repeat_brings_nothing(database: Database) -> None:
    """An agent that did not hear the answer sends it again; nothing doubles."""
    finder = agent(database)
    found = [(1, "http://new.jp/", None), (2, "http://new.jp/page.html", None)]
    first = record_discovered(database, finder, found, 7)
    again = record_discovered(database, finder, found, 8)
    assert (first.new, first.start_pages, again.new, again.start_pages) == (1, 1, 0, 0)
    assert again.known == 2


def test_a_day_has_a_limit(database: Database) -> None:
    """A wild agent adds so many a day and no more; one alert; tomorrow it may go on."""
    finder = agent(database)
    policy = Policy(discoveries_per_day=10)

    def send(first: int, now_ms: int) -> tuple[int, int]:
        found = ((n, f"http://h{n}.jp/", None) for n in range(first, first + 8))
        brought = record_discovered(database, finder, found, now_ms, policy)
        return brought.new, brought.over_limit

    assert send(0, DAY_MS) == (8, 0)
    assert send(8, DAY_MS + 1) == (2, 6)
    assert send(16, DAY_MS + 2) == (0, 8)
    assert len(audit_page(database, alerts=True)) == 1
    assert send(24, 2 * DAY_MS) == (8, 0)
    assert list_hosts(database).matching == 18


def test_batches_count_against_the_same_day(database: Database) -> None:
    """A body of several batches has one limit."""
    finder = agent(database)
    found = ((n, f"http://h{n}.jp/", None) for n in range(2600))
    brought = record_discovered(database, finder, found, 7, Policy(discoveries_per_day=1500))
    assert (brought.new, brought.over_limit) == (1500, 1100)

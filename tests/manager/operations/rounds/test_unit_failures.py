"""Units of which not a single page came: they failed, and are finished in no count."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from manager.db.engine import Database
from manager.db.tables import unit_rounds
from manager.operations.health.few_hosts import FewCode
from manager.operations.health.round_counts import unit_counts
from manager.operations.hosts.host_views import host_detail
from manager.operations.planning.distance_views import DistanceView
from manager.operations.rounds.round_report import round_report
from manager.operations.rounds.rounds import current_round, round_detail, start_round
from shared.messages import Message
from shared.wire.sync import FinishedUnit
from tests.manager.operations.plain_agent import counting_agent
from tests.manager.operations.world import ADMIN, POLICY, World

HOSTS = [f"h{number}.jp" for number in range(1, 5)]


def unit(name: str) -> str:
    return f"http://{name}:80/"


def claim(world: World, name: str, host: str, *, failure: str, reason: str) -> None:
    """Let an agent say of a unit of its list that nothing came of it."""
    agent = world.agents[name]
    work = agent.listed[unit(host)]
    agent.done.add((unit(host), work.key, work.round))
    told = FinishedUnit(
        unit=unit(host),
        kind="probe" if work.max_transfer else "crawl",
        round=work.round,
        pages=0,
        response_bytes=0,
        reason=reason,
        failure=failure,
    )
    agent.unanswered.append(told)


def crawling(database: Database) -> World:
    """Return a world in which `a` has all hosts to crawl."""
    world = World(database)
    world.join("a")
    world.hosts(*HOSTS)
    start_round(database, "default", ADMIN, world.now_ms, probe=False, policy=world.policy)
    for _ in range(3):
        world.tick()
        world.call("a")
    assert {work.kind for work in world.agents["a"].listed.values()} == {"crawl"}
    return world


@pytest.mark.parametrize(
    ("failure", "reason", "kept"),
    [
        ("no_such_name", "unreachable: h1.jp has no address", "no_such_name"),
        ("forbidden_address", "unreachable: forbidden address", "forbidden_address"),
        ("unreachable", "unreachable: robots.txt: status 503", "unreachable"),
        ("of_a_newer_version", "unreachable: who knows", "of_a_newer_version"),
        ("", "unreachable: connection refused", "unreachable"),  # an agent before 0.2
    ],
)
def test_a_unit_without_a_page_failed(
    database: Database, failure: str, reason: str, kept: str
) -> None:
    """It is counted as failed, by its code, in the round, its agent and the report; none else."""
    world = crawling(database)
    claim(world, "a", HOSTS[0], failure=failure, reason=reason)
    for host in HOSTS[1:]:
        world.fetch("a", unit(host))
    world.call("a")
    world.report("a")
    detail = round_detail(database, 1)
    assert detail.units == {"failed": 1, "finished": 3}
    assert detail.failures == {kept: 1}
    assert detail.agents[0]["failures"] == {kept: 1}
    report = round_report(database, 1)
    assert (report.failures, report.agents[0].failed) == ({kept: 1}, 1)
    (counts,) = unit_counts(database)
    assert (counts.agent, counts.finished, counts.failures) == ("a", 3, {kept: 1})


def test_a_round_ends_with_units_that_failed(database: Database) -> None:
    """Nothing waits for them, and the next round tries them again."""
    world = crawling(database)
    for host in HOSTS:
        claim(world, "a", host, failure="no_such_name", reason="unreachable: no such name")
    world.call("a")
    for _ in range(4):
        world.wait(world.policy.log_timeout_s + 1)
        world.tick()
        world.call("a")
    assert current_round(database) is None
    assert round_detail(database, 1).units == {"failed": 4}
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    for _ in range(3):
        world.tick()
        world.call("a")
    assert len(world.agents["a"].fetchable(world.true_ms)) == 4


def test_a_unit_whose_host_dies_later_is_finished(database: Database) -> None:
    """Pages came of it: what ended it is its reason, as before."""
    world = crawling(database)
    world.fetch("a", unit(HOSTS[0]))
    told = world.agents["a"].unanswered
    told[:] = [replace(one, reason="unreachable: timeout") for one in told]
    world.call("a")
    assert round_detail(database, 1).units["finished"] == 1
    with database.read() as tx:
        reasons = tx.values(sa.select(unit_rounds.c.reason).where(unit_rounds.c.pages > 0))
    assert reasons == [Message.of_text("unreachable: timeout")]


def probed(database: Database, *, failure: str, reason: str) -> list[DistanceView]:
    """Return the distances to a host whose probe brought no byte."""
    world = World(database)
    world.join("a")
    world.hosts("h1.jp")
    world.order_probes("h1.jp")
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    world.tick()
    world.call("a")
    claim(world, "a", "h1.jp", failure=failure, reason=reason)
    world.call("a")
    assert round_detail(database, 1).orders == {"done": 1}
    return host_detail(database, "h1.jp", world.policy).distances


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ("no_such_name", "unreachable: h1.jp has no address: Domain name not found"),
        ("unreachable", "unreachable: refused, 3 requests in a row"),
        ("", "unreachable: refused"),  # an agent before 0.2
    ],
)
def test_a_probe_that_failed_is_unreachable(database: Database, failure: str, reason: str) -> None:
    """The agent says that it tried, and that nothing answered."""
    (row,) = probed(database, failure=failure, reason=reason)
    assert (row.ms_per_kb, row.state) == (None, "unreachable")


@pytest.mark.parametrize(
    "reason",
    [
        "complete",  # robots.txt allows nothing, and was read
        "nothing to fetch",
        "not probed: Crawl-delay of 600 s",
        "page limit",
        "finished before",
    ],
)
def test_a_probe_without_a_byte_that_did_not_fail_is_not_unreachable(
    database: Database, reason: str
) -> None:
    """Nobody said that the host does not answer: it has no distance, and the probe is over."""
    assert probed(database, failure="", reason=reason) == []


def test_a_plain_agents_unit_without_an_answer_failed(database: Database) -> None:
    """Its log has lines of the unit, and no answer among them."""
    agent = counting_agent(database, {"h1.jp": 3, "h2.jp": 3}, comments=True, policy=POLICY)
    agent.ask_list()
    for listed in sorted(agent.listed):
        agent.fetch(listed, 3)
    agent.close_log()
    silent = sorted(agent.listed)[0]
    agent.outbox = [
        replace(
            log,
            units=tuple(
                replace(one, failed=one.requests, pages=0, response_bytes=0, ms=0)
                if one.unit == silent
                else one
                for one in log.units
            ),
        )
        for log in agent.outbox
    ]
    agent.send()
    detail = round_detail(database, 1)
    assert detail.units == {"failed": 1, "finished": 1}
    assert detail.failures == {"unreachable": 1}


def test_who_has_few_is_told_by_code() -> None:
    """Each program that switches on it knows both."""
    assert {code.value for code in FewCode} == {"few_resolved", "few_reached"}

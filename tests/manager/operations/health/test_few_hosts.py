"""When few hosts are resolved or reached, and that it is over again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from manager.db.engine import Database
from manager.operations.health.alerts import Notification, notifications
from manager.operations.health.few_hosts import (
    FewCode,
    FewHosts,
    UnitCounts,
    alert_of,
    few_of_agents,
    few_of_manager,
)
from manager.operations.health.system_figures import system_figures_of
from manager.operations.hosts.addresses import Resolution, hosts_to_resolve, record_resolutions
from manager.operations.hosts.hosts import import_hosts
from manager.operations.hosts.name_lookups import look_up_again
from manager.operations.rounds.rounds import start_round
from manager.settings import AlertSettings
from shared.messages import Message
from shared.naming import HostFailure
from tests.manager.operations.health.no_alerts import OFF
from tests.manager.operations.rounds.test_unit_failures import HOSTS, claim, crawling, unit
from tests.manager.operations.syncs import sync
from tests.manager.operations.world import ADMIN, World

LIMITS = replace(OFF, min_reachable_share=0.5)


def told(world: World, limits: AlertSettings = LIMITS) -> list[Notification]:
    seen = system_figures_of(world.db, Path("/"), world.policy, world.now_ms)
    return notifications(world.db, seen, [], limits, world.now_ms)


def look_up(world: World, *, good: int) -> None:
    """Look up what is due; so many names lead somewhere, the others do not exist."""
    due = hosts_to_resolve(world.db, world.now_ms, 100)
    record_resolutions(
        world.db,
        [
            Resolution(host.host_id, host.key, (f"192.0.2.{number + 1}",))
            if number < good
            else Resolution(host.host_id, host.key, (), None, HostFailure.NO_SUCH_NAME)
            for number, host in enumerate(due)
        ],
        world.now_ms,
        world.policy,
    )


@pytest.mark.parametrize(
    ("resolved", "failed", "waiting", "share", "is_few"),
    [
        (0, 4, 0, 0.5, True),
        (0, 1, 0, 0.5, True),  # all that there are
        (0, 3, 1, 0.5, False),  # three, and more to come
        (0, 4, 1, 0.5, True),
        (2, 2, 0, 0.5, False),  # just as many as are wanted
        (49, 51, 0, 0.5, True),
        (90, 10, 0, 0.95, True),
        (90, 10, 0, 0.9, False),
        (4, 0, 0, 1.0, False),
        (99, 1, 0, 1.0, True),
        (0, 100, 0, 0.0, False),  # switched off
        (0, 0, 0, 0.5, False),
        (0, 0, 100, 0.5, False),
    ],
)
def test_a_manager_that_resolves_few(
    resolved: int, failed: int, waiting: int, share: float, is_few: bool
) -> None:
    """Fewer than the share of those that were tried; of a handful none is judged too soon."""
    failures = {"no_such_name": failed} if failed else {}
    found = few_of_manager(resolved, failures, share, waiting)
    assert (found is not None) == is_few
    if found is not None:
        assert (found.code, found.agent, found.failed) == (FewCode.RESOLVED, "", failed)
        assert alert_of(found).key == "names:"


@pytest.mark.parametrize(
    ("counts", "codes"),
    [
        (UnitCounts("a", 0, {"no_such_name": 4}), [FewCode.RESOLVED]),
        (UnitCounts("a", 0, {"unreachable": 4}), [FewCode.REACHED]),
        (UnitCounts("a", 0, {"name_timeout": 6, "unreachable": 4}), [*FewCode]),
        (UnitCounts("a", 4, {"forbidden_address": 3}), []),
        (UnitCounts("a", 4, {"no_such_name": 9, "unreachable": 4}), [FewCode.RESOLVED]),
        (UnitCounts("a", 0, {}, open=40, unanswered=40), [FewCode.RESOLVED]),
        (UnitCounts("a", 0, {"no_such_name": 3}, open=40), []),
        (UnitCounts("a", 0, {"asks_for_time": 40}), []),  # they answered
        (UnitCounts("a", 0, {"asks_for_time": 3, "unreachable": 4}), [FewCode.REACHED]),
        (UnitCounts("a", 50, {"of_a_newer_version": 60}), [FewCode.REACHED]),
    ],
)
def test_an_agent_that_resolves_or_reaches_few(counts: UnitCounts, codes: list[FewCode]) -> None:
    """Names first; of those that have an address, whether anything answered."""
    found = list(few_of_agents([counts], 0.5))
    assert [one.code for one in found] == codes
    for one in found:
        text = str(alert_of(one).message)
        assert text.startswith("agent a ")
        assert "alerts.min_reachable_share requires 50%" in text
        assert "prs doctor" in text


def test_an_alert_of_the_manager_begins_and_is_over(database: Database) -> None:
    """It begins when names fail, with reasons and remedy, and ends when they lead somewhere."""
    world = World(database)
    world.join("a")
    import_hosts(database, enumerate(HOSTS), ADMIN, world.now_ms)
    assert told(world) == []
    look_up(world, good=1)
    (begun,) = told(world)
    assert (begun.key, begun.state) == ("names:", "begun")
    assert (
        "no address of 3 of 4 hosts; alerts.min_reachable_share requires 50%; "
        "of them 3: no such name" in str(begun.message)
    )
    assert told(world) == []
    look_up_again(database, "", ADMIN, world.now_ms)
    look_up(world, good=3)
    (over,) = told(world)
    assert (over.key, over.state) == ("names:", "over")


def test_an_alert_of_an_agent_begins_and_is_over(database: Database) -> None:
    """By its units of the newest round; the next one, which goes well, ends it."""
    world = crawling(database)
    for host in HOSTS[:3]:
        claim(world, "a", host, failure="name_timeout", reason="unreachable: no answer")
    world.fetch("a", unit(HOSTS[3]))
    world.call("a")
    world.report("a")
    (begun,) = told(world)
    assert (begun.key, begun.state) == ("agent-names:a", "begun")
    assert "of them 3: no answer from a name server in time" in str(begun.message)
    assert told(world, replace(LIMITS, min_reachable_share=0.25))[0].state == "over"
    world.run()
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.run()
    assert not [one for one in told(world) if one.state != "over"]


def test_an_agent_whose_name_servers_keep_silent_is_told_before_its_units_fail(
    database: Database,
) -> None:
    """It says in each sync about how many hosts nobody answers it; with an answer that is over."""
    world = crawling(database)
    agent = world.agents["a"]
    for unanswered, state in ((4, "begun"), (0, "over")):
        request = world.request("a")
        counters = replace(request.counters, unanswered_hosts=unanswered)
        said = replace(request, counters=counters)
        sync(database, agent.identity, said, world.served_ms, world.policy)
        (message,) = told(world)
        assert (message.key, message.state) == ("agent-names:a", state)


def test_a_sentence_has_numbers_and_remedy() -> None:
    """What, value, limit and remedy; the failures are messages of their own."""
    one = FewHosts(FewCode.REACHED, "a", 2000, (("unreachable", 1500),), 0.5)
    message = alert_of(one).message
    assert str(message) == (
        "agent a reached nothing of 1,500 of 2,000 hosts; alerts.min_reachable_share requires 50%; "
        "of them 1,500: unreachable; `prs doctor --page URL` there tests the way to a host"
    )
    assert message.params["why"] == (
        Message("alerts.hosts_few_failures", hosts=1500, failure="unreachable"),
    )

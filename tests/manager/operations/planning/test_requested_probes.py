"""Probes that a person orders: in the round that goes on, or first thing in the next."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.errors import ConflictError, NotFoundError
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_views import HostFilter, host_detail
from manager.operations.hosts.hosts import exclude_host
from manager.operations.hosts.probe_matrix import matrix
from manager.operations.people.audit_log import audit_page
from manager.operations.planning import requested_probes
from manager.operations.planning.distance_pairs import PairFilter, pairs
from manager.operations.planning.probe_coverage import coverage
from manager.operations.planning.requested_probes import order_probes
from manager.operations.rounds.rounds import round_detail, start_round
from shared.errors import FormatError
from tests.manager.operations.planning.test_plans import measured
from tests.manager.operations.world import ADMIN

DAY_S = 86_400


def test_what_is_ordered_between_rounds_is_probed_in_the_next(database: Database) -> None:
    """However fresh it is; once; and the matrix says how things stand."""
    world = measured(database)
    key = "http://h1.jp:80/"
    done = order_probes(database, ADMIN, world.now_ms, host="h1.jp", policy=world.policy)
    assert (done.round, done.waits, done.orders, done.known) == (2, True, 3, 0)
    again = order_probes(database, ADMIN, world.now_ms, host=key, agent="a", policy=world.policy)
    assert (again.orders, again.known) == (0, 1)
    assert audit_page(database)[0].action == "probe.order"
    (row,) = matrix(database, ["a", "c"], HostFilter(domain="h1.jp"), policy=world.policy).rows
    assert row.host == key
    assert [(cell.order, cell.ms_per_kb is not None) for cell in row.cells] == [
        ("waiting", True)
    ] * 2
    world.wait(20_000)  # longer than a probe may take: it waits for its round
    world.tick()
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    assert round_detail(database, 2).orders["waiting"] == 3
    world.run()
    assert round_detail(database, 2).orders["done"] >= 3
    probed = [row for row in host_detail(database, key).distances if row.round == 2]
    assert len(probed) == 3
    assert check(database) == []


def test_what_is_old_is_found_by_its_age(database: Database) -> None:
    """Pairs are ordered the oldest first, within what an agent is given in a day."""
    world = measured(database)
    seen = coverage(database, world.now_ms, world.policy)
    assert (seen.hosts, seen.hosts_fresh, seen.pairs, seen.pairs_fresh) == (12, 12, 36, 36)
    assert seen.ages == [36, 0, 0, 0, 0]
    world.wait(10 * DAY_S)
    aged = coverage(database, world.now_ms, world.policy)
    assert aged.ages == [0, 0, 36, 0, 0]
    listed = pairs(database, PairFilter(agent="b", older_days=7), world.now_ms, limit=5)
    assert len(listed) == 5
    assert [one.measured_ms for one in listed] == sorted(one.measured_ms for one in listed)
    near = pairs(database, PairFilter(host="h1.jp"), world.now_ms, sort="-distance")
    assert [one.agent for one in near][-1] in "abc"
    assert len(near) == 3

    tight = replace(world.policy, probe_pages=50, probe_pages_per_day=200)
    done = order_probes(database, ADMIN, world.now_ms, agent="b", older_days=7, policy=tight)
    assert (done.orders, done.left_out, done.is_cut) == (4, 8, False)
    none = order_probes(database, ADMIN, world.now_ms, older_days=20, policy=world.policy)
    assert none.orders == 0


def test_more_than_are_ordered_at_once_are_said(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are not counted among those without room: nobody looked at them."""
    world = measured(database)
    world.wait(10 * DAY_S)
    monkeypatch.setattr(requested_probes, "ORDERS_MOST", 12)
    done = order_probes(database, ADMIN, world.now_ms, agent="b", older_days=7, policy=world.policy)
    assert (done.orders, done.left_out, done.is_cut) == (12, 0, False)
    every = order_probes(database, ADMIN, world.now_ms, older_days=7, policy=world.policy)
    assert (every.orders + every.known, every.left_out, every.is_cut) == (12, 0, True)


def test_excluded_hosts_count_on_neither_side(database: Database) -> None:
    """What was measured of them is kept, and is no part of what share of the pairs is fresh."""
    world = measured(database)
    exclude_host(database, "http://h1.jp:80/", "its owner asked", ADMIN, world.now_ms)
    seen = coverage(database, world.now_ms, world.policy)
    assert (seen.hosts, seen.hosts_fresh, seen.pairs, seen.pairs_fresh) == (11, 11, 33, 33)
    assert [(one.measured, one.fresh) for one in seen.agents] == [(12, 11)] * 3


def test_orders_that_cannot_be_are_refused(database: Database) -> None:
    """With what is wrong: nothing named, no such agent or host, one that is excluded."""
    world = measured(database)
    with pytest.raises(FormatError, match="name a host, an agent, or an age"):
        order_probes(database, ADMIN, world.now_ms)
    with pytest.raises(FormatError, match="must be 0 to 3,650"):
        order_probes(database, ADMIN, world.now_ms, older_days=-1)
    with pytest.raises(NotFoundError, match="agent nobody"):
        order_probes(database, ADMIN, world.now_ms, agent="nobody")
    with pytest.raises(NotFoundError, match="not known"):
        order_probes(database, ADMIN, world.now_ms, host="nowhere.jp")
    exclude_host(database, "h2.jp", "", ADMIN, world.now_ms)
    with pytest.raises(ConflictError, match="it is excluded"):
        order_probes(database, ADMIN, world.now_ms, host="h2.jp")
    with pytest.raises(FormatError, match="sort"):
        pairs(database, PairFilter(), world.now_ms, sort="colour")

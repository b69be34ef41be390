"""`prsm hosts splits`, `apply-splits`, `cancel-split`, and the same calls of `/api/v1`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.db.fleet import agents
from manager.db.hosts import hosts
from manager.db.ownership import assignments
from manager.operations.hosts.host_views import host_detail
from manager.operations.people.audit_log import audit_page
from shared.messages import Message
from tests.manager.cli.conftest import Prsm
from tests.manager.operations.big_host import know_directories
from tests.manager.operations.slow_host import size_host
from tests.manager.running import Running, fill, running

HOST = "http://big.example:80/"
PAGES = 1200


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Running]:
    """Return a manager whose operator allows a request in 5 s; an hour is slow."""
    chosen = ("policy.split_interval_s=5", "policy.slow_host_s=3600")
    with running(tmp_path / "data", *chosen) as opened:
        yield opened


def ready(manager: Running, *names: str, known: bool = True) -> None:
    """Make a host known that takes one agent 6.7 h, and agents that have called."""
    fill(manager, "big.example")
    db = manager.manager.db
    joined = [manager.agent(name, "sync").identity.id for name in names]
    with db.write() as tx:
        for one in joined:
            agents.update(tx, one, last_contact_ms=manager.clock())
    if known:
        know_directories(db, HOST, joined[0])
    size_host(db, HOST, PAGES, joined, manager.clock())
    detail = host_detail(db, HOST)
    with db.write() as tx:
        [top] = [unit.id for unit in detail.units]
        hosts.set_unit_state(tx, [top], "placed")
        assignments.place(tx, {top: joined[0]}, manager.clock(), Message("ownership.moved_by_hand"))


def test_a_proposal_is_listed_and_applied(prsm: Prsm, manager: Running) -> None:
    """It says what the crawl takes before and after; applied, it is one audit row of the person."""
    ready(manager, "a.example", "b.example", "c.example")
    found = json.loads(prsm("hosts", "splits", "--json").stdout)
    [one] = found["proposals"]
    assert (one["host"], one["action"], one["obstacle"]) == (HOST, "split", "")
    assert found["after_ms"] < 0.5 * found["crawl_ms"]
    said = prsm("hosts", "splits").stdout
    assert "6.7 h -> " in said
    assert "a.example b.example c.example" in said
    assert "1 of 1, the longest" in said
    assert prsm("hosts", "apply-splits", "big.example").stdout == f"{HOST} is split\n"
    [row] = audit_page(manager.manager.db, action="host.split")
    assert row.subject == HOST
    assert "nothing is proposed" in prsm("hosts", "apply-splits").stdout


def test_slow_hosts_are_listed_with_what_helps(prsm: Prsm, manager: Running) -> None:
    """Nobody knows its directories: an interval of 2.9 s or bursts of 7 would do."""
    ready(manager, "a.example", "b.example", known=False)
    said = prsm("hosts", "splits").stdout
    assert "No split or merge would make the crawl end earlier." in said
    assert "slow hosts (longer than 1.0 h): 1" in said
    assert "2.897 s" in said
    refused = prsm("hosts", "apply-splits", HOST, code=1).stderr
    assert "would not make the crawl end earlier" in refused


def test_an_order_is_cancelled_only_where_there_is_one(prsm: Prsm, manager: Running) -> None:
    """A split of an idle host is done at once, so nothing waits."""
    ready(manager, "a.example", "b.example")
    assert "no split or merge is ordered" in prsm("hosts", "cancel-split", HOST, code=1).stderr

"""The check finds what is wrong: each defect is planted, and named."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from manager.db.engine import Database
from manager.operations.health.consistency_checks import check
from manager.operations.logs.log_entry import accept_log
from manager.operations.logs.log_summary import LogSummary
from tests.manager.operations.fleet.test_contact import crawling
from tests.manager.operations.rounds.test_rounds import probing

CRAWL_DEFECTS = {
    "unit with more than one owner": [
        "DROP INDEX uq_assignments_open",
        (
            "INSERT INTO assignments (unit_id, agent_id, epoch, since_ms) "
            "SELECT unit_id, agent_id, 9, 0 FROM assignments WHERE unit_id = 1"
        ),
    ],
    "unit is placed, but has no owner": ["UPDATE assignments SET until_ms = 1 WHERE unit_id = 1"],
    "unit has an owner, but is not placed": ["UPDATE units SET state = 'idle' WHERE id = 1"],
    "owner began before the one before it ended": [
        "DROP INDEX uq_assignments_open",
        (
            "INSERT INTO assignments (unit_id, agent_id, epoch, since_ms) "
            "SELECT unit_id, agent_id, epoch + 1, 0 FROM assignments WHERE unit_id = 1"
        ),
    ],
    "address with more than one owner": ["UPDATE hosts SET group_id = 1"],
    "address that more than one agent may fetch from": ["UPDATE rights SET group_id = 1"],
    "right in another group than its host": ["UPDATE hosts SET group_id = 99 WHERE id = 1"],
    "right of an agent without a permit": ["UPDATE agents SET permit_until_ms = 0"],
    "right of a list that is not made yet": ["UPDATE rights SET granted_generation = 99"],
    "agent whose list changed without a sign": [
        (
            "UPDATE rights SET granted_generation = (SELECT generation + 1 FROM agents "
            "WHERE agents.id = rights.agent_id)"
        )
    ],
    "right of an agent that left": ["UPDATE agents SET subscribed = (1 = 0)"],
    "crawl that was given without a right": ["DELETE FROM rights WHERE unit_id = 1"],
    "right to crawl without a crawl": [
        "UPDATE unit_rounds SET state = 'finished' WHERE unit_id = 1"
    ],
    "crawl by another than the owner": [
        "UPDATE unit_rounds SET agent_id = 3 - agent_id WHERE unit_id = 1"
    ],
    "unit has an owner, but is not in the round": ["DELETE FROM unit_rounds WHERE unit_id = 1"],
    "host without a unit": [
        (
            "INSERT INTO hosts (key, reversed_key, first_seen_ms, resolution) "
            "VALUES ('http://x.jp:80/', 'jp,x)/', 0, 'new')"
        )
    ],
    "unit at work without an address": ["UPDATE hosts SET group_id = NULL WHERE id = 1"],
    "exclusion that host and unit disagree on": ["UPDATE hosts SET excluded_ms = 5 WHERE id = 1"],
}

PROBE_DEFECTS = {
    "probe that was given without a right": ["DELETE FROM rights WHERE unit_id = 1"],
    "right to probe without an order": ["UPDATE probe_orders SET state = 'waiting'"],
    "order to probe of a round that is over": ["UPDATE probe_orders SET round = 7"],
}


def plant(database: Database, statements: list[str]) -> set[str]:
    """Spoil the database and return what the check says."""
    with database.write() as tx:
        for statement in statements:
            tx.execute(sa.text(statement))
    return {finding.problem for finding in check(database)}


@pytest.mark.parametrize("problem", CRAWL_DEFECTS)
def test_a_defect_of_a_crawl_is_found(database: Database, problem: str) -> None:
    """Two agents crawl four hosts; one thing is not as it must be."""
    crawling(database, "a", "b", hosts=("h1.jp", "h2.jp", "h3.jp", "h4.jp"))
    assert check(database) == []
    assert problem in plant(database, CRAWL_DEFECTS[problem])


@pytest.mark.parametrize("problem", PROBE_DEFECTS)
def test_a_defect_of_probes_is_found(database: Database, problem: str) -> None:
    """Two agents probe; one thing is not as it must be."""
    probing(database, "a", "b", hosts=("h1.jp", "h2.jp"))
    assert check(database) == []
    assert problem in plant(database, PROBE_DEFECTS[problem])


def test_rows_that_are_gone_are_found(database: Database) -> None:
    """A report without its file is a finding; files are looked for only where asked."""
    world = crawling(database, "a")
    log = LogSummary("a.202601010000", "aa" * 32, 1, 1, 0, 1, 2, "logs/1/aa.parquet")
    accept_log(database, world.agents["a"].identity, log, world.now_ms)
    assert check(database) == []
    assert check(database, lambda path: True) == []
    (finding,) = check(database, lambda path: False)
    assert str(finding) == "logs/1/aa.parquet: report was accepted, but its rows are gone"

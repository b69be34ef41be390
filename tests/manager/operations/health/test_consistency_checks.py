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
    "unit_with_many_owners": [
        "DROP INDEX uq_assignments_open",
        (
            "INSERT INTO assignments (unit_id, agent_id, epoch, since_ms) "
            "SELECT unit_id, agent_id, 9, 0 FROM assignments WHERE unit_id = 1"
        ),
    ],
    "placed_without_owner": ["UPDATE assignments SET until_ms = 1 WHERE unit_id = 1"],
    "owned_not_placed": ["UPDATE units SET state = 'idle' WHERE id = 1"],
    "overlapping_owners": [
        "DROP INDEX uq_assignments_open",
        (
            "INSERT INTO assignments (unit_id, agent_id, epoch, since_ms) "
            "SELECT unit_id, agent_id, epoch + 1, 0 FROM assignments WHERE unit_id = 1"
        ),
    ],
    "address_with_many_owners": ["UPDATE hosts SET group_id = 1"],
    "address_with_many_holders": ["UPDATE rights SET group_id = 1"],
    "right_in_other_group": ["UPDATE hosts SET group_id = 99 WHERE id = 1"],
    "right_without_permit": ["UPDATE agents SET permit_until_ms = 0"],
    "future_right": ["UPDATE rights SET granted_generation = 99"],
    "unmarked_list_change": [
        (
            "UPDATE rights SET granted_generation = (SELECT generation + 1 FROM agents "
            "WHERE agents.id = rights.agent_id)"
        )
    ],
    "left_agent_with_right": ["UPDATE agents SET subscribed = (1 = 0)"],
    "crawl_without_right": ["DELETE FROM rights WHERE unit_id = 1"],
    "right_without_crawl": ["UPDATE unit_rounds SET state = 'finished' WHERE unit_id = 1"],
    "crawl_of_other": ["UPDATE unit_rounds SET agent_id = 3 - agent_id WHERE unit_id = 1"],
    "owned_not_in_round": ["DELETE FROM unit_rounds WHERE unit_id = 1"],
    "host_without_unit": [
        (
            "INSERT INTO hosts (key, reversed_key, first_seen_ms, resolution) "
            "VALUES ('http://x.jp:80/', 'jp,x)/', 0, 'new')"
        )
    ],
    "work_without_address": ["UPDATE hosts SET group_id = NULL WHERE id = 1"],
    "excluded_in_part": ["UPDATE hosts SET excluded_ms = 5 WHERE id = 1"],
}

PROBE_DEFECTS = {
    "probe_without_right": ["DELETE FROM rights WHERE unit_id = 1"],
    "probe_right_without_order": ["UPDATE probe_orders SET state = 'waiting'"],
    "old_probe_order": ["UPDATE probe_orders SET round = 7"],
}


def plant(database: Database, statements: list[str]) -> set[str]:
    """Spoil the database and return what the check says."""
    with database.write() as tx:
        for statement in statements:
            tx.execute(sa.text(statement))
    return {finding.problem.code.removeprefix("consistency.") for finding in check(database)}


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
    log = LogSummary(
        name="a.202601010000",
        sha256="aa" * 32,
        size_bytes=1,
        lines=1,
        quarantined=0,
        since_ms=1,
        until_ms=2,
        path="logs/1/aa.parquet",
    )
    accept_log(database, world.agents["a"].identity, log, world.now_ms)
    assert check(database) == []
    assert check(database, lambda path: True) == []
    (finding,) = check(database, lambda path: False)
    assert str(finding) == "logs/1/aa.parquet: report was accepted, but its rows are gone"

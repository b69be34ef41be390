"""Bytes of doubted claims count by believed crawls, or within a factor of an estimate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.hosts import hosts
from manager.db.measurement import measurements
from manager.distance.doubts import Claim, Doubt, Evidence, Fault, reference_of
from manager.operations.measurement.claimed_sizes import SizeEvidence, counted_size
from manager.operations.measurement.claims import Period, written
from manager.operations.measurement.distances import add_sums, refresh_distances, refresh_volumes
from manager.operations.rounds.rounds import start_round
from tests.manager.operations.world import ADMIN, World

SCATTERED = Period(2, None, (Doubt(Fault.SCATTERED_BYTES, 1.0, 60, Evidence.OTHERS),))
SHORT_TIMES = Doubt(Fault.TIMES, 0.1, 60, Evidence.CLOCK)
PROBE = Claim(20, 2_000_000, 66_000)
"""Of the first pages: 100 KB each, as everybody sees them."""
CRAWL = Claim(42, 5_000_000, 165_000)
"""Of all pages; the others are larger, so 20 pages tell of 4.2 MB only."""


def lied(claim: Claim, factor: float) -> Claim:
    """Return a claim with wrong bytes."""
    return replace(claim, size_bytes=round(claim.size_bytes * factor))


def known(probe: Claim | None = PROBE, crawl: Claim | None = None) -> SizeEvidence:
    """Return what two honest agents have probed, and what the agent says of its probe."""
    others = reference_of([PROBE, PROBE])
    return SizeEvidence(others, others, probe, crawl)


@pytest.mark.parametrize("factor", [0.1, 0.4, 1.0, 3.0, 10.0, 100.0])
def test_bytes_that_are_as_wrong_as_those_of_the_probe_are_put_right(factor: float) -> None:
    """The factor of a host is taken out; what the others probed is only part of its pages."""
    size = counted_size(lied(CRAWL, factor), "crawl", SCATTERED, known(lied(PROBE, factor)))
    assert size == pytest.approx(CRAWL.size_bytes, rel=0.001)


@pytest.mark.parametrize("factor", [0.1, 0.5, 2.0, 10.0])
def test_a_lie_about_one_kind_of_order_only_moves_no_size_far(factor: float) -> None:
    """Neither a probe nor a crawl that is wrong alone moves a size beyond the estimate's bound."""
    probe_alone = counted_size(CRAWL, "crawl", SCATTERED, known(lied(PROBE, factor)))
    assert probe_alone == CRAWL.size_bytes
    crawl_alone = counted_size(lied(CRAWL, factor), "crawl", SCATTERED, known())
    assert crawl_alone == pytest.approx(CRAWL.size_bytes, rel=0.15)


def test_believed_times_tell_of_pages_that_nobody_else_fetched() -> None:
    """Without the factor of its probe a crawl counts between lines and times; doubted times do
    not count."""
    odd = lied(CRAWL, 7)
    timed = counted_size(odd, "crawl", SCATTERED, known(lied(PROBE, 0.2)))
    assert 4_200_000 < timed < 5_000_000
    doubted = replace(SCATTERED, doubts=(SHORT_TIMES, *SCATTERED.doubts))
    assert counted_size(odd, "crawl", doubted, known(lied(PROBE, 0.2))) == pytest.approx(4_200_000)


def test_a_believed_crawl_of_the_unit_counts_before_all_probes() -> None:
    """It has seen the same pages."""
    size = counted_size(lied(CRAWL, 7), "crawl", SCATTERED, known(lied(PROBE, 7), CRAWL))
    assert size == CRAWL.size_bytes


def test_a_probe_counts_as_others_see_the_same_pages() -> None:
    """A crawl of another agent has other pages."""
    seen = reference_of([CRAWL, CRAWL])
    evidence = SizeEvidence(seen, reference_of([PROBE, PROBE]), lied(PROBE, 4), CRAWL)
    assert counted_size(lied(PROBE, 4), "probe", SCATTERED, evidence) == pytest.approx(2_000_000)


def test_bytes_count_as_claimed_where_nothing_else_is_known() -> None:
    """There is nothing that could put them right."""
    assert counted_size(CRAWL, "crawl", SCATTERED, SizeEvidence()) == CRAWL.size_bytes
    tens = Period(2, None, (Doubt(Fault.BYTES, 9.6, 60, Evidence.OTHERS),))
    size = counted_size(lied(CRAWL, 10), "crawl", tens, SizeEvidence())
    assert size == pytest.approx(CRAWL.size_bytes)


def test_a_crawl_that_comes_later_puts_older_distances_right(database: Database) -> None:
    """Whichever of the two the manager heard of first, the distance of the liar is the same."""
    world = World(database)
    world.join("a", "b", "c")
    world.hosts(*(f"h{number}.jp" for number in range(6)))
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    with database.write() as tx:
        rows = {row.name: row for row in agents.all_agents(tx)}
        liar = rows["b"].id
        agents.update(tx, liar, doubts=written([SCATTERED]))
        ids = hosts.ids_of_units(tx, [f"http://h{number}.jp:80/" for number in range(6)])
        crawled = [
            row
            for row in measurements.sums_of_units(tx, list(ids.values()))
            if row.kind == "crawl" and row.agent_id != liar
        ]
        assert crawled
        right = replace(crawled[0], response_bytes=2 * crawled[0].response_bytes)
        true_ms_per_kb = right.ms * 1000 / right.response_bytes
        odd = replace(
            right, agent_id=liar, response_bytes=right.response_bytes * 7, ms=right.ms * 3
        )
        unheard = replace(right, requests=0, pages=0, response_bytes=0, ms=0)
        measurements.set_sums(tx, [unheard])
        refresh_distances(tx, liar, add_sums(tx, liar, [odd]))
        assert _distance(tx, odd.unit_id, liar) != pytest.approx(3 * true_ms_per_kb, rel=0.001)
        measurements.set_sums(tx, [right])
        refresh_volumes(tx, right.round, [right.unit_id])
        assert _distance(tx, odd.unit_id, liar) == pytest.approx(3 * true_ms_per_kb, rel=0.001)


def _distance(tx: Transaction, unit_id: int, agent_id: int) -> float:
    rows = measurements.distances_of_units(tx, [unit_id])
    return next(row.ms_per_kb or 0.0 for row in rows if row.agent_id == agent_id)

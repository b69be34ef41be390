"""An agent takes a list, crawls it whole and gently, reports it, and ends: from the outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.app.scene import INTERVAL_S, scene

pytestmark = pytest.mark.e2e


def test_a_single_run_does_all_of_it(tmp_path: Path) -> None:
    """`prs run --once`: every page once, polite, logged line by line, finished told, exit 0."""
    with scene(tmp_path) as it:
        it.give_all()
        assert it.once() == 0, it.said()
        assert "stopped: all units are finished, and all is reported" in it.said()
        expected = it.web.expected()
        assert set(it.captures()) >= expected.captures
        assert set(it.captures()) <= expected.captures | expected.tolerated
        assert it.logged() == it.times_requested()
        assert set(it.manager.finished) == {order.url for order in it.manager.units}
        assert list((it.home / "outbox").glob("0*")) == []
        verdict = it.web.judge(interval_ms=INTERVAL_S * 1000)
        assert verdict.ok, verdict
        assert "prs" in verdict.user_agents[0].lower()
        assert "test@example.org" in verdict.user_agents[0]
        status = it.status()["status"]
        assert status["worst_pause_ms"] >= status["worst_commit_ms"] > 0
        assert status["page_workers"] >= 1
        assert status["page_workers_replaced"] == 0


def test_hosts_of_others_are_reported_not_fetched(tmp_path: Path) -> None:
    """A host outside the list is told to the manager by M2, and never asked for anything."""
    with scene(tmp_path, outlinks_mean=2.0) as it:
        mine, *others = it.web.hosts
        it.manager.give(it.web.url(mine))
        assert it.once() == 0, it.said()
        assert {event["host"] for event in it.web.requests()} == {mine.name}
        assert set(it.manager.records()) & {it.web.url(host) for host in others}


@pytest.mark.slow
def test_a_second_night_fetches_nothing_twice(tmp_path: Path) -> None:
    """The same list again, in the same round, is done already; a new round is crawled again."""
    with scene(tmp_path, hosts=2) as it:
        it.give_all()
        assert it.once() == 0, it.said()
        first = it.times_requested()
        assert it.once() == 0, it.said()
        assert it.times_requested() == first
        it.manager.round = 2
        it.give_all()
        assert it.once() == 0, it.said()
        assert it.times_requested() == first + first

"""kill -9 in the middle of a crawl: the next process goes on, and nothing kept or told is lost."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.agent.app.fake_manager import answer, hang_up, take_and_hang_up
from tests.agent.app.scene import INTERVAL_S, Scene, scene

pytestmark = pytest.mark.e2e

UNCOMMITTED_S = 1.5  # a commit comes four times a second; a loaded machine is slower


def kill_after(it: Scene, count: int) -> float:
    """Start the agent, kill it when sites saw so many requests; return when that was."""
    seen = len(it.web.requests())
    it.agent.start()
    it.until(f"{count} more requests", lambda: len(it.web.requests()) >= seen + count)
    it.agent.kill()
    # What was on its way to a site when the process died is still answered and logged.
    events = it.web.requests()
    return max(float(event["mono_end"]) for event in events)


def test_killed_again_and_again(tmp_path: Path) -> None:
    """Every page is kept once; only what was under way or not committed is asked for again."""
    rng = random.Random(5)
    with scene(tmp_path, hosts=8) as it:
        it.give_all()
        killed_at = [kill_after(it, rng.randrange(5, 25)) for _ in range(4)]
        acknowledged = it.logged()
        assert it.once() == 0, it.said()

        expected = it.web.expected()
        assert set(it.captures()) >= expected.captures
        assert set(it.captures().values()) == {1}
        times: dict[str, list[float]] = {}
        for event in it.requests():
            times.setdefault(it.url_of(event), []).append(float(event["mono_end"]))
        for url, ends in times.items():
            for end in ends[:-1]:
                near = min(abs(killed - end) for killed in killed_at)
                assert near < UNCOMMITTED_S, f"{url} was asked for twice without need"
        assert not acknowledged - it.logged(), "what the manager has stays there"
        assert set(it.logged()) == set(it.captures()) | (set(it.logged()) - expected.captures)
        assert set(it.manager.finished) == {order.url for order in it.manager.units}
        assert it.web.judge(interval_ms=INTERVAL_S * 1000).ok


@pytest.mark.slow
def test_a_new_permit_comes_before_the_first_request(tmp_path: Path) -> None:
    """After a kill the list is still held, and nothing is sent before the manager has answered."""
    with scene(tmp_path) as it:
        it.give_all()
        kill_after(it, 5)
        it.manager.away = True
        it.agent.start()
        it.until("the list", lambda: "continuing with list" in it.said())
        assert it.quiet_for(2.0)
        lists = it.manager.paths().count("list")
        seen = len(it.web.requests())
        it.manager.away = False
        it.until("requests", lambda: len(it.web.requests()) > seen)
        assert it.manager.paths().count("list") == lists, "the list on the disk was good"


def test_killed_while_reports_wait(tmp_path: Path) -> None:
    """Reports that nobody took survive any number of deaths, and are taken once."""
    with scene(tmp_path, hosts=2) as it:
        it.give_all()
        it.manager.fail("submitlog", *[hang_up] * 200)
        it.agent.start()
        outbox = it.home / "outbox"
        it.until("waiting logs", lambda: len(list(outbox.glob("*.log.log-*[0-9a-f]"))) >= 2)
        it.agent.kill()
        waiting = {path.name: path.read_bytes() for path in outbox.glob("*.log.log-*[0-9a-f]")}
        it.agent.start()
        it.until("another try", lambda: it.manager.paths().count("submitlog") > 3)
        it.agent.kill()
        for name, body in waiting.items():
            assert (outbox / name).read_bytes() == body
        it.manager.faults.clear()
        assert it.once() == 0, it.said()
        assert set(it.logged()) == set(it.times_requested())
        assert it.logged() <= it.times_requested(), "a line for each request that ended"


@pytest.mark.slow
def test_lost_answers_do_no_harm(tmp_path: Path) -> None:
    """Reports and finished units whose answers were lost are said again, and count once."""

    with scene(tmp_path, hosts=2) as it:
        it.give_all()
        it.manager.fail("submitlog", *[take_and_hang_up] * 2)
        it.manager.fail("sync", *[take_and_hang_up, answer] * 10)
        assert it.once() == 0, it.said()
        assert it.manager.repeats >= 2
        assert it.logged() == it.times_requested()
        assert set(it.captures()) >= it.web.expected().captures


@pytest.mark.slow
def test_a_restart_keeps_away_from_who_asked_for_time(tmp_path: Path) -> None:
    """A host that said 429 and Retry-After is left alone for so long, kill -9 or not."""
    with scene(tmp_path, hosts=3, trouble=["busy=3"], retry_after_s=6) as it:
        it.give_all()
        it.agent.start()
        told = it.until("a host that is busy", lambda: _told_to_wait(it))
        it.until("a rest in the ledger", lambda: _rests(it))
        it.agent.kill()
        assert it.once() == 0, it.said()
        behind = [event for event in it.web.requests() if event["mono_start"] > told["mono_end"]]
        assert any(event["host"] == told["host"] for event in behind)
        verdict = it.web.judge(interval_ms=INTERVAL_S * 1000)
        assert verdict.ok, verdict


def _told_to_wait(it: Scene) -> dict[str, Any] | None:
    return next((event for event in it.web.requests() if "retry_after_s" in event), None)


def _rests(it: Scene) -> bool:
    database = sqlite3.connect(f"file:{it.home / 'crawl' / 'ledger.sqlite'}?mode=ro", uri=True)
    with closing(database):
        return bool(database.execute("SELECT 1 FROM rests").fetchone())

"""No request without a permit, whatever happens to the machine, the manager or the network."""

from __future__ import annotations

import shutil
import signal
import time
from pathlib import Path

import pytest

from shared.wire.sync import Command, Settings
from tests.agent.app.fake_manager import Fault, Handler, refuse
from tests.agent.app.scene import INTERVAL_S, Scene, scene

pytestmark = pytest.mark.e2e

MARGIN_S = 3.0 + INTERVAL_S  # limits.total_s and the interval of the scene


def begin(it: Scene, count: int = 3) -> None:
    """Start the agent and wait for some requests."""
    it.agent.start()
    it.until("requests", lambda: len(it.web.requests()) >= count)


@pytest.mark.slow
def test_a_process_that_slept_asks_first(tmp_path: Path) -> None:
    """SIGSTOP for longer than the permit: nothing is sent before a new sync was answered."""
    with scene(tmp_path, pages_mean=60) as it:
        it.manager.permit_s = MARGIN_S + 1.5
        it.give_all()
        begin(it)
        it.agent.program.send(signal.SIGSTOP)
        time.sleep(2.0)
        it.manager.away = True
        seen = len(it.web.requests())
        it.agent.program.send(signal.SIGCONT)
        time.sleep(1.5)
        assert len(it.web.requests()) == seen
        it.manager.away = False
        it.until("requests again", lambda: len(it.web.requests()) > seen)


@pytest.mark.slow
def test_a_permit_runs_out_in_an_outage(tmp_path: Path) -> None:
    """Without the manager the agent goes on for as long as it may, then stops by itself."""
    with scene(tmp_path, pages_mean=80) as it:
        it.manager.permit_s = MARGIN_S + 1.5
        it.give_all()
        begin(it)
        # At its start it had none and said so; that is not what is waited for.
        it.until("its permit", lambda: "no permit" not in it.status()["status"]["reason"])
        it.manager.away = True
        with it.manager.lock:
            answered = [call.at for call in it.manager.calls if call.path.endswith("sync")]
        it.until("the end of the permit", lambda: "no permit" in it.status()["status"]["reason"])
        assert it.quiet_for(1.0)
        last = max(float(event["mono_start"]) for event in it.web.requests())
        # On its way it may be as long as the machine is busy; without a margin it were 3 s later.
        assert last <= answered[-1] + it.manager.permit_s - 1.0
        seen = len(it.web.requests())
        it.manager.away = False
        it.until("requests again", lambda: len(it.web.requests()) > seen)


@pytest.mark.slow
def test_a_copy_waits_until_what_it_was_copied_from_is_over(tmp_path: Path) -> None:
    """Nothing is fetched for one permit after the first answer; the home itself never waits."""
    with scene(tmp_path, pages_mean=60) as it:
        it.manager.permit_s = MARGIN_S + 4.0
        it.give_all()
        begin(it)
        it.agent.stop()
        begin(it)
        it.agent.stop()
        shutil.copytree(it.home, tmp_path / "copy")
        it.agent.environment["PRS_HOME"] = str(tmp_path / "copy")
        seen, calls = len(it.web.requests()), len(it.manager.calls)
        it.agent.start()
        it.until("requests again", lambda: len(it.web.requests()) > seen)
        asked_s = min(float(event["mono_start"]) for event in it.web.requests()[seen:])
        assert asked_s > it.manager.calls[calls].at + it.manager.permit_s - MARGIN_S
        assert "was moved or copied" in it.said()


def test_no_permit_no_request(tmp_path: Path) -> None:
    """A manager that grants nothing is obeyed; one that knows the agent no more, too."""
    with scene(tmp_path, pages_mean=80) as it:
        it.manager.permit_s = None
        it.give_all()
        it.agent.start()
        it.until("the list", lambda: "list 2 of round 1" in it.said())
        assert it.quiet_for(1.0)
        it.manager.permit_s = 3600.0
        it.until("requests", lambda: len(it.web.requests()) > 3)
        it.manager.fail("sync", *[refuse(403, "agent prs1 was retired")] * 100)
        it.until("the end", lambda: "permit ended: 403: agent prs1 was retired" in it.said())
        assert it.quiet_for(1.0)
        assert "blocked this agent" in it.status()["status"]["trouble"]


def test_a_new_list_ends_what_left_it(tmp_path: Path) -> None:
    """A unit that was taken away is quiet before the agent says that its list is in force."""
    with scene(tmp_path, hosts=4, pages_mean=60) as it:
        it.give_all()
        begin(it, 8)
        keep, *gone = it.web.hosts
        it.manager.give(it.web.url(keep))
        generation = it.manager.generation
        told = it.until(
            "the acknowledgement",
            lambda: [
                call.at
                for call, request in zip(
                    [call for call in it.manager.calls if call.path.endswith("sync")],
                    it.manager.syncs,
                    strict=False,
                )
                if request.generation_held == generation
            ],
        )[0]
        time.sleep(1.0)
        names = {host.name for host in gone}
        late = [
            event
            for event in it.web.requests()
            if event["host"] in names and float(event["mono_end"]) > told
        ]
        assert not late


@pytest.mark.slow
def test_stricter_settings_of_the_manager(tmp_path: Path) -> None:
    """A longer interval and a block list come into force while the crawl goes on."""
    with scene(tmp_path, hosts=3, pages_mean=30) as it:
        it.give_all()
        begin(it)
        it.manager.settings = Settings(interval_s=0.6, blocked=("/private", "(?=no RE2)"))
        wish = "limits of the manager: an interval of 0.6 s, 1 block pattern"
        it.until("the wish", lambda: wish in it.said())
        it.until("a permit under it", lambda: it.status()["status"]["state"] == "working")
        changed = time.monotonic()
        time.sleep(3.0)
        by_host: dict[str, list[tuple[float, float]]] = {}
        for event in it.web.requests():
            if float(event["mono_start"]) > changed:
                span = (float(event["mono_start"]), float(event["mono_end"]))
                by_host.setdefault(event["server"], []).append(span)
        gaps = [
            after[0] - before[1]
            for spans in by_host.values()
            for before, after in zip(sorted(spans), sorted(spans)[1:], strict=False)
        ]
        assert gaps
        assert min(gaps) > 0.55
        assert it.status()["status"]["tightened"]


@pytest.mark.slow
def test_restart_begins_anew(tmp_path: Path) -> None:
    """RESTART drops list, queues and what was seen, keeps the pages, and takes the list again."""
    with scene(tmp_path, hosts=2) as it:
        it.give_all()
        it.agent.start()
        it.until("the end", lambda: len(it.manager.finished) == 2)
        before = it.times_requested()
        captures = it.captures()
        it.manager.command = Command(id="c1", name="restart")
        it.until("the acknowledgement", lambda: it.manager.command is None)
        it.until(
            "everything again",
            lambda: it.times_requested() == before + before,
        )
        it.agent.stop()
        assert it.captures() == captures + captures
        it.manager.command = Command(id="c2", name="restart", argument="confirmed")
        it.manager.give()
        assert it.once() == 0, it.said()
        assert not it.captures()


@pytest.mark.parametrize("status", [pytest.param(401, marks=pytest.mark.slow), 503])
def test_a_single_run_ends_where_another_manager_answers(tmp_path: Path, status: int) -> None:
    """Without an id of its own, or called foreign: exit code 3, at once, and all stays as it is."""
    with scene(tmp_path, hosts=2, pages_mean=3) as it:
        it.give_all()
        assert it.once() == 0, it.said()
        (it.home / "installation.json").unlink()
        before = it.captures()
        it.manager.fail("sync", *[_foreign(status)] * 3)
        assert it.once() == 3
        assert "the list and the fetched data stay here, and the next start calls" in it.said()
        assert it.captures() == before
        it.manager.faults.clear()
        assert it.once() == 0, "the next start of cron asks again"
        assert it.captures() == before, "nothing was fetched twice"


def test_a_single_run_with_a_permit_goes_on_to_the_end_of_its_work(tmp_path: Path) -> None:
    """Another manager's no ends no permit: what may be fetched is, and then the run is over."""
    with scene(tmp_path, hosts=2, pages_mean=6) as it:
        it.give_all()
        program = it.agent.program
        program.words = ["prs", "run", "--once"]
        program.start()
        it.until("requests", lambda: len(it.web.requests()) >= 3)
        (it.home / "installation.json").unlink()
        it.manager.fail("sync", *[_foreign(503)] * 1000)
        assert program.process is not None
        assert program.process.wait(120) == 3
        with_all = {it.web.url(host) for host in it.web.hosts}
        assert {url for url in it.times_requested() if url in with_all} == with_all


def _foreign(status: int) -> Fault:
    """Return an answer of a manager that does not know this agent."""

    def fault(handler: Handler, _name: str, _body: bytes) -> bool:
        problem = b'{"detail": "of another installation", "code": "foreign_installation"}'
        body = b"unknown key" if status == 401 else problem
        kind = "text/plain" if status == 401 else "application/problem+json"
        handler.say(status, body, **{"Content-Type": kind, "Retry-After": "3600"})
        return True

    return fault

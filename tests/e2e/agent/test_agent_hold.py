"""A partner stops, pauses, drains, schedules and watches the agent on his machine."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.control.lock import HUNG_S
from manager.console.pages.fleet.agent import ASKED
from shared.wire.sync import Command
from tests.agent.app.fake_manager import MARK, refuse
from tests.agent.app.scene import Scene, scene
from tools.demo.system import BIN, CommandError

pytestmark = pytest.mark.e2e


def begin(it: Scene, count: int = 3) -> None:
    """Start the agent and wait for some requests."""
    it.agent.start()
    it.until("requests", lambda: len(it.web.requests()) >= count)


def test_stop_is_quick_and_loses_nothing(tmp_path: Path) -> None:
    """`prs stop` ends it; what was fetched is kept; the next run does only the rest."""
    with scene(tmp_path) as it:
        it.give_all()
        begin(it, 10)
        assert "has stopped; " in it.agent.prs("stop")
        assert it.agent.program.process is not None
        assert it.agent.program.process.wait(60) == 0
        assert it.manager.syncs[-1].state == "stopping"
        assert "no agent runs here" in it.agent.prs("stop")
        assert "no agent runs here" in it.agent.prs("status")
        assert it.once() == 0, it.said()
        assert set(it.captures()) >= it.web.expected().captures
        assert set(it.captures().values()) == {1}
        assert set(it.times_requested().values()) == {1}


@pytest.mark.slow
def test_one_process_a_home(tmp_path: Path) -> None:
    """A second one is refused with the number of the first; --replace kills one that hangs."""
    with scene(tmp_path) as it:
        begun = it.agent.start().program.process
        assert begun is not None
        it.until("the first sync", lambda: it.manager.syncs)
        with pytest.raises(CommandError, match=f"process {begun.pid} works here already"):
            it.agent.prs("run", "--once")
        it.agent.program.send(signal.SIGSTOP)  # as a process that hangs: it hears nothing
        syncs = len(it.manager.syncs)
        it.agent.program.words = ["prs", "run", "--replace"]
        it.agent.start()
        assert begun.wait(40) == -signal.SIGKILL
        it.until("the new one", lambda: len(it.manager.syncs) > syncs)
        assert it.manager.syncs[-1].boot_id != it.manager.syncs[0].boot_id


@pytest.mark.slow
def test_only_one_that_hangs_is_replaced(tmp_path: Path) -> None:
    """Cron's hourly start leaves a process alone that is well, and ends one that hangs whole."""
    with scene(tmp_path) as it:
        begun = it.agent.start().program.process
        assert begun is not None
        it.until("the first sync", lambda: it.manager.syncs)
        it.until("page workers", lambda: workers_of(begun.pid))
        assert it.agent.prs("run", "--once", "--quiet", "--replace-hung") == ""
        assert begun.poll() is None
        workers = workers_of(begun.pid)
        it.agent.program.send(signal.SIGSTOP)
        lock = it.home / "lock"
        values = json.loads(lock.read_bytes())
        values["alive_s"] -= 2 * HUNG_S  # as if so much time had passed
        with lock.open("r+b") as file:
            file.write(json.dumps(values).ljust(200).encode())
        syncs = len(it.manager.syncs)
        it.agent.program.words = ["prs", "run", "--replace-hung"]
        it.agent.start()
        first = it.agent.program.process
        assert first is not None
        other = [str(BIN / "prs"), "--home", str(it.home), "run", "--replace-hung"]
        with subprocess.Popen(other, stdout=subprocess.PIPE, text=True) as second:
            assert begun.wait(60) == -signal.SIGKILL
            it.until("the new one", lambda: len(it.manager.syncs) > syncs)
            it.until("one to leave", lambda: (first.poll(), second.poll()) != (None, None))
            assert [first.poll(), second.poll()].count(None) == 1, "one of two goes on"
            assert (first.poll() or second.poll() or 0) == 0, "and cron mails nothing"
            second.terminate()
            assert second.stdout is not None
            said = it.said() + second.stdout.read()
        assert f"ending process {begun.pid}, which runs here and hangs" in said
        it.until("their end", lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def workers_of(pid: int) -> list[int]:
    """Return the processes that a process started, and those that they started."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    children = [int(word) for word in text.split()]
    return children + [more for child in children for more in workers_of(child)]


@pytest.mark.slow
def test_pause_and_resume(tmp_path: Path) -> None:
    """Paused, the agent fetches nothing and goes on calling; neither side undoes the other's."""
    with scene(tmp_path, pages_mean=60) as it:
        it.give_all()
        begin(it)
        it.agent.prs("pause")
        it.until("the pause", lambda: it.manager.syncs[-1].state == "paused")
        assert it.quiet_for(1.0)
        it.manager.command = Command(id="c1", name="resume")
        it.until("the acknowledgement", lambda: it.manager.command is None)
        assert it.quiet_for(1.0), "the manager must not undo what the site said"
        seen = len(it.web.requests())
        it.agent.prs("resume")
        it.until("requests", lambda: len(it.web.requests()) > seen)
        it.manager.command = Command(id="c2", name="pause")
        it.until("the acknowledgement", lambda: it.manager.command is None)
        assert "but paused by the manager" in it.agent.prs("resume")
        assert it.quiet_for(1.0)


@pytest.mark.slow
def test_drain_hands_the_work_back(tmp_path: Path) -> None:
    """Drained: nothing new, all reported, then it leaves; so after a restart; resume joins."""
    with scene(tmp_path, pages_mean=60) as it:
        it.give_all()
        begin(it)
        it.agent.prs("drain")
        it.until("the leave", lambda: not it.manager.joined)
        paths = it.manager.paths()
        assert paths.index("unsubscribe") > max(
            number for number, path in enumerate(paths) if path == "submitlog"
        )
        assert it.logged() == it.times_requested()
        assert it.quiet_for(1.0)
        assert it.manager.syncs[-1].state == "draining"
        it.agent.stop()
        assert it.once() == 0, it.said()
        assert "stopped: drained, and all is reported" in it.said()
        seen = len(it.web.requests())
        it.agent.program.words = ["prs", "run"]
        it.agent.start()
        it.agent.prs("resume")
        it.until("the joining", lambda: it.manager.joined)
        it.until("requests", lambda: len(it.web.requests()) > seen)
        assert it.manager.paths().count("unsubscribe") == 1


@pytest.mark.slow
def test_draining_does_what_the_console_says(tmp_path: Path) -> None:
    """Each sentence of the console's question about draining, beside what the agent does."""
    said = [each.text for each in ASKED["drain"][1:]]
    with scene(tmp_path, pages_mean=60) as it:
        it.give_all()
        begin(it)
        it.manager.command = Command(id="c1", name="drain")
        it.until("the leave", lambda: not it.manager.joined)
        assert said.pop(0) == "It stops fetching at once; hosts in progress are not finished."
        assert it.quiet_for(1.0)
        assert not it.manager.finished
        assert said.pop(0) == "It reports its work; then its units go to other agents."
        assert it.logged() == it.times_requested()
        assert it.manager.paths().count("unsubscribe") == 1
        sentence = "It rejoins only after a resume command; a restart does not resume it."
        assert said == [sentence]
        it.manager.command = Command(id="c2", name="restart")
        it.until("the acknowledgement", lambda: it.manager.command is None)
        assert it.quiet_for(1.0)
        assert not it.manager.joined
        it.manager.command = Command(id="c3", name="resume")
        it.until("the joining", lambda: it.manager.joined)


def hours(first: timedelta, end: timedelta) -> tuple[str, ...]:
    """Return the settings of a window around now."""
    now = datetime.now(UTC)
    text = f"{now + first:%H:%M}-{now + end:%H:%M}"
    return (
        *("--set", "windows.zone=UTC"),
        *("--set", f'windows.weekday=["{text}"]'),
        *("--set", f'windows.weekend=["{text}"]'),
    )


@pytest.mark.slow
def test_outside_its_hours_nothing_is_fetched(tmp_path: Path) -> None:
    """Outside the hours the agent sleeps, and tells the manager until when."""
    with scene(tmp_path) as it:
        it.give_all()
        it.agent.program.words = [
            *("prs", "run"),
            *hours(timedelta(hours=2), timedelta(hours=3)),
        ]
        it.agent.start()
        it.until("the list", lambda: "list 2 of round 1" in it.said())
        it.until("sleep", lambda: it.manager.syncs[-1].state == "asleep")
        assert it.quiet_for(1.0)
        last = it.manager.syncs[-1]
        assert last.next_contact_ms is not None
        ahead = timedelta(milliseconds=last.next_contact_ms - last.clock_ms)
        assert timedelta(minutes=50) < ahead < timedelta(hours=2)
        assert "outside the hours" in it.agent.prs("status")
        calls = len(it.manager.syncs)
        time.sleep(1.5)
        assert len(it.manager.syncs) == calls, "a sleeper does not call at the manager's pace"


@pytest.mark.slow
def test_the_cap_of_a_month_pauses_and_is_told(tmp_path: Path) -> None:
    """What came counts over restarts; the manager hears why, and at which rate to plan."""
    with scene(tmp_path, pages_mean=60) as it:
        it.give_all()
        it.agent.program.words = ["prs", "run", "--set", "network.month_bytes=20000"]
        begin(it)
        it.until("the pause", lambda: it.manager.syncs[-1].state == "paused")
        last = it.manager.syncs[-1]
        assert "network.month_bytes = 20000" in last.state_reason
        assert last.capacity is not None
        assert last.capacity.bytes_per_s == 1  # 20 kB in a month
        assert it.quiet_for(1.0)
        it.agent.stop()
        seen = len(it.web.requests())
        syncs = len(it.manager.syncs)
        it.agent.start()
        it.until("the pause", lambda: it.manager.syncs[syncs:] and it.status()["running"])
        it.until("the reason", lambda: "month_bytes" in it.manager.syncs[-1].state_reason)
        assert len(it.web.requests()) == seen
        it.agent.program.words = ["prs", "run"]


def test_reports_that_are_refused_are_shown(tmp_path: Path) -> None:
    """A refused report stands aside with its reason, in `prs status`, and blocks no other."""
    with scene(tmp_path, hosts=2) as it:
        it.give_all()
        it.manager.fail("submitlog", refuse(400, "line 3: no"))
        assert it.once() == 0, it.said()
        assert "refused: 00000001.log" in it.agent.prs("status")
        assert "400: line 3: no" in it.agent.prs("status")
        assert it.manager.logs
        reasons = list((it.home / "outbox" / "refused").glob("*.reason"))
        first = [path.read_text().splitlines()[0] for path in reasons]
        assert first == [f"400: line 3: no (request {MARK})"]


def test_a_refused_agent_ends_a_single_run(tmp_path: Path) -> None:
    """An unknown key ends `--once` with exit code 1 and the remedy."""
    with scene(tmp_path) as it:
        it.manager.key_hashes.clear()
        assert it.once() == 1
        assert "401" in it.said()
        assert "prs enrol" in it.said()


@pytest.mark.slow
def test_a_drain_is_remembered_over_a_kill(tmp_path: Path) -> None:
    """The machine goes right after the word: the next process fetches nothing and hands back."""
    with scene(tmp_path, pages_mean=60) as it:
        it.give_all()
        begin(it)
        it.agent.prs("drain")
        it.agent.kill()
        assert it.quiet_for(1.0)
        seen = len(it.web.requests())
        it.agent.start()
        it.until("the leave", lambda: not it.manager.joined)
        it.until("the word of it", lambda: it.manager.syncs[-1].state == "draining")
        assert len(it.web.requests()) == seen
        it.agent.kill()
        assert "drained" in it.agent.prs("status")
        assert it.once() == 0, it.said()
        it.agent.program.words = ["prs", "run"]
        it.agent.prs("resume")
        it.agent.start()
        it.until("its return", lambda: it.manager.joined)

"""A partner joins by one command, cron starts the agent, and it leaves without a trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.app.startup.uninstall import hand_back_work
from agent.control.crontab import block_in
from agent.control.drain import read_holds
from agent.errors import HomeError
from agent.settings import read_settings
from tests.agent.app.fake_manager import refuse
from tests.agent.app.scene import Scene, scene
from tests.programs import program
from tools.demo.system import BIN, CommandError

pytestmark = pytest.mark.e2e

TABLES = "/var/spool/cron/crontabs"
NIGHTS = ("--weekday", "02:00-08:00", "--weekend", "02:00-22:00")


@pytest.fixture
def crontab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put the system's own command into PATH, with a folder of tables that nobody else sees."""
    folder = tmp_path / "crontabs"
    folder.mkdir()
    command = tmp_path / "bin" / "crontab"
    command.parent.mkdir()
    command.write_text(private_crontab(folder))
    command.chmod(0o755)
    done = subprocess.run(
        [command, "-"],
        input="# mine\n0 5 * * * true\n",
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"this system lets no test mount: {done.stderr.strip()}")
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    return str(command)


def private_crontab(folder: Path) -> str:
    """Return a script that runs crontab, to which `folder` is the folder of all tables."""
    words = [program("unshare"), "--mount"]
    if os.geteuid():
        words += ["--user", "--map-root-user"]
    inside = f'"{program("mount")}" --no-mtab --bind "{folder}" {TABLES} && exec "$0" "$@"'
    return f"#!/bin/sh\nexec {' '.join(words)} sh -c '{inside}' {program('crontab')} \"$@\"\n"


def table(crontab: str) -> str:
    return subprocess.run([crontab, "-l"], capture_output=True, text=True, check=True).stdout


def enrol(it: Scene, *words: str) -> str:
    """Join as a site that has no settings yet."""
    (it.home / "prs.toml").unlink()
    it.agent.environment["PRS_JOIN_TOKEN"] = it.manager.token
    try:
        return it.agent.prs("enrol", it.manager.url, "--name", it.manager.name, *words)
    finally:
        del it.agent.environment["PRS_JOIN_TOKEN"]


def test_cron_gets_its_lines_and_loses_them(tmp_path: Path, crontab: str) -> None:
    """Enrolled for the source's hours: cron takes the lines; other hours, other lines; none."""
    with scene(tmp_path) as it:
        said = enrol(it, "--contact", "a@example.org", "--start", "cron", *NIGHTS)
        assert "ok  contact: a@example.org" in said
        assert "ok  key: accepted" in said
        lines = block_in(table(crontab), it.home)
        assert len(lines) == 2
        minute = lines[0].split()[0]
        assert 0 <= int(minute) <= 59
        assert {line.split(maxsplit=5)[4] for line in lines} == {"0,6", "1-5"}
        command = f"{BIN / 'prs'} --home {it.home} run --once --quiet --replace-hung"
        assert all(line.endswith(command) for line in lines)
        assert "cron starts it" in it.agent.prs("schedule")
        settings = it.home / "prs.toml"
        settings.write_text(settings.read_text().replace('["02:00-08:00"]', '["00:00-24:00"]'))
        with pytest.raises(CommandError, match="other hours than today's; run: prs schedule cron"):
            it.agent.prs("doctor")
        it.agent.prs("schedule", "cron")
        it.agent.prs("schedule", "cron")
        assert "BAD start" not in it.agent.prs("doctor")
        days = [line.split(maxsplit=5)[4] for line in block_in(table(crontab), it.home)]
        # On Sunday at 23 too: Monday begins at 00:00, before the start of the hour after it.
        assert sorted(days) == (["0,6", "1-5"] if minute == "0" else ["0", "1-5", "6"])
        assert table(crontab).count(f"{it.home} (written") == 1
        it.agent.prs("schedule", "none")
        assert table(crontab) == "# mine\n0 5 * * * true\n"


def test_what_cron_runs_is_what_was_written(tmp_path: Path, crontab: str) -> None:
    """An agent that may always work: its line, run by sh as cron does, starts it once."""
    with scene(tmp_path) as it:
        it.agent.prs("schedule", "cron")
        reboot, hourly = block_in(table(crontab), it.home)
        assert reboot.startswith("@reboot ")
        words = hourly.split(maxsplit=5)
        assert words[1:5] == ["*"] * 4
        started = subprocess.Popen(
            ["/bin/sh", "-c", words[5]], env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        )
        try:
            it.until("the first sync", lambda: it.manager.syncs)
            again = subprocess.run(["/bin/sh", "-c", words[5]], check=False, capture_output=True)
            assert (again.returncode, again.stdout, again.stderr) == (0, b"", b"")
            assert "has stopped" in it.agent.prs("stop")
        finally:
            started.kill()
            started.wait()


def test_an_agent_of_cron_is_started_at_once(tmp_path: Path, crontab: str) -> None:
    """`prs start` does what cron does at its next time: the manager hears of the agent now."""
    with scene(tmp_path) as it:
        it.agent.prs("schedule", "cron")
        said = it.agent.prs("start")
        assert said.startswith("started, as process ")
        it.until("the first sync", lambda: it.manager.syncs)
        assert "works here already" in it.agent.prs("start")
        assert "has stopped" in it.agent.prs("stop")


@pytest.mark.slow
def test_leaving_hands_the_work_back_first(tmp_path: Path, crontab: str) -> None:
    """The manager hears of it, all is reported, cron knows nothing more; then the data go."""
    with scene(tmp_path, pages_mean=60) as it:
        it.give_all()
        it.agent.prs("schedule", "cron")
        it.agent.start()
        it.until("requests", lambda: len(it.web.requests()) >= 3)
        said = it.agent.prs("uninstall")
        assert "the work was handed back, and all is reported" in said
        assert not it.manager.joined
        assert it.logged() == it.times_requested()
        assert it.agent.program.process is not None
        assert it.agent.program.process.wait(20) == 0
        assert table(crontab) == "# mine\n0 5 * * * true\n"
        assert (it.home / "key.json").exists()
        with pytest.raises(
            CommandError, match=r"(segment has|segments have) not reached the manager"
        ):
            it.agent.prs("uninstall", "--delete-data")
        it.agent.prs("uninstall", "--delete-data", "--unsent")
        assert not it.home.exists()


def test_leaving_while_nothing_runs(tmp_path: Path) -> None:
    """One is started for it, which fetches nothing."""
    with scene(tmp_path) as it:
        it.give_all()
        assert "was handed back" in it.agent.prs("uninstall")
        assert not it.manager.joined
        assert not it.requests()


def test_leaving_without_a_manager_is_said(tmp_path: Path) -> None:
    """Nobody is told that the work is back where it is not; whoever must go says so."""
    with scene(tmp_path) as it:
        for path in ("sync", "unsubscribe"):
            it.manager.fail(path, *[refuse(401, "key: unknown")] * 50)
        with pytest.raises(HomeError, match=r"not handed back.*--without-manager"):
            hand_back_work(read_settings(it.home), patience_s=60.0)
        assert read_holds(it.home / "hold.json").drained
        said = it.agent.prs("uninstall", "--without-manager", "--delete-data", "--unsent")
        assert "was deleted" in said
        assert it.manager.joined
        assert not it.home.exists()


def test_an_enrolment_that_cannot_ask_says_what_it_needs(tmp_path: Path) -> None:
    """A script without the token gets a sentence and code 2, and hangs nowhere."""
    done = subprocess.run(
        [sys.executable, "-m", "agent.cli", "--home", str(tmp_path / "home"), "enrol"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 2
    assert "URL is required where standard input is not a terminal" in done.stderr
    assert not (tmp_path / "home").exists()

"""After a trial the agent runs as before, wherever the launcher was killed, whoever runs it."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from launcher import switch
from launcher.installation import Journal
from tests.launcher.site import Centre, Site, archive

UNIT = "prs-0123abcd.service"


def pid_of_agent(site: Site) -> int:
    """Return who works in the agent's folder; 0: nobody."""
    path = site.installation.data / "lock"
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            said = path.read_bytes()
            return int(json.loads(said)["pid"]) if said else 0  # it has the lock, and writes
    return 0


def wait_for_agent(site: Site, version: str) -> int:
    """Wait until an agent of a release runs; return its process."""
    ran = site.installation.data / "ran"
    for _ in range(1200):
        if ran.exists() and ran.read_text() == version and (pid := pid_of_agent(site)):
            return pid
        time.sleep(0.05)
    raise AssertionError(f"no agent of {version} runs: {site.log}")


def start(site: Site, version: str) -> subprocess.Popen[bytes]:
    """Start an agent of a release."""
    (site.installation.data / "ran").unlink(missing_ok=True)
    started = subprocess.Popen(
        [site.installation.prs(version), "--home", site.installation.data, "run"]
    )
    wait_for_agent(site, version)
    return started


@contextmanager
def an_agent(site: Site) -> Iterator[None]:
    """Let an agent of 1.0 run; end whoever runs at the end."""
    with start(site, "1.0") as agent:
        try:
            yield
        finally:
            if pid := pid_of_agent(site):
                os.kill(pid, signal.SIGKILL)
            agent.kill()


def killed_before_it_says(site: Site, line: str) -> None:
    """Run the launcher in a child that dies at a line of its log."""
    child = os.fork()
    if child == 0:
        say = Journal.write

        def dying(self: Journal, text: str) -> None:
            if text.startswith(line):
                os.kill(os.getpid(), signal.SIGKILL)
            say(self, text)

        Journal.write = dying  # type: ignore[method-assign]
        try:
            site.update()
        finally:
            os._exit(9)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"it never said {line}"


@pytest.mark.forks
@pytest.mark.parametrize(
    ("wish", "text"),
    [("0", "sync: "), ("0", "start: "), ("0", "good: "), ("'no'", "back: "), ("'no'", "start: ")],
)
def test_killed_with_the_agent_stopped(site: Site, centre: Centre, wish: str, text: str) -> None:
    """The next launcher ends the trial, and the agent runs again, by the release that is right."""
    end = "1.1" if wish == "0" else "1.0"
    centre.publish("1.1", archive("1.1", wish))
    with an_agent(site):
        killed_before_it_says(site, text)
        site.update()
        assert site.running == end
        assert site.state.trial is None
        wait_for_agent(site, end)
        assert f"start: prs --home {site.installation.data} run --quiet" in site.log


def test_an_agent_that_cron_started_goes_with_its_release(
    site: Site, centre: Centre, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It neither keeps the old release from showing that it works, nor outlives the new one."""
    call = switch.Switch._run_sync
    started: list[subprocess.Popen[bytes]] = []

    def call_while_cron_starts(self: switch.Switch, version: str) -> str:
        if version == "1.1" and not started:
            started.append(start(site, "1.1"))
        return call(self, version)

    monkeypatch.setattr(switch.Switch, "_run_sync", call_while_cron_starts)
    centre.publish("1.1", archive("1.1", "'no such module'"))
    with an_agent(site):
        assert site.update(patience_s=0.5) == 1
        assert site.running == "1.0"
        assert "1.1" in site.state.bad
        assert started[0].wait(60) != 0
        wait_for_agent(site, "1.0")


def test_a_service_is_stopped_and_started_by_systemd(
    site: Site, centre: Centre, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where cron runs the launcher, and says not where the user's systemd listens."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    called = tmp_path / "called"
    script = f"""#!/bin/sh
[ "$XDG_RUNTIME_DIR" = /run/user/$(id -u) ] || {{ echo "no bus" >&2; exit 1; }}
echo "$@" >> {called}
[ "$2" = stop ] && kill -9 $(cat {tmp_path}/pid)
exit 0
"""
    (binaries / "systemctl").write_text(script)
    (binaries / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{binaries}:{os.environ['PATH']}")
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    words = (*switch.SYSTEMCTL, "start", UNIT)
    monkeypatch.setattr(switch, "start_command_of", lambda pid: words if pid else ())
    centre.publish("1.1")
    with an_agent(site):
        (tmp_path / "pid").write_text(str(pid_of_agent(site)))
        assert site.update() == 0, site.log
    assert called.read_text() == f"--user stop {UNIT}\n--user start {UNIT}\n"


def test_what_a_newer_launcher_wrote_is_read(site: Site, centre: Centre) -> None:
    """A release that went back may have known more than the one that is back."""
    centre.publish("1.1")
    assert site.update() == 0
    path = site.installation.own / "state.json"
    said = json.loads(path.read_bytes())
    path.write_text(json.dumps({**said, "colour": "blue"}))
    centre.publish("1.2")
    assert site.update() == 0
    assert site.running == "1.2"

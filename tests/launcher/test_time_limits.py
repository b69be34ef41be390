"""No update lasts for ever: not by a server that drips, nor by one that hangs before it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launcher import lock, manager, signed_releases, switch, time_limits
from launcher.errors import LauncherError
from launcher.installation import Journal
from tests.launcher.site import Centre, Site


@pytest.mark.parametrize(
    ("drips", "step"), [("metadata/", "refresh"), ("offer", "offer"), ("targets/", "download")]
)
def test_a_server_that_drips_is_left(
    site: Site, centre: Centre, monkeypatch: pytest.MonkeyPatch, drips: str, step: str
) -> None:
    """Each byte comes in time, and the whole never: the next night it is tried again."""
    monkeypatch.setattr(manager, "ANSWER_S", 2.0)
    monkeypatch.setattr(signed_releases, "METADATA_S", 2.0)
    monkeypatch.setattr(signed_releases, "download_s", lambda _: 2.0)
    centre.publish("1.1")
    centre.drips = drips
    assert site.update() == 1
    assert f"unreached at {step}: " in site.log
    assert "not done within 2 s" in site.log
    assert site.running == "1.0"
    handler = signal.getsignal(signal.SIGALRM)
    monkeypatch.undo()
    centre.drips = "-"
    assert site.update() == 0
    assert site.running == "1.1"
    assert signal.getsignal(signal.SIGALRM) == handler


def test_a_large_release_has_more_time() -> None:
    """What it takes at 20 kB/s, and never more than hours."""
    assert time_limits.download_s(0) == time_limits.METADATA_S
    assert time_limits.download_s(40_000_000) == time_limits.METADATA_S + 2000
    assert time_limits.download_s(10**12) == time_limits.LONGEST_S


def test_a_systemctl_that_does_not_end_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a sentence; the trial goes on with the next launcher."""
    (tmp_path / "systemctl").write_text("#!/bin/sh\nexec sleep 600\n")
    (tmp_path / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(switch, "SYSTEMCTL_S", 0.5)
    with pytest.raises(LauncherError, match=r"stop prs-1\.service: not done within 0\.5 s"):
        switch._systemctl("stop", "prs-1.service")


def launcher(site: Site, *words: str) -> list[str]:
    """Return the words that run the launcher of a site."""
    return [
        sys.executable,
        "-m",
        "launcher",
        "--home",
        str(site.installation.home),
        "--quiet",
        *words,
    ]


def test_one_that_hangs_is_ended_by_the_next(site: Site, centre: Centre) -> None:
    """It is left alone for hours, and said how long it has been; a pin that is not kept is told."""
    centre.publish("1.1")
    centre.drips = "metadata/"
    path = site.installation.own / "lock"
    say = Journal(site.installation, quiet=True).write
    with subprocess.Popen(launcher(site)) as other:
        try:
            for _ in range(1200):
                if centre.dripping:
                    break
                time.sleep(0.05)
            centre.drips = "-"
            assert subprocess.run(launcher(site), timeout=120, check=False).returncode == 0
            assert f"another update is under way, process {other.pid} for 0 min" in site.log
            pinned = subprocess.run(launcher(site, "--pin", "1.0"), timeout=120, check=False)
            assert (pinned.returncode, site.state.pin) == (1, "")
            said = json.loads(path.read_text())
            before = {**said, "since_s": said["since_s"] - lock.HANGS_S}
            # Another process has that number now: it is nobody's to end.
            path.write_text(json.dumps({**before, "started": said["started"] + 1}))
            assert lock.take_lock(path, say) is None
            assert other.poll() is None
            path.write_text(json.dumps(before))
            assert subprocess.run(launcher(site), timeout=120, check=False).returncode == 0
            assert other.wait(60) == -signal.SIGKILL
        finally:
            other.kill()
    assert f"process {other.pid} has been at an update for 9 hours; it is ended" in site.log
    assert site.running == "1.1"


def test_who_did_not_say_since_when_is_left_alone(site: Site) -> None:
    """As a launcher of before holds it."""
    path = site.installation.own / "lock"
    handle = lock.take_lock(path, print)
    assert handle is not None
    path.write_text("")
    assert lock.take_lock(path, Journal(site.installation, quiet=True).write) is None
    os.close(handle)
    assert site.log.rstrip().endswith("lock: another update is under way")

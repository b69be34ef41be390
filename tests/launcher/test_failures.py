"""A release that cannot be installed here is told once, and left alone for longer each time."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from launcher.state import FIRST_WAIT_MS, LONGEST_WAIT_MS, Failure, next_failure
from tests.launcher.site import PRS, Centre, Site, archive, archive_of

DEAD = "#!/bin/sh\necho no such library; exit 3\n"


class Clock:
    """A site's clock."""

    def __init__(self) -> None:
        self.now_ms = time.time_ns() // 1_000_000

    def time_ns(self) -> int:
        """Return its time."""
        return self.now_ms * 1_000_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return the clock that the launcher goes by."""
    made = Clock()
    monkeypatch.setattr(time, "time_ns", made.time_ns)
    return made


def silent(version: str) -> bytes:
    """Return a release that installs, and whose launcher does not start."""
    prs = PRS.replace("VERSION", version).replace("WISH", "0")
    return archive_of(version, {"python": DEAD, "prs": prs})


@pytest.mark.parametrize("step", ["install", "test"])
def test_it_is_downloaded_once_and_told_once(
    site: Site, centre: Centre, clock: Clock, step: str
) -> None:
    """Night after night nothing comes over the network; the wait doubles, and a person ends it."""
    body = archive("1.1", broken=True) if step == "install" else silent("1.1")
    centre.publish("1.1", body)
    assert site.update() == 1
    assert (centre.downloads, site.running) == (1, "1.0")
    assert not site.installation.release("1.1").exists()
    clock.now_ms += FIRST_WAIT_MS - 1
    assert site.update() == 1
    assert centre.downloads == 1
    assert f"1.1 failed at {step} (once) and is left alone until" in site.log.splitlines()[-1]
    clock.now_ms += 1
    assert site.update() == 1
    assert centre.downloads == 2
    clock.now_ms += 2 * FIRST_WAIT_MS - 1
    assert site.update() == 1
    assert centre.downloads == 2
    assert site.update(again=True) == 1
    assert centre.downloads == 3
    assert site.state.failed["1.1"].times == 3
    assert [(one["outcome"], one["step"]) for one in centre.reports] == [("failed", step)]


def test_what_is_signed_anew_is_tried_at_once(site: Site, centre: Centre, clock: Clock) -> None:
    """The wait is for that very file; a release that works ends all waits below it."""
    centre.publish("1.1", archive("1.1", broken=True))
    assert site.update() == 1
    kept = site.state.failed["1.1"]
    centre.publish("1.2")
    assert site.update() == 0
    assert (site.running, site.state.failed) == ("1.2", {})
    centre.publish("1.3", archive("1.3", broken=True))
    assert site.update() == 1
    path = site.installation.own / "state.json"
    said = json.loads(path.read_bytes())
    said["failed"]["1.3"]["signed"] = kept.signed
    path.write_text(json.dumps(said))
    assert site.update() == 1
    assert centre.downloads == 4
    assert [one["version"] for one in centre.reports] == ["1.1", "1.2", "1.3", "1.3"]


def test_an_archive_of_another_version_is_not_fetched_each_night(
    site: Site, centre: Centre, clock: Clock
) -> None:
    """Refused, not failed; the same holds for it."""
    centre.publish("1.1", archive("1.1", said="1.2"))
    assert [site.update() for _ in range(3)] == [1, 1, 1]
    assert centre.downloads == 1
    assert [one["outcome"] for one in centre.reports] == ["refused"]


def test_waits_grow_to_a_month_and_end_where_the_clock_went_back() -> None:
    """A clock that was years ahead when it failed must not hold a release back for years."""
    failure: Failure | None = None
    waits = []
    for _ in range(20):
        failure = next_failure(failure, "a", "install", "pip ended with 1", 1000)
        waits.append(failure.until_ms - 1000)
    assert waits[:3] == [FIRST_WAIT_MS, 2 * FIRST_WAIT_MS, 4 * FIRST_WAIT_MS]
    assert set(waits[5:]) == {LONGEST_WAIT_MS}
    assert failure is not None
    assert failure.blocks("a", 1000)
    assert failure.blocks("a", failure.until_ms - 1)
    assert not failure.blocks("a", failure.until_ms)
    assert not failure.blocks("a", 999)
    assert not failure.blocks("b", 1000)
    assert next_failure(failure, "b", "install", "", 1000).times == 1


def test_an_install_that_takes_too_long_leaves_nothing_behind(
    site: Site, centre: Centre, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own processes would write into the folder that the next attempt makes."""
    install = """
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(sys.argv[1], "child").write_text(str(child.pid))
time.sleep(600)
"""
    monkeypatch.setattr("launcher.bundle.INSTALL_S", 5)
    centre.publish("1.1", archive_of("1.1", {"install.py": install}))
    assert site.update() == 1
    assert "install.py of 1.1 was not done within 5 s" in site.log
    child = int((site.installation.home / "child").read_text())
    for _ in range(1200):
        if not is_alive(child):
            break
        time.sleep(0.05)
    assert not is_alive(child)


def is_alive(pid: int) -> bool:
    """Return whether a process is there that was not ended."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def test_a_release_that_a_person_installed_ends_waits_below_it(site: Site, centre: Centre) -> None:
    """What failed before it is past, and `prs status` does not go on telling of it."""
    centre.publish("1.1", archive("1.1", broken=True))
    assert site.update() == 1
    site.installation.release("1.0").rename(site.installation.release("1.2"))
    site.installation.point_at("1.2")
    centre.publish("1.2")
    assert site.update() == 0
    assert (site.state.good, site.state.highest, site.state.failed) == ("1.2", "1.2", {})

"""A site follows what is offered and signed, and is back on its old release where that fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tuf.api.metadata import Root

from agent.control.launcher_program import OFFER_MARK
from launcher.errors import LauncherError
from launcher.state import Trial, write_state
from manager.releases.metadata import read
from manager.releases.signed_metadata import new_root
from manager.signing.keys import make_keys
from manager.signing.signer import Signer
from tests.ceremony import version_of
from tests.launcher.site import Centre, Site, archive


def test_a_newer_release_is_installed_and_proves_itself(site: Site, centre: Centre) -> None:
    """Downloaded, installed, switched to, and good after a sync; the old one is kept."""
    assert site.update() == 0
    assert (site.running, centre.reports) == ("1.0", [])
    assert (site.installation.own / OFFER_MARK).exists()
    centre.publish("1.1")
    assert site.update() == 0
    assert site.running == "1.1"
    assert (site.state.good, site.state.highest, site.state.trial) == ("1.1", "1.1", None)
    assert (site.installation.data / "called").read_text() == "1.1\n"
    assert [(one["version"], one["outcome"]) for one in centre.reports] == [("1.1", "updated")]
    assert site.installation.is_complete("1.0")
    steps = ["recover", "refresh", "offer", "decide", "download", "install", "test", "switch"]
    assert all(f" {step}: " in site.log for step in [*steps, "sync", "good"])
    assert not site.installation.scratch.exists()
    centre.publish("1.2")
    assert site.update() == 0
    kept = sorted(path.name for path in site.installation.versions.iterdir())
    assert kept == ["1.1", "1.2"]


def test_a_release_that_cannot_sync_goes_back_and_stays_away(site: Site, centre: Centre) -> None:
    """The site is on 1.0 again, says why, and tries 1.1 only when a person asks."""
    centre.publish("1.1", archive("1.1", "'no such module'"))
    assert site.update() == 1
    assert (site.running, site.state.good, site.state.highest) == ("1.0", "1.0", "1.1")
    assert "no such module" in site.state.bad["1.1"]
    assert [one["outcome"] for one in centre.reports] == ["went-back"]
    assert "no such module" in str(centre.reports[0]["detail"])
    assert site.update() == 1
    assert "1.1 went back before" in site.log.splitlines()[-1]
    assert len(centre.reports) == 1, "the manager knows"
    assert site.update(again=True) == 1
    assert [one["outcome"] for one in centre.reports] == ["went-back", "went-back"]
    centre.publish("1.2")
    assert site.update() == 0
    assert (site.running, site.state.bad) == ("1.2", {})


def test_what_a_person_installed_ends_a_trial(site: Site, centre: Centre) -> None:
    """A launcher died amid a trial, both releases with an old Python: the new one is not left."""
    before = Trial("1.1", "0.9", 1, verdict="it did not sync")
    for trial in (before, replace(before, verdict="")):
        write_state(site.installation.own / "state.json", replace(site.state, trial=trial))
        assert site.update() == 0
        assert (site.running, site.state.trial) == ("1.0", None)
    assert "another was installed" in site.log


def test_nobody_goes_back_to_what_is_not_whole(site: Site, centre: Centre) -> None:
    """The release before the trial is gone: the one on trial stays, and the trial is over."""
    trial = Trial("1.0", "0.9", 1, verdict="it did not sync")
    write_state(site.installation.own / "state.json", replace(site.state, trial=trial))
    (site.installation.data / "offline").touch()
    assert site.update() == 1
    assert (site.running, site.state.trial) == ("1.0", None)


def test_a_network_that_is_down_blames_no_release(site: Site, centre: Centre) -> None:
    """Neither release reaches the manager: back to the old one, and again tomorrow."""
    centre.publish("1.1")
    (site.installation.data / "offline").touch()
    assert site.update() == 1
    assert (site.running, site.state.bad) == ("1.0", {})
    (site.installation.data / "offline").unlink()
    assert site.update() == 0
    assert site.running == "1.1"


def test_a_manager_that_is_gone_changes_nothing(site: Site) -> None:
    """Nothing is touched, and the log says why; the agent sees that nobody has looked."""
    site.trust_key("http://127.0.0.1:9")
    assert site.update() == 1
    assert site.running == "1.0"
    assert "the manager was not reached" in site.log or "refresh: the signed files" in site.log
    assert not (site.installation.own / OFFER_MARK).exists()


def test_a_release_that_does_not_install_is_reported(site: Site, centre: Centre) -> None:
    """The old one runs on, untouched."""
    centre.publish("1.1", archive("1.1", broken=True))
    assert site.update() == 1
    assert site.running == "1.0"
    (said,) = centre.reports
    assert (said["outcome"], said["step"]) == ("failed", "install")
    assert "this archive is broken" in str(said["detail"])


def test_no_local_version_installs_what_is_offered(tmp_path: Path, centre: Centre) -> None:
    """Source: seed 004, 5.3.1, 5 (c): without update.date the newest is fetched that one may have.

    What is signed and not offered was halted, or is for the canaries of other sites.
    """
    for version in ("1.1", "1.10", "1.9"):
        centre.publish(version)
    site = Site(tmp_path / "bare", centre, installed="")
    centre.offer("")
    assert site.update() == 0
    assert site.running == ""
    assert "offer: nothing new (a test)" in site.log
    centre.offer("1.9")
    assert site.update() == 0
    assert site.running == "1.9"


def test_a_half_made_release_is_no_local_version(site: Site, centre: Centre) -> None:
    """A folder without `complete` is the rest of a broken attempt."""
    (site.installation.release("1.0") / "complete").unlink()
    assert site.running == ""
    assert site.update() == 0
    assert site.running == "1.0"


def test_a_release_whose_python_is_gone_is_installed_anew(site: Site, centre: Centre) -> None:
    """After an upgrade of the system a person went back to 1.0; 1.1 was made by the old Python."""
    centre.publish("1.1")
    assert site.update() == 0
    python = site.installation.python("1.1")
    python.unlink()
    python.symlink_to("/usr/bin/python3.0")
    assert site.running == ""
    site.installation.point_at("1.0")
    assert site.update() == 0
    assert (site.running, site.state.failed) == ("1.1", {})
    assert centre.downloads == 2


def test_a_pin_of_the_site_holds(site: Site, centre: Centre) -> None:
    """The partner decides what runs on his machine."""
    words = ["-m", "launcher", "--home", str(site.installation.home)]
    python = sys.executable
    subprocess.run([python, *words, "--pin", "1.0"], check=True, timeout=120)
    centre.publish("1.1")
    assert site.update() == 0
    assert site.running == "1.0"
    assert "pinned to 1.0" in site.log
    subprocess.run([python, *words, "--pin", ""], check=True, timeout=120)
    assert site.update() == 0
    assert site.running == "1.1"


def test_an_agent_that_runs_is_stopped_and_started_again(site: Site, centre: Centre) -> None:
    """With the same words, by the release that is good; where a service starts it, by that."""
    prs = str(site.installation.prs("1.0"))
    words = [prs, "--home", str(site.installation.data), "run"]
    with subprocess.Popen(words) as agent:
        _wait(site.installation.data / "ran", "1.0")
        centre.publish("1.1")
        assert site.update() == 0
        assert agent.wait(60) != 0
    _wait(site.installation.data / "ran", "1.1")
    assert site.running == "1.1"
    pid = int(json.loads((site.installation.data / "lock").read_text())["pid"])
    os.kill(pid, 9)


def test_without_a_root_nothing_is_believed(site: Site, centre: Centre) -> None:
    """Whoever serves first must not decide whom to trust."""
    site.installation.root.unlink()
    centre.publish("1.1")
    assert site.update() == 1
    assert "no root to judge releases by" in site.log
    assert site.running == "1.0"


def test_updates_that_are_off_are_no_failure(site: Site, centre: Centre) -> None:
    """A manager without a newer release hears of no failed update: no alert comes of a choice."""
    site.installation.root.unlink()
    for version in ("", "1.0"):
        centre.offer(version)
        assert site.update() == 0
        assert "updates are off here" in site.log.splitlines()[-1]
    assert (site.running, centre.reports) == ("1.0", [])
    centre.offer("1.1")
    assert site.update() == 1
    assert [(one["outcome"], one["step"]) for one in centre.reports] == [("failed", "refresh")]


def test_a_new_signing_process_counts_from_one(site: Site, centre: Centre) -> None:
    """The disk of the old one was lost: people sign a root with new keys, and sites go on."""
    for version in ("1.1", "1.2"):
        centre.publish(version)
    assert site.update() == 0
    keys = make_keys(centre.folder / "new")
    last = read(Root, centre.roots[-1]).signed
    centre.roots.append(
        centre.keys.sign_root(
            new_root(
                last,
                {"snapshot": [keys["snapshot"]], "timestamp": [keys["timestamp"]]},
                {},
                centre.now_ms,
                365,
            )
        )
    )
    centre.signer = Signer(centre.folder / "new", lambda: centre.now_ms)
    centre.signer.trust(centre.roots[0])
    centre.publish("1.3")
    assert version_of(centre.files["metadata/timestamp.json"]) == 1
    assert site.update() == 0
    assert site.running == "1.3"


def test_an_agent_that_is_not_enrolled_is_told_so(site: Site) -> None:
    """Nothing can be asked without a key."""
    (site.installation.data / "key.json").unlink()
    with pytest.raises(LauncherError, match="prs enrol"):
        site.update()


def _wait(path: Path, text: str) -> None:
    for _ in range(1200):
        if path.exists() and path.read_text() == text:
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} does not say {text}")

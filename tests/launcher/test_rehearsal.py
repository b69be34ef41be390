"""A launcher shows that it could be replaced again before it takes the other's place."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from launcher.bundle import try_launcher
from launcher.errors import BrokenError, LauncherError, OfflineError
from launcher.installation import Installation
from launcher.rehearsal import rehearse
from tests.launcher.site import PRS, Centre, Site, archive_of


def kept(site: Site) -> dict[str, bytes]:
    """Return all that the launcher keeps, by place."""
    own = site.installation.own
    return {str(path): path.read_bytes() for path in own.rglob("*") if path.is_file()}


def self_test(site: Site, *options: str) -> tuple[int, str]:
    """Have the real launcher test itself; return the exit code and what it said."""
    words = [sys.executable, "-m", "launcher", "--home", str(site.installation.home), "--self-test"]
    done = subprocess.run(
        [*words, *options], capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


def release(version: str, python: str) -> bytes:
    """Return a release with this for an interpreter."""
    prs = PRS.replace("VERSION", version).replace("WISH", "0")
    return archive_of(version, {"python": f"#!/bin/sh\n{python}\n", "prs": prs})


def test_a_rehearsal_changes_nothing(site: Site, centre: Centre) -> None:
    """It asks the manager as every night, before the first update and after it."""
    before = kept(site)
    assert self_test(site, "--data", str(site.installation.data)) == (0, "launcher works\n")
    assert kept(site) == before
    centre.publish("1.1")
    assert site.update() == 0
    before = kept(site)
    rehearse(site.installation)
    assert kept(site) == before


@pytest.mark.parametrize(
    ("spoil", "code", "said"),
    [
        (lambda site, _: site.trust_key("http://127.0.0.1:9"), 3, "the signed files"),
        (
            lambda site, centre: site.trust_key(centre.url, "another key"),
            1,
            "the manager refuses our key",
        ),
        (
            lambda site, _: (site.installation.own / "state.json").write_text("{"),
            1,
            "cannot be read",
        ),
        (lambda site, _: site.installation.root.write_text("{}"), 1, "not genuine"),
    ],
)
def test_what_would_fail_at_night_fails_now(
    site: Site, centre: Centre, spoil: Callable[[Site, Centre], object], code: int, said: str
) -> None:
    """The manager that is not reached is told apart from all else."""
    spoil(site, centre)
    found, words = self_test(site, "--data", str(site.installation.data))
    assert (found, said in words, "launcher works" in words) == (code, True, False), words
    assert self_test(site) == (0, "launcher works\n"), "a launcher of before asks for no more"


def test_signed_files_in_which_no_release_is_found(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launcher that does not understand them would never find its successor."""
    monkeypatch.setattr("launcher.signed_releases.is_version", lambda _: False)
    with pytest.raises(BrokenError, match="no release is found"):
        rehearse(site.installation)


def test_the_new_launcher_is_told_where_the_agent_is(
    site: Site, centre: Centre, tmp_path: Path
) -> None:
    """Without that it could look at nothing."""
    told = tmp_path / "told"
    centre.publish("1.1", release("1.1", f'echo "$@" > {told}; echo launcher works'))
    assert site.update() == 0
    assert (
        f"--home {site.installation.home} --data {site.installation.data} --self-test"
        in told.read_text()
    )


def test_a_launcher_that_misses_the_manager_is_broken(site: Site, centre: Centre) -> None:
    """Where the one that works reaches it, the network is not to blame."""
    centre.publish("1.1", release("1.1", "echo no route; exit 3"))
    assert site.update() == 1
    assert site.running == "1.0"
    assert "1.1" in site.state.failed
    (report,) = centre.reports
    assert (report["outcome"], report["step"]) == ("failed", "test")
    assert "the one that runs here does reach it" in str(report["detail"])


def test_a_network_that_fails_meanwhile_is_nobodys_fault(
    site: Site, centre: Centre, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The release stays, and is tried again the next night."""
    centre.publish("1.1")

    def gone(_version: str, _installation: Installation) -> None:
        centre.front = 502
        raise OfflineError("no route")

    with monkeypatch.context() as patched:
        patched.setattr("launcher.update.try_launcher", gone)
        assert site.update() == 1
    assert "unreached at test" in site.log
    assert site.state.failed == {}
    assert site.installation.is_complete("1.1")
    centre.front = 0
    assert site.update() == 0
    assert site.running == "1.1"


def test_one_miss_is_tried_again(
    site: Site, centre: Centre, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that breaks for a moment costs no release its night."""
    tries: list[LauncherError] = []

    def once(version: str, installation: Installation) -> None:
        if not tries:
            tries.append(OfflineError("no route"))
            raise tries[0]
        try_launcher(version, installation)

    monkeypatch.setattr("launcher.update.try_launcher", once)
    centre.publish("1.1")
    assert site.update() == 0
    assert site.running == "1.1"

"""A site installs from the archive: no network, no root, and never half a release."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tools.bundle.install import InstallError, _aside, _starts

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

NOBODY = 65534


def install(unpacked: Path, *arguments: str, code: int = 0, before: tuple[str, ...] = ()) -> str:
    """Run the archive's own `install` as a partner would; return what it said."""
    environment = {"PATH": os.environ["PATH"], "PYTHON": python(), "PIP_INDEX_URL": "no"}
    done = subprocess.run(
        [*before, str(unpacked / "install"), *arguments],
        env={**environment, "HOME": str(unpacked.parent)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def python() -> str:
    """Return a Python as this one that every user may run, or this one."""
    name = f"python3.{sys.version_info[1]}"
    return shutil.which(name, path="/usr/bin:/usr/local/bin") or sys.executable


def without_network() -> tuple[str, ...]:
    """Return the words that run a command in a network of its own, with nobody in it."""
    words = ("unshare", "--user", "--map-root-user", "--net")
    if shutil.which("unshare") is None or subprocess.run([*words, "true"], check=False).returncode:
        pytest.skip("this system lets nobody make a network namespace")
    return words


def as_nobody(folder: Path) -> tuple[str, ...]:
    """Return the words that run a command without rights, and give it a folder; none needed: ()."""
    if os.geteuid() != 0 or python() == sys.executable:
        return ()
    os.chown(folder, NOBODY, NOBODY)
    return ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


def test_an_ordinary_user_installs_without_network(unpacked: Path) -> None:
    """One command, and `bin/prs` runs; again, it is there already; the data are its own."""
    (unpacked / "root.json").write_text("{}")
    partner = as_nobody(unpacked.parent)
    said = install(unpacked, before=(*partner, *without_network()))
    home = unpacked.parent / "prs"
    assert f"{home}/bin/prs enrol URL" in said
    assert str((home / "current").readlink()) == "versions/9.1"
    assert (home / "versions/9.1/complete").read_text() == "9.1\n"
    assert stat.S_IMODE((home / "data").stat().st_mode) == 0o700
    words = (*partner, str(home / "bin/prs"))
    shown = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout == "prs 9.1\n"
    told = subprocess.run([*words, "status"], capture_output=True, text=True, check=True)
    assert "no agent runs here" in told.stdout
    assert (home / "launcher/root.json").read_text() == "{}"
    launcher = (str(home / "current/venv/bin/python"), "-I", "-m", "launcher")
    words = (*partner, *launcher, "--home", str(home), "--self-test")
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == (
        "launcher works\n"
    )
    made = (home / "versions/9.1").stat().st_ino
    install(unpacked, before=partner)
    assert (home / "versions/9.1").stat().st_ino == made


@pytest.mark.timeout(900)  # two installations
def test_an_upgrade_of_the_system_is_mended_by_the_same_archive(unpacked: Path) -> None:
    """The Python of the release is gone: it is said, and `install` makes it anew; data stay."""
    home = unpacked.parent / "prs"
    said = install(unpacked)
    assert "Updates are off: the archive was made without them" in said
    assert "stays on\n9.1." in said
    assert f"{home}/bin/prs update --root root.json" in said
    (home / "data/mine").write_text("mine")
    (unpacked / "root.json").write_text("{}")
    for path in (home / "versions/9.1/venv/bin").glob("python*"):
        path.unlink()
        path.symlink_to("/usr/bin/python3.0")
    words = [str(home / "bin/prs"), "--version"]
    called = subprocess.run(words, capture_output=True, text=True, check=False)
    assert called.returncode == 1
    assert "run the install of its archive again" in called.stderr
    assert "Updates are off" not in install(unpacked)
    assert subprocess.run(words, capture_output=True, check=True).stdout == b"prs 9.1\n"
    assert (home / "data/mine").read_text() == "mine"
    assert (home / "launcher/root.json").read_text() == "{}"


@pytest.mark.parametrize("program", ["/usr/bin/python3.0", "/bin/false", sys.executable])
def test_an_environment_that_does_not_start_is_seen(tmp_path: Path, program: str) -> None:
    """Its Python is gone, fails, or is another that does not find what was installed."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(program)
    (tmp_path / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    assert not _starts(tmp_path)


def test_a_trial_that_was_killed_says_nothing_of_the_release(tmp_path: Path) -> None:
    """For want of memory, say: what is there stays, and the person hears why."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/python"
    program.write_text("#!/bin/sh\nkill -9 $$\n")
    program.chmod(0o755)
    with pytest.raises(InstallError, match="ended by signal 9"):
        _starts(tmp_path)


def test_what_was_there_comes_back_where_nothing_better_comes_of_it(tmp_path: Path) -> None:
    """A release that is made anew is out of the way meanwhile, also over an attempt that died."""
    release = tmp_path / "9.1"
    for _ in range(2):
        release.mkdir(exist_ok=True)
        (release / "complete").write_text("old")
        with pytest.raises(InstallError), _aside(release):
            assert not release.exists()
            release.mkdir()
            raise InstallError("pip ended with 1")
        assert (release / "complete").read_text() == "old"
    (release / "complete").rename(tmp_path / "kept")
    with _aside(release):
        release.mkdir()
    assert not (release / "complete").exists()
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["9.1"]


def test_an_older_archive_is_asked_for(unpacked: Path) -> None:
    """Nobody is brought back behind what was here without having said so; the last good one is."""
    home = unpacked.parent / "home"
    (home / "launcher").mkdir(parents=True)
    state = home / "launcher/state.json"
    state.write_text(json.dumps({"highest": "9.10", "good": "9.1"}))
    install(unpacked, str(home))
    state.write_text(json.dumps({"highest": "9.10", "good": "9.10"}))
    said = install(unpacked, str(home), code=1)
    assert "9.1 is older than 9.10, which was here" in said
    install(unpacked, str(home), "--older")
    state.unlink()
    newer = home / "versions/10.0"
    newer.mkdir()
    (newer / "complete").touch()
    (home / "current").unlink()
    (home / "current").symlink_to("versions/10.0")
    assert "9.1 is older than 10.0" in install(unpacked, str(home), code=1)
    assert str((home / "current").readlink()) == "versions/10.0"
    install(unpacked, str(home), "--older")
    assert str((home / "current").readlink()) == "versions/9.1"


def test_what_is_damaged_changes_nothing(unpacked: Path) -> None:
    """One bit in one wheel, a version that is a path, another machine: a sentence each."""
    home = unpacked.parent / "home"
    wheel = next((unpacked / "wheels").glob("numpy-*.whl"))
    whole = wheel.read_bytes()
    wheel.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
    assert "archive is damaged" in install(unpacked, str(home), code=1)
    wheel.write_bytes(whole)
    (unpacked / "VERSION").write_text("../../etc\n")
    assert "is no version" in install(unpacked, str(home), code=1)
    (unpacked / "VERSION").write_text("9.1\n")
    (unpacked / "PLATFORMS").write_text("cp399-vax\n")
    assert "for Linux with cp399-vax" in install(unpacked, str(home), code=1)
    assert not (home / "current").exists()


def test_a_release_is_staged_beside_the_one_that_works(unpacked: Path) -> None:
    """`--stage` switches nothing; a broken attempt is no release and is made anew."""
    home = unpacked.parent / "home"
    (home / "versions/9.0/venv/bin").mkdir(parents=True)
    (home / "current").symlink_to("versions/9.0")
    broken = home / "versions/9.1"
    (broken / "venv").mkdir(parents=True)
    (broken / "venv/half").write_text("of something")
    assert install(unpacked, str(home), "--stage").strip() == str(broken)
    assert (broken / "complete").read_text() == "9.1\n"
    assert not (broken / "venv/half").exists()
    assert str((home / "current").readlink()) == "versions/9.0"
    assert not (home / "bin").exists()


def test_a_release_that_does_not_run_is_not_complete(unpacked: Path) -> None:
    """The program must call itself what the archive promises, before it is called whole."""
    home = unpacked.parent / "home"
    (unpacked / "VERSION").write_text("9.2\n")
    assert "calls itself" in install(unpacked, str(home), code=1)
    assert not (home / "versions/9.2/complete").exists()
    assert not (home / "current").exists()

"""Install the release that this file came with, as docs/adr/0116 lays it out.

Standard library of Python 3.11 only: nothing else is there yet. Every wheel is compared with its
hash in `requirements.txt` before anything of it runs. Invariant: whatever ends this program, the
release that worked before still does; `complete` is written last, `current` changes by one rename.
A release that is here already is tried, and rebuilt where it no longer starts: an upgrade
of the system takes the Python away that it was made with (docs/adr/0173).
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
VERSION = re.compile(r"[0-9][0-9A-Za-z.+-]{0,63}")
NUMBERS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){1,3}")
HASHED = re.compile(r"--hash=sha256:([0-9a-f]{64})")
ROOM_TIMES = 4  # wheels are unpacked to about three times their size
PROGRAMS = (
    "import agent.app.startup.agent_run, agent.app.startup.page_worker, agent.app.site.diagnosis, "
    "launcher.update"
)
LAUNCH = """#!/bin/sh
# Runs the release that `current` names. PRS_HOME: the agent's folder, beside the releases;
# PRS_PROGRAM: what cron and systemd call, over all updates.
home=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd -P)
PRS_HOME=${PRS_HOME:-$home/data}
PRS_PROGRAM=$home/bin/prs
export PRS_HOME PRS_PROGRAM
release=$(readlink -f "$home/current")
if [ ! -x "$release/venv/bin/python" ]; then
    echo "prs: the Python of $release is gone, as after an upgrade of the system;" >&2
    echo "     run the install of its archive again: collected data and settings stay" >&2
    exit 1
fi
exec "$release/venv/bin/prs" "$@"
"""


class InstallError(Exception):
    """A fault that a person must repair, in a sentence."""


def main() -> None:
    """Install and print the next steps; end with a sentence and code 1 where that is impossible."""
    options = _options()
    try:
        version = (HERE / "VERSION").read_text().strip()
        home = options.home.expanduser().absolute()
        if not (options.stage or options.older):
            _check_not_older(home, version)
        release = install(home, version)
        if options.stage:
            print(release)
            return
        switch(release)
    except InstallError as error:
        sys.exit(f"install: {error}")
    except OSError as error:
        sys.exit(f"install: {error.filename or 'this machine'}: {error.strerror}")
    prs = home / "bin" / "prs"
    if not (home / "launcher" / "root.json").exists():
        print("Updates are off: the archive was made without them, so this site stays on")
        print(f"{version}. To turn them on, get root.json from your administrator, then:")
        print(f"  {prs} update --root root.json")
    print(
        f"version {version} is installed; next, with the URL and the token of your administrator:"
    )
    print(f"  {prs} enrol URL")


def install(home: Path, version: str) -> Path:
    """Make HOME/versions/VERSION, whole, and return it. Raises InstallError, OSError."""
    if not VERSION.fullmatch(version):
        raise InstallError(f'VERSION = "{version[:80]}": is no version; fetch the archive again')
    _check_machine()
    wheels = _checked_wheels()
    versions = home / "versions"
    versions.mkdir(parents=True, exist_ok=True)
    release = versions / version
    with (home / ".installing").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InstallError(f"{home}: another installation is under way") from error
        if (release / "complete").exists():
            if _starts(release / "venv"):
                return release
            print(f"{release}: no longer starts, and is rebuilt", file=sys.stderr)
        _check_room(home, wheels)
        with _aside(release):
            release.mkdir()
            _fill(release / "venv", wheels)
            _try(release / "venv", version)
            _write_whole(release / "complete", lambda part: _write(part, f"{version}\n"))
    return release


@contextlib.contextmanager
def _aside(release: Path) -> Iterator[None]:
    """Put what is there out of the way, and back again where nothing better comes of it."""
    before = release.with_name(f".{release.name}.before")
    if (release / "complete").exists():
        shutil.rmtree(before, ignore_errors=True)
        release.rename(before)
    shutil.rmtree(release, ignore_errors=True)
    try:
        yield
    except BaseException:
        if before.exists():
            shutil.rmtree(release, ignore_errors=True)
            before.rename(release)
        raise
    shutil.rmtree(before, ignore_errors=True)


def switch(release: Path) -> None:
    """Point `current` and `bin/prs` at a release. Raises OSError, InstallError."""
    home = release.parent.parent
    current = home / "current"
    if current.exists() and not current.is_symlink():
        raise InstallError(f"{current}: is no link; it is not ours, choose another folder")
    (home / "bin").mkdir(exist_ok=True)
    (home / "data").mkdir(mode=0o700, exist_ok=True)
    _write_whole(home / "bin" / "prs", lambda part: _write(part, LAUNCH, 0o755))
    _trust(home / "launcher")
    _write_whole(current, lambda part: part.symlink_to(f"versions/{release.name}"))


def _trust(own: Path) -> None:
    """Give the launcher the first root, by which it judges releases; one that it has stays."""
    root = HERE / "root.json"
    if root.exists() and not (own / "root.json").exists():
        own.mkdir(mode=0o700, exist_ok=True)
        _write_whole(own / "root.json", lambda part: _write(part, root.read_text()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="install", description="Install this release of the robot, without network or root."
    )
    parser.add_argument(
        "home", metavar="HOME", nargs="?", type=Path, default=Path("~/prs"), help="default: ~/prs"
    )
    parser.add_argument(
        "--stage", action="store_true", help="only make versions/VERSION, and print where it is"
    )
    parser.add_argument(
        "--older", action="store_true", help="also where a newer release was here already"
    )
    return parser.parse_args()


def _check_not_older(home: Path, version: str) -> None:
    """Refuse an older release, except the last good one: the launcher's rule."""
    try:
        known = json.loads((home / "launcher" / "state.json").read_bytes())
        good, were = str(known.get("good", "")), [str(known.get("highest", ""))]
    except (OSError, ValueError, AttributeError):
        good, were = "", []
    current = home / "current"
    if current.is_symlink() and (current / "complete").exists():
        were.append(current.readlink().name)
    highest = max(filter(NUMBERS.fullmatch, were), key=_key, default="")
    if not highest or version == good or not NUMBERS.fullmatch(version):
        return
    if _key(version) < _key(highest):
        raise InstallError(
            f"version {version} is older than {highest}, which was here: install the archive of "
            f"{highest} or of a newer release, also after an upgrade of the system. --older goes "
            f"back to {version} all the same; the next update may bring {highest} again"
        )


def _key(version: str) -> list[int]:
    """Return what versions are ordered by, as shared/versions.py has it."""
    numbers = [int(part) for part in version.split(".")]
    return numbers + [0] * (4 - len(numbers))


def _check_machine() -> None:
    """Refuse a Python or machine that this archive has no wheels for."""
    wanted = f"cp{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}"
    there = (HERE / "PLATFORMS").read_text().split()
    if sys.platform != "linux" or wanted not in there:
        raise InstallError(
            f"this archive is for Linux with {', '.join(there)}, and this is {sys.platform} with "
            f"{wanted}; PYTHON=/path/to/python3 names another Python, or fetch another archive"
        )


def _checked_wheels() -> list[Path]:
    """Return all wheels. Raises InstallError unless each is as `requirements.txt` says."""
    known = set(HASHED.findall((HERE / "requirements.txt").read_text()))
    wheels = sorted((HERE / "wheels").glob("*.whl"))
    for wheel in wheels:
        with wheel.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest not in known:
            raise InstallError(
                f"{wheel.name} has the SHA-256 {digest}, which requirements.txt does not name: "
                "the archive is damaged; fetch it again"
            )
    if not any(wheel.name.startswith("pip-") for wheel in wheels):
        raise InstallError("wheels/ has no pip: the archive is not whole; fetch it again")
    return wheels


def _check_room(home: Path, wheels: list[Path]) -> None:
    wanted = ROOM_TIMES * sum(wheel.stat().st_size for wheel in wheels) // len(_platforms())
    free = shutil.disk_usage(home).free
    if free < wanted:
        raise InstallError(
            f"{home}: {free / 1e6:.0f} MB are free on this disk, and {wanted / 1e6:.0f} MB are "
            "needed; make room, or name another folder"
        )


def _platforms() -> list[str]:
    return (HERE / "PLATFORMS").read_text().split() or [""]


def _fill(target: Path, wheels: list[Path]) -> None:
    """Make an environment and install everything into it, from the wheels alone."""
    venv.create(target, with_pip=False, symlinks=True)
    (pip,) = (wheel for wheel in wheels if wheel.name.startswith("pip-"))
    words = [sys.executable, str(pip / "pip"), "--isolated", "--python", str(target / "bin/python")]
    words += ["--disable-pip-version-check", "--no-input", "--no-cache-dir", "--quiet", "install"]
    words += ["--no-index", "--find-links", str(HERE / "wheels"), "--only-binary", ":all:"]
    words += ["--no-deps", "--require-hashes", "-r", str(HERE / "requirements.txt")]
    done = subprocess.run(words, env=_environment(), stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise InstallError(f"pip ended with {done.returncode}; what it said is above")


def _starts(target: Path) -> bool:
    """Return whether an environment's Python runs, and finds all that was installed into it."""
    words = [str(target / "bin" / "python"), "-I", "-c", PROGRAMS]
    try:
        done = subprocess.run(words, env=_environment(), capture_output=True, check=False)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return False
    if done.returncode < 0:
        raise InstallError(
            f"{target}: its trial was ended by signal {-done.returncode}; if that was for want of "
            "memory, make some free, and try again"
        )
    return done.returncode == 0


def _try(target: Path, version: str) -> None:
    """Run the program that came of it: every library is loaded once. Raises InstallError."""
    for words in (
        [str(target / "bin" / "python"), "-I", "-c", PROGRAMS],
        [str(target / "bin" / "prs"), "--version"],
    ):
        done = subprocess.run(
            words, env=_environment(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise InstallError(f"the release does not run on this machine:\n{done.stderr.strip()}")
    if done.stdout.split()[-1:] != [version]:
        raise InstallError(f"the release calls itself {done.stdout.strip()!r}, not {version}")


def _environment() -> dict[str, str]:
    """Return the environment without what would change where Python and pip look."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PIP_", "PYTHON", "VIRTUAL_ENV"))
    }


def _write_whole(target: Path, make: Callable[[Path], object]) -> None:
    """Replace a file or link so that its name always leads to the old or the new one."""
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    make(part)
    part.replace(target)
    handle = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


if __name__ == "__main__":
    main()

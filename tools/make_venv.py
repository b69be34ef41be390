"""Make .venv from requirements.lock on a machine that has Python 3.11 and nothing else.

Standard library only: this file runs before anything is installed. Debian's bare `python3`
has no ensurepip; pip is then taken out of Debian's own signed package `python3-pip-whl`,
which apt verifies, and is used once, to install the pip that the lock file pins by hash.
Everything else is installed with `--require-hashes`. A stamp in .venv makes repeats free.
"""

from __future__ import annotations

import compileall
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
STAMP = VENV / "installed-from"
SOURCES = ("shared", "manager", "agent", "launcher", "client", "simweb", "migrations", "tools",
           "benchmarks")  # fmt: skip


def main() -> None:
    """Bring .venv to what the lock file says; exit with a sentence when that is impossible."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older Python is what this line is for
        sys.exit(
            f"Python {sys.version.split()[0]} is too old: PRSM needs 3.11 or later; "
            "set PYTHON=/path/to/python3.11"
        )
    make()
    compile_sources()
    run([str(VENV / "bin" / "python"), "-m", "tools.native"])


def make() -> None:
    """Install what the lock file says, unless it is installed."""
    wanted = fingerprint()
    if STAMP.exists() and STAMP.read_text() == wanted:
        return
    print("Making .venv from requirements.lock ...", flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    venv.create(VENV, with_pip=False, symlinks=True)
    with tempfile.TemporaryDirectory(prefix="prsm-venv-") as scratch:
        install(pip_command(Path(scratch)))
    STAMP.write_text(wanted)


def fingerprint() -> str:
    """Return what a finished .venv was made from: interpreter, lock file and project file."""
    digest = hashlib.sha256()
    digest.update(f"{sys.version} {ROOT}".encode())
    for path in (LOCK, ROOT / "pyproject.toml", Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def install(pip: list[str]) -> None:
    """Install the lock file by hash, then the project itself, editable and without fetching.

    The lock file names everything, so pip chooses nothing (`--no-deps`): a pip before 23.3 that
    meets `coverage[toml]` looks at the newest coverage of the day, has no hash for it, and fails.
    """
    python = str(VENV / "bin" / "python")
    common = ["--disable-pip-version-check", "--no-input", "--quiet"]
    run(
        [
            *pip,
            "--python",
            python,
            "install",
            *common,
            "--only-binary",
            ":all:",
            "--no-deps",
            "--require-hashes",
            "-r",
            str(LOCK),
        ]
    )
    run(
        [
            python,
            "-m",
            "pip",
            "install",
            *common,
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "-e",
            str(ROOT),
        ]
    )
    run([python, "-m", "pip", "check", "--quiet", "--disable-pip-version-check"])


def compile_sources() -> None:
    """Write byte code beside the sources, as pip does for what it installs.

    Where PYTHONDONTWRITEBYTECODE is set Python would compile them anew at each start.
    """
    for folder in SOURCES:
        compileall.compile_dir(ROOT / folder, quiet=2)


def pip_command(scratch: Path) -> list[str]:
    """Return a command that runs some pip: this Python's own, or one unpacked into scratch."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    bundled = bundled_wheel()
    if bundled is None:
        bundled = wheel_from_debian(scratch)
    return [sys.executable, str(bundled / "pip")]


def bundled_wheel() -> Path | None:
    """Return the pip wheel that ensurepip carries, or None where Debian left it out."""
    spec = importlib.util.find_spec("ensurepip")
    if spec is None or spec.origin is None:
        return None
    found = sorted((Path(spec.origin).parent / "_bundled").glob("pip-*.whl"))
    return found[-1] if found else None


def wheel_from_debian(scratch: Path) -> Path:
    """Unpack Debian's pip wheel into scratch, without installing a package."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        sys.exit(
            "This Python has neither pip nor ensurepip, and this is not a Debian system: "
            "install pip for it, then run make again."
        )
    package = "python3-pip-whl"
    if not download(package, scratch):
        if os.geteuid() != 0:
            sys.exit(
                f"Could not download {package}: apt has no package lists. Run "
                "`sudo apt-get update`, or `sudo apt-get install python3-pip`, then make again."
            )
        run(["apt-get", "update", "-qq"])
        if not download(package, scratch):
            sys.exit(f"Could not download {package} with apt-get; its message is above.")
    (archive,) = scratch.glob(f"{package}_*.deb")
    run(["dpkg-deb", "-x", str(archive), str(scratch)])
    (wheel,) = scratch.glob("usr/share/python-wheels/pip-*.whl")
    return wheel


def download(package: str, folder: Path) -> bool:
    """Fetch a Debian package's file into folder; return whether apt could."""
    # The sandbox user _apt may not write into a private folder; root downloads as itself.
    options = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
    return (
        subprocess.run(
            ["apt-get", *options, "-qq", "download", package], cwd=folder, check=False
        ).returncode
        == 0
    )


def run(command: list[str]) -> None:
    """Run a command; end with its exit code when it fails."""
    outcome = subprocess.run(command, check=False)
    if outcome.returncode != 0:
        sys.exit(f"Failed ({outcome.returncode}): {' '.join(command)}")


if __name__ == "__main__":
    main()

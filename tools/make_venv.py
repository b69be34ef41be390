"""Makes .venv from the lock files on a machine that has Python 3.11 and nothing else.

    tools/make_venv.py               what the programs need: `make venv`, `make demo`
    tools/make_venv.py native        the compiler too, and shared/native compiled: `make native`
    tools/make_venv.py native dev    what tests, linters and benchmarks need too: `make dev`

Standard library only: this file runs before anything is installed. Debian's bare `python3`
has no ensurepip; pip is then taken out of Debian's own signed package `python3-pip-whl`,
which apt verifies, and is used once, to install the pip that the lock file pins by hash.
Everything else is installed with `--require-hashes`. A stamp in .venv makes repeats free.
"""

from __future__ import annotations

import argparse
import compileall
import filecmp
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
EXTRA_LOCKS = {
    "native": ROOT / "requirements-native.lock",
    "dev": ROOT / "requirements-dev.lock",
}
STAMP = VENV / "installed-from"
SOURCES = ("shared", "manager", "agent", "launcher", "client", "simweb", "migrations", "tools",
           "benchmarks")  # fmt: skip
PROGRAMS = ("manager", "agent", "client", "launcher", "simweb")

UNUSED = ("pyarrow/tests", "pyarrow/include", "pyarrow/src", "pyarrow/*.pxi", "pyarrow/*.pyx",
          "pyarrow/*flight*", "pyarrow/libarrow_s3*", "pyarrow/_s3fs*",
          "numpy/**/tests", "networkx/**/tests", "selectolax/*.c", "ada_url/ada.*")  # fmt: skip
"""Parts of wheels that nothing here loads, 80 of 440 MiB: docs/dependencies.md."""


def main() -> None:
    """Bring .venv to what the lock files say; exit with a sentence when that is impossible."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older Python is what this line is for
        sys.exit(
            f"Python {sys.version.split()[0]} is too old: PRSM needs 3.11 or later; "
            "set PYTHON=/path/to/python3.11"
        )
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("levels", nargs="*", help=f"what else to install: {', '.join(EXTRA_LOCKS)}")
    levels = parser.parse_args().levels
    if unknown := set(levels) - set(EXTRA_LOCKS):
        sys.exit(f"{sorted(unknown)[0]}: no such level; there are {', '.join(EXTRA_LOCKS)}")
    make(levels)
    compile_sources()
    if "native" in levels:
        run([str(VENV / "bin" / "python"), "-m", "tools.native"])


def make(levels: list[str]) -> None:
    """Install what the lock files of these levels say, unless it is installed.

    The stamp has a line for the environment itself and one for each level on top of it.
    """
    installed = STAMP.read_text().splitlines() if STAMP.exists() else []
    wanted = [fingerprint(LOCK, ROOT / "pyproject.toml", Path(__file__))]
    if wanted[0] not in installed:
        print("Making .venv from requirements.lock ...", flush=True)
        shutil.rmtree(VENV, ignore_errors=True)
        venv.create(VENV, with_pip=False, symlinks=True)
        with tempfile.TemporaryDirectory(prefix="prsm-venv-") as scratch:
            install_programs(pip_command(Path(scratch)))
        installed = []
    for level in levels:
        lock = EXTRA_LOCKS[level]
        wanted.append(fingerprint(lock))
        if wanted[-1] not in installed:
            print(f"Adding {lock.name} to .venv ...", flush=True)
            install_lock([str(VENV / "bin" / "python"), "-m", "pip"], lock)
    STAMP.write_text("\n".join(dict.fromkeys([*wanted, *installed])) + "\n")


def fingerprint(*paths: Path) -> str:
    """Return what a part of .venv is made from: the interpreter, the folder and these files."""
    digest = hashlib.sha256()
    digest.update(f"{sys.version} {ROOT}".encode())
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def install_programs(pip: list[str]) -> None:
    """Install the lock file by hash, then the project itself, editable and without fetching."""
    install_lock(pip, LOCK)
    python = str(VENV / "bin" / "python")
    run(
        [
            *(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--no-input", "--no-deps", "--no-build-isolation", "--no-index", "-e", str(ROOT)),
        ]
    )
    run([python, "-m", "pip", "check", "--quiet", "--disable-pip-version-check"])
    compile_imports(python)


def install_lock(pip: list[str], lock: Path) -> None:
    """Install a lock file by hash, show how far it is, and remove what nothing here loads.

    The lock file names everything, so pip chooses nothing (`--no-deps`): a pip before 23.3 that
    meets `coverage[toml]` looks at the newest coverage of the day, has no hash for it, and fails.
    pip keeps no downloads: that would write outside of this folder; PIP_CACHE_DIR asks for it.
    """
    command = [*pip, "--python", str(VENV / "bin" / "python"), "install", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar", "off", "--no-compile"]
    command += ["--only-binary", ":all:", "--no-deps", "--require-hashes", "-r", str(lock)]
    if "PIP_CACHE_DIR" not in os.environ:
        command.append("--no-cache-dir")
    total = len(re.findall(r"^[A-Za-z0-9][\w.-]*(?:\[\w,]+\])?==", lock.read_text(), re.MULTILINE))
    run_shown(command, total)
    packages = next((VENV / "lib").glob("python3*")) / "site-packages"
    remove_unused(packages)
    link_copies(packages)


def run_shown(command: list[str], total: int) -> None:
    """Run pip and show its progress: downloads by its lines, then installed packages."""
    before = count_installed()
    progress = ProgressBar(total)
    done = threading.Event()
    lines: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:

        def show_installed() -> None:
            while not done.wait(0.5):
                if (count := count_installed() - before) > 0:
                    progress.show("installed", count)

        watcher = threading.Thread(target=show_installed, daemon=True)
        watcher.start()
        assert pip.stdout is not None
        collected = 0
        for line in pip.stdout:
            lines.append(line)
            if line.startswith("Collecting "):
                collected += 1
                progress.show("downloaded", collected)
        done.set()
        watcher.join()
    progress.end()
    if pip.returncode != 0:
        sys.stderr.write("".join(lines[-20:]))
        sys.exit(f"Failed ({pip.returncode}): {' '.join(command)}")


class ProgressBar:
    """A line that grows on a terminal; elsewhere a line for each fifth of the work."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._shown: tuple[str, int] | None = None

    def show(self, what: str, count: int) -> None:
        """Show that `count` packages are downloaded or installed."""
        count = min(count, self._total)
        if sys.stdout.isatty():
            bar = "#" * (30 * count // max(1, self._total))
            print(f"\r  [{bar:<30}] {count} of {self._total} packages {what} ", end="", flush=True)
            self._shown = (what, count)
            return
        fifth = (what, 5 * count // max(1, self._total))
        if fifth != self._shown:
            self._shown = fifth
            print(f"  {count} of {self._total} packages {what}", flush=True)

    def end(self) -> None:
        """Go to the next line of a terminal."""
        if sys.stdout.isatty() and self._shown is not None:
            print(flush=True)


def count_installed() -> int:
    """Return how many packages .venv holds."""
    return sum(1 for _ in VENV.glob("lib/python3*/site-packages/*.dist-info"))


def remove_unused(packages: Path) -> None:
    """Remove the parts of wheels that nothing here loads."""
    for pattern in UNUSED:
        for path in packages.glob(pattern):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def link_copies(packages: Path) -> None:
    """Link equal copies of a library: a wheel has three where a system has symbolic links."""
    for library in sorted(packages.glob("*/lib*.so*")):
        for other in library.parent.glob(f"{library.name.split('.so')[0]}.so*"):
            if not other.samefile(library) and filecmp.cmp(library, other, shallow=False):
                other.unlink()
                other.hardlink_to(library)


def compile_imports(python: str) -> None:
    """Write byte code of the modules that our programs import, and of no others."""
    code = (
        "import importlib, pkgutil\n"
        f"for package in {PROGRAMS!r}:\n"
        "    top = importlib.import_module(package)\n"
        "    for found in pkgutil.walk_packages(top.__path__, package + '.'):\n"
        "        if not found.name.endswith('__main__'):\n"
        "            importlib.import_module(found.name)\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    if subprocess.call([python, "-c", code], cwd=ROOT, env=environment):
        sys.exit("Failed: a module of .venv does not load; its error is above.")


def compile_sources() -> None:
    """Write byte code beside the sources, as pip does for what it installs.

    Where PYTHONDONTWRITEBYTECODE is set Python would compile them again at each start.
    """
    for folder in SOURCES:
        compileall.compile_dir(ROOT / folder, quiet=2)


def pip_command(scratch: Path) -> list[str]:
    """Return a command that runs some pip: this Python's own, or one unpacked into scratch."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    wheel = bundled_wheel() or wheel_from_debian(scratch)
    return [sys.executable, str(wheel / "pip")]


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
    return subprocess.call(["apt-get", *options, "-qq", "download", package], cwd=folder) == 0


def run(command: list[str]) -> None:
    """Run a command; end with its exit code when it fails."""
    if code := subprocess.call(command):
        sys.exit(f"Failed ({code}): {' '.join(command)}")


if __name__ == "__main__":
    main()

"""The archive for all: each Python and machine finds in it all that the agent needs.

pip resolves for platforms that this machine is not, out of the archive alone; where the Python is
at hand, the archive's own installer makes a release with it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tools.bundle.__main__ import ALL
from tools.bundle.chosen import Platform, locked
from tools.bundle.fetched import platform_words
from tools.bundle.making import make

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1800)]

HERE = os.uname().machine
OTHERS = [one for one in ALL if one.machine == HERE and one.python != sys.version_info[:2]]
ITS_PYTHON = "import sys; print(*sys.version_info[:2])"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what comes out of the archive for all."""
    folder = tmp_path_factory.mktemp("all")
    with tarfile.open(make("9.1", ALL, "prs-9.1", folder)) as tar:
        tar.extractall(folder, filter="data")
    return folder / "prs-9.1"


@pytest.mark.parametrize("platform", ALL, ids=lambda one: one.name)
def test_all_that_is_needed_is_there(unpacked: Path, platform: Platform, tmp_path: Path) -> None:
    """From the project's own wheel on, each requirement has a wheel that the platform takes."""
    report = tmp_path / "report.json"
    words = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]
    words += ["install", "--dry-run", "--ignore-installed", "--target", str(tmp_path / "none")]
    words += ["--no-index", "--find-links", str(unpacked / "wheels"), "--report", str(report)]
    words += platform_words(platform)
    done = subprocess.run([*words, "prsm[agent]==9.1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [one["metadata"] for one in json.loads(report.read_text())["install"]]
    chosen = {canonicalize_name(one["name"]): one["version"] for one in found}
    pinned = {
        one.name: one.version
        for one in locked(_own_left_out((unpacked / "requirements.txt").read_text()))
        if one.fits(platform)
    }
    assert {name: chosen[name] for name in chosen if name != "prsm"}.items() <= pinned.items()
    assert len(chosen) > 20
    assert platform.name in (unpacked / "PLATFORMS").read_text().split()


@pytest.mark.parametrize("platform", OTHERS, ids=lambda one: one.name)
def test_another_python_installs_it(unpacked: Path, platform: Platform) -> None:
    """With the archive's own installer, which tries all programs once."""
    python = _python(platform)
    with tempfile.TemporaryDirectory(prefix="prs-site-") as home:
        done = subprocess.run(
            [str(unpacked / "install"), home],
            env={"PATH": os.environ["PATH"], "PYTHON": python, "HOME": home},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        words = [
            f"{home}/current/venv/bin/python",
            "-c",
            ITS_PYTHON,
        ]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert tuple(map(int, said.split())) == platform.python
        words = [f"{home}/bin/prs", "--version"]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert said == "prs 9.1\n"


def _python(platform: Platform) -> str:
    """Return an interpreter of a version, wherever it is; skip the test where there is none."""
    name = f"python{platform.python[0]}.{platform.python[1]}"
    for found in _candidates(name):
        # What is found may be a script that asks its environment which Python to run.
        words = [found, "-c", f"{ITS_PYTHON}; print(sys.executable)"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        version, _, executable = done.stdout.strip().partition("\n")
        if done.returncode == 0 and tuple(map(int, version.split())) == platform.python:
            return executable
    pytest.skip(f"no {name} on this machine")


def _candidates(name: str) -> Iterator[str]:
    if (found := shutil.which(name)) is not None:
        yield found
    kept = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    yield from map(str, sorted(kept.glob(f"{name.removeprefix('python')}.*/bin/{name}")))


def _own_left_out(requirements: str) -> str:
    return requirements.partition("prsm==")[0]

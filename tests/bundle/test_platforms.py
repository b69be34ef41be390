"""The archive for all: each Python and machine finds in it all that the agent needs.

pip resolves for platforms that this machine is not, out of the archive alone; what it chooses is
looked into: names, hashes, and for which processor each library is. Where the Python is at hand,
the archive's own installer makes a release with it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from packaging.utils import canonicalize_name, parse_wheel_filename

from tools.bundle.__main__ import ALL
from tools.bundle.archive import make, unpack
from tools.bundle.chosen import Platform, locked
from tools.bundle.fetched import platform_words, sha256_of

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1800)]

HERE = os.uname().machine
OTHERS = [one for one in ALL if one.machine == HERE and one.python != sys.version_info[:2]]
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
SHARED_OBJECT = re.compile(r"\.so(?:\.[0-9.]+)?\Z")
PROCESSORS = {0x3E: "x86_64", 0xB7: "aarch64"}  # ELF's e_machine
ITS_PYTHON = "import sys; print(*sys.version_info[:2])"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what comes out of the archive for all."""
    folder = tmp_path_factory.mktemp("all")
    unpack(make("9.1", ALL, "prs-9.1", folder), folder)
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
    found = json.loads(report.read_text())["install"]
    chosen = {_name(one): one["metadata"]["version"] for one in found}
    requirements = (unpacked / "requirements.txt").read_text()
    entries = [one for one in locked(_own_left_out(requirements)) if one.fits(platform)]
    pinned = {one.name: one.version for one in entries}
    assert {name: chosen[name] for name in chosen if name != "prsm"}.items() <= pinned.items()
    assert len(chosen) > 20
    hashes = {one.name: one.hashes for one in entries}
    for one in found:
        wheel = Path(unquote(urlsplit(one["download_info"]["url"]).path))
        _, _, _, tags = parse_wheel_filename(wheel.name)
        assert {tag.platform for tag in tags if not tag.platform.endswith(platform.machine)} <= {
            "any"
        }
        if _name(one) != "prsm":
            assert sha256_of(wheel) in hashes[_name(one)]
    assert platform.name in (unpacked / "PLATFORMS").read_text().split()


def test_each_library_is_for_the_processor_that_its_wheel_names(unpacked: Path) -> None:
    """By the head of each shared object; and no wheel is there that nobody pins.

    Our own wheel is for any machine, and has a library for each by its name.
    """
    pinned = set(HASH.findall((unpacked / "requirements.txt").read_text()))
    libraries: Counter[str] = Counter()
    ours: set[str] = set()
    for wheel in sorted((unpacked / "wheels").iterdir()):
        assert sha256_of(wheel) in pinned
        _, _, _, tags = parse_wheel_filename(wheel.name)
        machines = {tag.platform.partition("linux")[2] for tag in tags}
        with zipfile.ZipFile(wheel) as packed:
            for member in packed.namelist():
                if not SHARED_OBJECT.search(member):
                    continue
                with packed.open(member) as opened:
                    head = opened.read(20)
                assert head[:4] == b"\x7fELF", (wheel.name, member)
                machine = PROCESSORS[int.from_bytes(head[18:20], "little")]
                libraries[machine] += 1
                if wheel.name.startswith("prsm-"):
                    assert member == f"shared/native/made/prsm-{machine}.so"
                    ours.add(machine)
                    continue
                assert all(one.endswith(machine) for one in machines), (wheel.name, member)
    assert min(libraries["aarch64"], libraries["x86_64"]) > 50
    assert ours == {"aarch64", "x86_64"}


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


def _name(one: dict[str, Any]) -> str:
    """Return the name of a package in a report of pip's."""
    return canonicalize_name(one["metadata"]["name"])


def _own_left_out(requirements: str) -> str:
    return requirements.partition("prsm==")[0]

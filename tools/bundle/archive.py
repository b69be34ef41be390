"""Archives of this tree: for platforms, and again as another version with other code.

The same content gives the same bytes.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from pathspec import GitIgnoreSpec

from tools.bundle.chosen import Locked, Platform, locked, needed
from tools.bundle.fetched import fetch, sha256_of
from tools.bundle.licences import collect, write_licences
from tools.bundle.sbom import write_sbom
from tools.native import compile_all

__all__ = [
    "ROOT",
    "commit_time",
    "make",
    "make_again",
    "own_wheel",
    "project_files",
    "unpack",
    "version_in",
]

ROOT = Path(__file__).resolve().parent.parent.parent
_VERSION = re.compile(r'^version = "([^"]+)"$', re.MULTILINE)


def make(
    version: str, platforms: tuple[Platform, ...], name: str, into: Path, root: Path | None = None
) -> Path:
    """Make an archive of a version for platforms, and return it. root: the first of releases."""
    entries = _entries()
    with tempfile.TemporaryDirectory(prefix="prs-bundle-") as scratch:
        folder = Path(scratch) / name
        (folder / "wheels").mkdir(parents=True)
        fetch(entries, platforms, folder / "wheels")
        own_wheel(version, Path(scratch), folder / "wheels")
        _lay_out(folder, version, entries, platforms)
        if root is not None:
            shutil.copy(root, folder / "root.json")
        archive = into / f"{name}.tar.gz"
        _pack(folder, archive)
    return archive


def make_again(archive: Path, version: str, name: str, change: Callable[[Path], None]) -> Path:
    """Make an archive beside another one, of the same libraries; change: edits a copy of the tree.

    Without a network: tests of updates need releases that would never be published.
    """
    with tempfile.TemporaryDirectory(prefix="prs-bundle-") as scratch:
        unpack(archive, Path(scratch))
        folder = Path(scratch) / name
        (Path(scratch) / archive.name.removesuffix(".tar.gz")).rename(folder)
        for old in (folder / "wheels").glob("prsm-*.whl"):
            old.unlink()
        own_wheel(version, Path(scratch), folder / "wheels", change)
        lines = (folder / "PLATFORMS").read_text().split()
        _lay_out(folder, version, _entries(), [Platform.named(line) for line in lines])
        made = archive.with_name(f"{name}.tar.gz")
        _pack(folder, made)
    return made


def _entries() -> list[Locked]:
    lock = locked((ROOT / "requirements.lock").read_text())
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"]["agent"], "pip"]
    names = needed(declared, (one.name for one in lock))
    return [one for one in lock if one.name in names]


def version_in(project: Path) -> str:
    """Return the version that a pyproject.toml names."""
    match = _VERSION.search(project.read_text())
    if match is None:
        raise ValueError(f'{project}: has no line version = "..."')
    return match[1]


def own_wheel(
    version: str, scratch: Path, into: Path, change: Callable[[Path], None] | None = None
) -> Path:
    """Build this tree's wheel as a version, outside of the tree. Raises CalledProcessError.

    change: edits the copy of the tree that it is built from.
    """
    tree = scratch / "tree"
    for name in project_files(ROOT):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    project = tree / "pyproject.toml"
    project.write_text(_VERSION.sub(f'version = "{version}"', project.read_text(), count=1))
    if change is not None:
        change(tree)
    compile_all(tree / "shared" / "native")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(scratch)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(commit_time())}
    subprocess.run(words, cwd=tree, env=environment, stdout=subprocess.DEVNULL, check=True)
    (wheel,) = scratch.glob("prsm-*.whl")
    return Path(shutil.move(wheel, into / wheel.name))


def _lay_out(
    folder: Path, version: str, entries: Iterable[Locked], platforms: Sequence[Platform]
) -> None:
    """Write the files beside the wheels of a folder: installer, licences, SBOM, platforms, hashes.

    Raises LicenceError where a wheel has no licence that we know.
    """
    here = Path(__file__).parent
    for name in ("install", "install.py"):
        shutil.copy(here / name, folder / name)
    shutil.copy(ROOT / "LICENSE", folder / "LICENSE")
    components = collect(folder / "wheels")
    write_licences(components, folder / "THIRD-PARTY-LICENSES.txt")
    write_sbom(components, folder / "sbom.cdx.json", commit_time())
    (folder / "VERSION").write_text(f"{version}\n")
    (folder / "PLATFORMS").write_text("".join(f"{one.name}\n" for one in platforms))
    there = {sha256_of(path): path.name for path in (folder / "wheels").glob("*.whl")}
    lines: list[str] = []
    for one in entries:
        marker = f" ; {one.marker}" if one.marker else ""
        mine = sorted(one.hashes & there.keys())
        if mine:
            lines.append(f"{one.name}=={one.version}{marker}{_hashes(mine)}")
    (own,) = (digest for digest, name in there.items() if name.startswith("prsm-"))
    lines.append(f"prsm=={version}{_hashes([own])}")
    (folder / "requirements.txt").write_text("\n".join(lines) + "\n")


def _pack(folder: Path, archive: Path) -> None:
    """Write a folder as archive, under its own name; wheels are compressed already."""
    part = archive.with_name(archive.name + ".part")
    with (
        part.open("wb") as raw,
        gzip.GzipFile("", "wb", 1, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in sorted([folder, *folder.rglob("*")]):
            info = tar.gettarinfo(str(path), str(path.relative_to(folder.parent)))
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            info.mtime = commit_time()
            info.mode = 0o755 if path.is_dir() or path.name == "install" else 0o644
            if path.is_dir():
                tar.addfile(info)
            else:
                with path.open("rb") as file:
                    tar.addfile(info, file)
    part.replace(archive)


def unpack(archive: Path, into: Path) -> None:
    """Unpack as a partner does: Debian's Python 3.11.2 cannot do it as safely as tar does."""
    subprocess.run(["tar", "-xzf", archive, "--no-same-owner", "-C", into], check=True)


def _hashes(digests: Iterable[str]) -> str:
    return "".join(f" \\\n    --hash=sha256:{digest}" for digest in digests)


def project_files(root: Path) -> list[str]:
    """Return the files of a tree without what is made in it: as Git lists them, else by .gitignore.

    A downloaded archive of the sources is no repository, and needs no Git.
    """
    listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed is not None:
        return list(filter(None, listed.split("\0")))
    lines = (root / ".gitignore").read_text().splitlines()
    made = GitIgnoreSpec.from_lines([*lines, ".git/"])
    return sorted(made.match_tree_files(root, negate=True))


def commit_time(root: Path = ROOT) -> int:
    """Return the time of the newest commit, in seconds since 1970.

    In an archive of the sources each file has that time; there it is that of pyproject.toml.
    """
    shown = _git(root, "log", "-1", "--format=%ct")
    return int(shown) if shown else int((root / "pyproject.toml").stat().st_mtime)


def _git(root: Path, *words: str) -> str | None:
    """Return what Git says of a tree; None where it is not itself a repository, or Git is missing.

    Raises CalledProcessError where Git refuses a repository.
    """
    if not (root / ".git").exists() or shutil.which("git") is None:
        return None
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout

"""An archive from this tree: for platforms, and again as another version with other code."""

from __future__ import annotations

import shutil
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path

from tools.bundle.chosen import Locked, Platform, locked, needed
from tools.bundle.fetched import fetch
from tools.bundle.packed import ROOT, lay_out, own_wheel, pack, unpack

__all__ = ["make", "make_again"]


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
        lay_out(folder, version, entries, platforms)
        if root is not None:
            shutil.copy(root, folder / "root.json")
        archive = into / f"{name}.tar.gz"
        pack(folder, archive)
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
        lay_out(folder, version, _entries(), [Platform.named(line) for line in lines])
        made = archive.with_name(f"{name}.tar.gz")
        pack(folder, made)
    return made


def _entries() -> list[Locked]:
    lock = locked((ROOT / "requirements.lock").read_text())
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"]["agent"], "pip"]
    names = needed(declared, (one.name for one in lock))
    return [one for one in lock if one.name in names]

"""The archives of the story: real ones, made from this tree, of which some must not be run.

Each is what `make bundle` makes, for one platform, with another version and one edit in the copy of
the tree that its wheel is built from.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from tools.bundle.archive import make, make_again
from tools.bundle.chosen import Platform

__all__ = [
    "FIRST",
    "NEXT",
    "NO_LAUNCHER",
    "NO_SYNC",
    "TAMPERED",
    "make_first",
    "make_next",
    "make_others",
    "make_without_sync",
]

FIRST, NEXT, NO_SYNC, NO_LAUNCHER, TAMPERED = "1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0"


def make_first(into: Path, root: Path, platform: Platform, tree: Path | None = None) -> Path:
    """Make the archive that the site is installed from; root: by which it judges others.

    tree: the checkout whose agent it holds, after `make dev` there; None: this one.
    """
    name = f"prs-{FIRST}-{platform.name}"
    if tree is None:
        return make(FIRST, (platform,), name, into, root)
    command = [".venv/bin/python", "-m", "tools.bundle", "--here", "--version", FIRST]
    subprocess.run([*command, "--root", str(root), "--into", str(into)], cwd=tree, check=True)
    return into / f"{name}.tar.gz"


def make_next(first: Path, platform: Platform) -> Path:
    """Make the archive of this tree's agent, with the libraries of this tree's lock file."""
    return make(NEXT, (platform,), f"prs-{NEXT}-{platform.name}", first.parent)


def make_without_sync(archive: Path, version: str) -> Path:
    """Make a release that starts and never completes a sync, of the libraries of an archive."""
    name = archive.name.removesuffix(".tar.gz").replace(NEXT, version)
    return make_again(archive, version, name, _calls_elsewhere)


def make_others(first: Path) -> dict[str, Path]:
    """Make what is published later, and return it by version."""
    changes: dict[str, Callable[[Path], None]] = {
        NEXT: lambda _: None,
        NO_SYNC: _calls_elsewhere,
        NO_LAUNCHER: _cannot_be_replaced,
        TAMPERED: lambda _: None,
    }
    return {
        version: make_again(
            first, version, first.name.removesuffix(".tar.gz").replace(FIRST, version), change
        )
        for version, change in changes.items()
    }


def _calls_elsewhere(tree: Path) -> None:
    """The agent starts, and asks its manager for what no manager has: it never completes a sync."""
    _edit(tree / "agent" / "link" / "client.py", '"/api/v1/sync"', '"/api/v2/sync"')


def _cannot_be_replaced(tree: Path) -> None:
    """End the launcher with an error: this release could never be updated."""
    _edit(
        tree / "launcher" / "__main__.py", 'print("launcher works")', "raise ImportError(name='x')"
    )


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    if old not in text:
        raise ValueError(f"{path}: has no {old}; the story needs another way to break a release")
    path.write_text(text.replace(old, new))

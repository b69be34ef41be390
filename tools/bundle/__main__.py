"""`python -m tools.bundle`: make the archive of a release into `dist/`.

Without options it is for Python 3.11 to 3.13 on x86-64 and arm64.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

from tools.bundle.chosen import Platform, locked, needed
from tools.bundle.fetched import fetch, sha256_of
from tools.bundle.packed import ROOT, lay_out, own_wheel, pack, version_in

PYTHONS = ((3, 11), (3, 12), (3, 13))
MACHINES = ("x86_64", "aarch64")
ALL = tuple(Platform(python, machine) for python in PYTHONS for machine in MACHINES)


def main() -> None:
    """Make one archive, and print where it is, how large, and its SHA-256."""
    options = _options()
    version = options.version or version_in(ROOT / "pyproject.toml")
    here = Platform((sys.version_info[0], sys.version_info[1]), platform.machine())
    platforms = (here,) if options.here else ALL
    name = f"prs-{version}" + (f"-{here.name}" if options.here else "")
    options.into.mkdir(parents=True, exist_ok=True)
    archive = make(version, platforms, name, options.into, options.root)
    print(f"{archive}  {archive.stat().st_size / 1e6:.1f} MB  sha256:{sha256_of(archive)}")


def make(
    version: str, platforms: tuple[Platform, ...], name: str, into: Path, root: Path | None = None
) -> Path:
    """Make an archive of a version for platforms, and return it. root: the first of releases."""
    lock = locked((ROOT / "requirements.lock").read_text())
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"]["agent"], "pip"]
    names = needed(declared, (one.name for one in lock))
    entries = [one for one in lock if one.name in names]
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


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.bundle", description=__doc__)
    parser.add_argument("--here", action="store_true", help="for this Python and machine only")
    parser.add_argument("--version", default="", help="another than pyproject.toml says")
    parser.add_argument("--root", type=Path, help="1.root.json, by which sites judge updates")
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="default: dist/")
    return parser.parse_args()


if __name__ == "__main__":
    main()

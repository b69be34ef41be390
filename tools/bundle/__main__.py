"""`python -m tools.bundle`: make the archive of a release into `dist/`.

It is for Python 3.11 to 3.13 on x86-64 and arm64, unless --here is given. Sites that install it get
newer releases only if it holds the first root of the crawl's releases: --root, or --no-updates.
"""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

from tools.bundle.archive import ROOT, make, version_in
from tools.bundle.chosen import Platform
from tools.bundle.fetched import sha256_of

PYTHONS = ((3, 11), (3, 12), (3, 13))
MACHINES = ("x86_64", "aarch64")
ALL = tuple(Platform(python, machine) for python in PYTHONS for machine in MACHINES)

NO_ROOT = (
    "without the first root of the releases no site that installs the archive would ever get "
    "another one by itself: give --root 1.root.json (docs/operations.md, Releases), or say "
    "--no-updates"
)
OFF = (
    "updates are off: sites that install this archive stay on its release until they are given the "
    "first root of your releases (docs/operations.md, Releases)"
)


def main() -> None:
    """Make one archive, and print where it is, how large, and its SHA-256."""
    options = _options()
    version = options.version or version_in(ROOT / "pyproject.toml")
    here = Platform((sys.version_info[0], sys.version_info[1]), platform.machine())
    platforms = (here,) if options.here else ALL
    name = f"prs-{version}" + (f"-{here.name}" if options.here else "")
    options.into.mkdir(parents=True, exist_ok=True)
    archive = make(version, platforms, name, options.into, options.root)
    if options.root is None:
        print(OFF, file=sys.stderr)
    print(f"{archive}  {archive.stat().st_size / 1e6:.1f} MB  sha256:{sha256_of(archive)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.bundle", description=__doc__)
    parser.add_argument("--here", action="store_true", help="for this Python and machine only")
    parser.add_argument("--version", default="", help="another than pyproject.toml says")
    updates = parser.add_mutually_exclusive_group()
    updates.add_argument("--root", type=Path, help="1.root.json, by which sites judge updates")
    updates.add_argument(
        "--no-updates", action="store_true", help="no root: its sites stay on this release"
    )
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="default: dist/")
    options = parser.parse_args()
    if options.root is None and not options.no_updates:
        parser.error(NO_ROOT)
    if options.root is not None and not options.root.is_file():
        parser.error(f"--root {options.root}: is no file; docs/operations.md says how it is made")
    return options


if __name__ == "__main__":
    main()

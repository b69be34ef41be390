"""`python -m tools.bundle`: make the archive of a release into `dist/`.

Without options it is for Python 3.11 to 3.13 on x86-64 and arm64.
"""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

from tools.bundle.chosen import Platform
from tools.bundle.fetched import sha256_of
from tools.bundle.making import make
from tools.bundle.packed import ROOT, version_in

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


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.bundle", description=__doc__)
    parser.add_argument("--here", action="store_true", help="for this Python and machine only")
    parser.add_argument("--version", default="", help="another than pyproject.toml says")
    parser.add_argument("--root", type=Path, help="1.root.json, by which sites judge updates")
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="default: dist/")
    return parser.parse_args()


if __name__ == "__main__":
    main()

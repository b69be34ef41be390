"""`python -m tools.bundle.wheel`: make the wheel of this tree, with native code, into `dist/`."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tools.bundle.archive import ROOT, own_wheel, version_in

__all__ = ["main"]


def main() -> None:
    """Make the wheel, print its path and how it is installed."""
    argparse.ArgumentParser(prog="python -m tools.bundle.wheel", description=__doc__).parse_args()
    folder = ROOT / "dist"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="prsm-wheel-") as scratch:
        wheel = own_wheel(version_in(ROOT / "pyproject.toml"), Path(scratch), folder)
    print(f"{wheel}\nInstall it with: pip install '{wheel}[manager]'   (or [agent], [client])")


if __name__ == "__main__":
    main()

"""The peers, installed by hash into a separate environment.

`peers.lock` holds their versions; `peers/` what they run. They are no dependency of the project:
`make venv` and `make test` do not install them.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

from benchmarks.crawl.measure import Cost, measure

__all__ = ["Peers"]

HERE: Final = Path(__file__).parent
LOCK: Final = HERE / "peers.lock"
VENV: Final = HERE.parent.parent / "build" / "bench-peers"


class Peers:
    """Scrapy and crawlee, ready to run."""

    def __init__(self) -> None:
        """Install them where the lock file has changed since the last time."""
        self._python = VENV / "bin" / "python"
        stamp = VENV / "installed-from"
        if stamp.exists() and stamp.read_text() == LOCK.read_text():
            return
        print("installing Scrapy and crawlee into build/bench-peers ...", flush=True)
        venv.create(VENV, with_pip=False, clear=True, symlinks=True)
        words = [sys.executable, "-m", "pip", "--python", str(self._python), "install", "--quiet"]
        words += ["--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*words, "--require-hashes", "-r", str(LOCK)], check=True)
        stamp.write_text(LOCK.read_text())

    def run(self, name: str, tops: list[str], seconds: float, scratch: Path, *more: str) -> Cost:
        """Run `peers/NAME_crawl.py` from some top pages."""
        scratch.mkdir(parents=True, exist_ok=True)
        listed = scratch / "tops.txt"
        listed.write_text("\n".join(tops))
        script = HERE / "peers" / f"{name}_crawl.py"
        return measure([str(self._python), str(script), str(listed), *more], seconds, scratch)

"""Compile `shared/native` for each kind of machine that we make archives for.

The compiler is Zig, which the lock file pins like any other package; it compiles for other
machines as for this one, and needs neither headers nor a C compiler. A library is made again
only when a source or the compiler changed. `make venv` calls this, and who builds a wheel.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from shared.native import FOLDER, sources_digest, stamp_of

__all__ = ["MACHINES", "compile_all"]

ROOT = Path(__file__).resolve().parent.parent

MACHINES = ("x86_64", "aarch64")
"""As `uname -m` says it."""

_FLAGS = ("-dynamic", "-O", "ReleaseSafe", "-fstrip", "-fsingle-threaded")


def compile_all(folder: Path = FOLDER) -> None:
    """Compile the sources in a copy of `shared/native`. Raises CalledProcessError."""
    made = folder / "made"
    made.mkdir(exist_ok=True)
    wanted = _fingerprint(folder)
    for machine in MACHINES:
        library = made / f"prsm-{machine}.so"
        stamp = stamp_of(library)
        if library.exists() and stamp.exists() and stamp.read_text() == wanted:
            continue
        part = library.with_suffix(".part")
        words = [sys.executable, "-m", "ziglang", "build-lib", *_FLAGS]
        words += ["-target", f"{machine}-linux-gnu", f"-femit-bin={part}", "root.zig"]
        subprocess.run(words, cwd=folder, env=_environment(), check=True)
        part.replace(library)
        stamp.write_text(wanted)


def _fingerprint(folder: Path) -> str:
    """Return two lines: what the sources hash to, and the compiler with its flags."""
    return f"{sources_digest(folder)}\n{version('ziglang')} {' '.join(_FLAGS)}\n"


def _environment() -> dict[str, str]:
    """Return variables that keep the compiler's cache in this tree, not in a user's home."""
    cache = str(ROOT / "build" / "zig-cache")
    return {**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}


if __name__ == "__main__":
    compile_all()

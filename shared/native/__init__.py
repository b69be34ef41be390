"""Code for the machine itself, for the few places where Python is most of the cost of a page.

The sources are Zig (`root.zig` has the functions), because it checks every access and a wheel of
the package registry compiles it, for other machines too (docs/adr/0163). They use no library, not
even C's, so one file serves any Python of any Linux. `tools/native.py` makes them.

Invariants: a library is used only with the sources that it was made from, for an older one finds
less without a word. Each function has a definition in Python beside its caller, which says the
same, takes its place where there is no library, and is what tests compare it with.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
from functools import cache
from pathlib import Path
from typing import Final

from shared.messages import Message

__all__ = ["FOLDER", "OFF", "absence_reason", "library", "made_for", "sources_digest", "stamp_of"]

FOLDER: Final = Path(__file__).parent
OFF: Final = "PRSM_NATIVE"
"""Variable of the environment; `no`: all is done in Python."""


def made_for(machine: str) -> Path:
    """Return where the library for a machine is, or would be. machine: as `uname -m` says it."""
    return FOLDER / "made" / f"prsm-{machine}.so"


def stamp_of(library: Path) -> Path:
    """Return the file beside a library that names its sources and compiler; archives have none."""
    return library.with_suffix(".made-from")


def sources_digest(folder: Path | None = None) -> str:
    """Return what all sources in a folder, by default the one here, hash to together."""
    digest = hashlib.sha256()
    for source in sorted((folder or FOLDER).glob("*.zig")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def library() -> ctypes.CDLL | None:
    """Return the library for this machine; None: `absence_reason` says why Python does it."""
    return _looked_for()[0]


def absence_reason() -> Message | None:
    """Return why there is no library; None: there is one."""
    return _looked_for()[1]


@cache
def _looked_for() -> tuple[ctypes.CDLL | None, Message | None]:
    if os.environ.get(OFF) == "no":
        return None, Message("general.native_off", variable=OFF)
    machine = platform.machine()
    path = made_for(machine)
    if not path.exists():
        return None, Message("general.native_missing", machine=machine)
    stamp = stamp_of(path)
    if stamp.exists() and stamp.read_text().partition("\n")[0] != sources_digest():
        return None, Message("general.native_outdated", file=path.name)
    try:
        return ctypes.CDLL(str(path)), None
    except OSError as error:
        return None, Message.of_text(str(error))

"""Code for the machine itself, for the few places where Python is most of what a page costs.

The sources are Zig (`root.zig` has the functions), because it checks every access and a wheel of
the package registry compiles it, for other machines too (docs/adr/0163). They use no library, not
even C's, so one file serves any Python of any Linux. `tools/native.py` makes them.

Invariant: each function has a definition in Python beside its caller, which says the same, takes
its place where nothing was made for this machine, and is what tests compare it with.
"""

from __future__ import annotations

import ctypes
import os
import platform
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["FOLDER", "OFF", "library", "made_for", "why_none"]

FOLDER: Final = Path(__file__).parent
OFF: Final = "PRSM_NATIVE"
"""Variable of the environment; `no`: all is done in Python."""


def made_for(machine: str) -> Path:
    """Return where the library for a machine is, or would be. machine: as `uname -m` says it."""
    return FOLDER / "made" / f"prsm-{machine}.so"


def library() -> ctypes.CDLL | None:
    """Return the library for this machine; None: `why_none` says why all is done in Python."""
    return _looked_for()[0]


def why_none() -> str:
    """Return why there is no library, for people; empty: there is one."""
    return _looked_for()[1]


@cache
def _looked_for() -> tuple[ctypes.CDLL | None, str]:
    if os.environ.get(OFF) == "no":
        return None, f"{OFF}=no"
    machine = platform.machine()
    path = made_for(machine)
    if not path.exists():
        return None, f"no code was made for {machine}"
    try:
        return ctypes.CDLL(str(path)), ""
    except OSError as error:
        return None, f"{error}"

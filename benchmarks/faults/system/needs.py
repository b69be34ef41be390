"""Requirements of faults that this machine lacks, in words; empty where it has all."""

from __future__ import annotations

import os
import shutil

from benchmarks.faults.causes.clocks import faketime
from tests.postgres import server_binaries

__all__ = ["needs_faketime", "needs_ground", "needs_mounting"]


def needs_ground() -> str:
    """Return why no ground can be made here, or nothing."""
    if shutil.which("nginx", path="/usr/sbin:/usr/bin") is None:
        return "no nginx: `make test-packages ARGS=all` installs it on Debian"
    return "" if server_binaries() else "no PostgreSQL: `make dev` installs it"


def needs_mounting() -> str:
    """Return why no small disk can be made here, or nothing."""
    return "" if os.geteuid() == 0 else "only root may mount a small disk: run it as root"


def needs_faketime() -> str:
    """Return why no clock can be set here, or nothing."""
    return (
        "" if faketime() else "no libfaketime: `make test-packages ARGS=all` installs it on Debian"
    )

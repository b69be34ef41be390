"""A disk without a byte left: that of the managers' files, and that of PostgreSQL."""

from __future__ import annotations

import os
from typing import Final

from benchmarks.faults.fault import Fault, FaultError, Trial
from benchmarks.faults.system.small_disk import fill, is_small_disk

__all__ = ["FAULTS"]

LASTS_S: Final = 10.0


def _needs() -> str:
    return "" if os.geteuid() == 0 else "a separate small disk needs root (mount tmpfs)"


def _managers(trial: Trial) -> None:
    ground = trial.ground
    if not is_small_disk(ground.files):
        raise FaultError("no tmpfs could be mounted here")
    filled = fill(ground.files)
    try:
        trial.lasts(LASTS_S)
        good, refused = ground.watch.answers_since(trial.begun_s)
        trial.claim("reports were refused while there was no room", refused > 0 or good == 0)
    finally:
        filled.unlink()
    trial.gone()


def _postgres(trial: Trial) -> None:
    ground = trial.ground
    if not is_small_disk(ground.postgres.folder):
        raise FaultError("no tmpfs could be mounted here")
    filled = fill(ground.postgres.folder)
    try:
        trial.lasts(LASTS_S)
        ground.postgres.try_sql("SELECT pg_switch_wal()")
        trial.lasts(LASTS_S)
    finally:
        filled.unlink()
    trial.gone()


FAULTS: Final = [
    Fault("disk-full-files", "reports are refused, not lost", _managers, needs=_needs),
    Fault("disk-full-postgres", "nothing acknowledged is lost", _postgres, needs=_needs),
]

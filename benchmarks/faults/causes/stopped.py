"""SIGSTOP: a process that neither works nor is gone, and does not know how long it slept."""

from __future__ import annotations

import signal
from typing import Final

from benchmarks.faults.fault import Fault, Trial
from benchmarks.faults.system.ground import TERM_S

__all__ = ["FAULTS"]


def _leader(trial: Trial) -> None:
    """Twice its term; what it was in the middle of when it slept must not be written."""
    ground = trial.ground
    for _ in range(trial.times):
        leader = ground.leader()
        epoch = ground.sample().epoch
        leader.send(signal.SIGSTOP)
        try:
            trial.lasts(2 * TERM_S)
            trial.claim("another leads meanwhile", ground.sample().epoch == epoch + 1)
        finally:
            leader.send(signal.SIGCONT)
        trial.gone()
        trial.recovered()
        trial.claim("the sleeper does not lead", not leader.leads(ground.sample().leader))


def _postgres(trial: Trial) -> None:
    ground = trial.ground
    ground.postgres.send(signal.SIGSTOP)
    try:
        trial.lasts(2.5 * TERM_S)
    finally:
        ground.postgres.send(signal.SIGCONT)
    trial.gone()


FAULTS: Final = [
    Fault("leader-stopped", "twice its term; it leads no more, writes nothing", _leader, 2, 1),
    Fault("postgres-stopped", "managers and agents continue with it", _postgres),
]

"""The way between a manager and PostgreSQL is cut, or its connections are."""

from __future__ import annotations

from typing import Final

from benchmarks.faults.fault import Fault, Trial
from benchmarks.faults.system.ground import TERM_S

__all__ = ["FAULTS"]


def _leader(trial: Trial) -> None:
    """A partition: nothing comes through, and no error either. Each could believe that it leads."""
    ground = trial.ground
    for _ in range(trial.times):
        leader = ground.leader()
        epoch = ground.sample().epoch
        leader.line.hold()
        try:
            trial.lasts(2 * TERM_S)
            trial.claim("the other leads meanwhile", ground.sample().epoch == epoch + 1)
        finally:
            leader.line.mend()
        trial.gone()
        trial.recovered()
        trial.claim("the partitioned one does not lead", not leader.leads(ground.sample().leader))


def _refused(trial: Trial) -> None:
    """The way is refused to both for a while."""
    ground = trial.ground
    for one in ground.replicas:
        one.line.cut()
    trial.lasts(TERM_S)
    for one in ground.replicas:
        one.line.mend()
    trial.gone()


def _terminated(trial: Trial) -> None:
    """All connections of the managers are ended by the server, each second for a while."""
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name <> 'suite'"
    for _ in range(trial.times):
        trial.ground.postgres.run_sql(f"{end} AND backend_type = 'client backend'")
        trial.gone()
        trial.recovered()
        trial.lasts(0.5)


FAULTS: Final = [
    Fault("leader-partitioned", "the other leads; after it there is one leader", _leader, 2, 1),
    Fault("postgres-refuses", "managers wait for it", _refused),
    Fault("connections-ended", "new ones are made", _terminated, 10, 2),
]

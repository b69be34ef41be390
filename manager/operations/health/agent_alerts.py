"""Alerts of an agent that calls: it fetches nothing, or its machine has a problem.

Pure rules over what is known of all agents. Invariant: each is an alert only when it has lasted
for hours (`Alert.after_s`); before that only the console shows it. The last known state of an
agent holds until it reports another, also while it is late or lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from manager.assignment.liveness import LivenessState
from manager.db.fleet.agent_summaries import MachineRow
from manager.operations.alert import Alert
from manager.operations.fleet.agent_summaries import AgentGlance
from shared.messages import Message

__all__ = ["ABSENT", "DISK_BYTES", "REPORTS_WAITING", "SKEW_MS", "agent_alerts"]

SKEW_MS: Final = 60_000
"""Clocks that differ by more make logs of agents hard to read; permits do not depend on them."""
DISK_BYTES: Final = 1_000_000_000
REPORTS_WAITING: Final = 20
ABSENT: Final = (LivenessState.NEW, LivenessState.LEFT, LivenessState.RETIRED)


def agent_alerts(
    views: Iterable[AgentGlance], machines: Sequence[MachineRow], after_s: float
) -> Iterator[Alert]:
    """Yield what is wrong with agents; those that retired, left or never called have nothing.

    machines: of agents that have too little of something, or too much. after_s: how long it must
    last; 0: never.
    """
    by_id = {row.id: row for row in machines}
    for view in views:
        name, how = view.row.name, view.liveness
        if not after_s or how.state in ABSENT:
            continue
        if how.state is LivenessState.IDLE and how.attention:
            idle = Message("alerts.agent_idle", name=name, why=how.reason)
            yield Alert(f"idle:{name}", idle, after_s)
        if view.row.id in by_id:
            yield from _of_machine(name, by_id[view.row.id], after_s)


def _of_machine(name: str, row: MachineRow, after_s: float) -> Iterator[Alert]:
    if row.disk_free_bytes is not None and row.disk_free_bytes < DISK_BYTES:
        low = Message("alerts.agent_disk", name=name, free_bytes=row.disk_free_bytes)
        yield Alert(f"agent-disk:{name}", low, after_s)
    if abs(row.skew_ms) > SKEW_MS:
        skew = Message("alerts.agent_clock", name=name, skew_ms=abs(row.skew_ms))
        yield Alert(f"agent-clock:{name}", skew, after_s)
    if row.reports_waiting >= REPORTS_WAITING:
        waiting = Message("alerts.agent_reports", name=name, reports=row.reports_waiting)
        yield Alert(f"reports:{name}", waiting, after_s)

"""Troubles of an agent that calls: it fetches nothing, or its machine has a problem.

Pure rules over what is known of all agents. Invariant: each is a trouble only when it has lasted
for hours (`Trouble.after_s`); before that it is for the console's eyes. What was last known of an
agent holds until it says otherwise, also while it is late or lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from manager.assignment import LivenessState
from manager.assignment.words import spoken_duration
from manager.db.fleet.agent_summaries import MachineRow
from manager.operations.fleet.agent_summaries import AgentGlance
from manager.operations.trouble import Trouble
from shared.plurals import with_plurals

__all__ = ["ABSENT", "DISK_BYTES", "REPORTS_WAITING", "SKEW_MS", "agent_troubles"]

SKEW_MS: Final = 60_000
"""Clocks that differ by more make logs of agents hard to read; permits do not depend on them."""
DISK_BYTES: Final = 1_000_000_000
REPORTS_WAITING: Final = 20
ABSENT: Final = (LivenessState.NEW, LivenessState.LEFT, LivenessState.RETIRED)


def agent_troubles(
    views: Iterable[AgentGlance], machines: Sequence[MachineRow], after_s: float
) -> Iterator[Trouble]:
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
            text = f"agent {name} is idle: {how.reason}; its log, or `prs status` there, says why"
            yield Trouble(f"idle:{name}", text, after_s)
        if view.row.id in by_id:
            yield from _of_machine(name, by_id[view.row.id], after_s)


def _of_machine(name: str, row: MachineRow, after_s: float) -> Iterator[Trouble]:
    if row.disk_free_bytes is not None and row.disk_free_bytes < DISK_BYTES:
        text = (
            f"agent {name} has {row.disk_free_bytes / 1e9:,.1f} GB of disk left; its site must "
            "free some, or it fetches nothing any more"
        )
        yield Trouble(f"agent-disk:{name}", text, after_s)
    if abs(row.skew_ms) > SKEW_MS:
        text = (
            f"agent {name} has a clock that differs by {spoken_duration(abs(row.skew_ms))}; its "
            "site must set it, and keep it right by NTP"
        )
        yield Trouble(f"agent-clock:{name}", text, after_s)
    if row.reports_waiting >= REPORTS_WAITING:
        text = with_plurals(
            f"agent {name} holds {row.reports_waiting:,} reports that did not arrive; its log, or "
            "`prs status` there, says why"
        )
        yield Trouble(f"reports:{name}", text, after_s)

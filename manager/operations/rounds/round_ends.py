"""Ends of rounds: when a share of the units is finished, and how wrong a prediction was."""

from __future__ import annotations

import math
from collections.abc import Mapping

from manager.db.rounds import round_units
from manager.db.rounds.rounds import RoundRow
from manager.operations.planning.work_left import WorkLeft
from manager.operations.rounds.agent_timing import AgentTiming

__all__ = ["end_error", "share_end"]


def share_end(
    left: Mapping[int, WorkLeft],
    timings: Mapping[int, AgentTiming],
    share: float,
    finished: int,
    from_ms: int = 0,
) -> int | None:
    """Return when so large a share of the units is finished, ms since 1970; None: not known.

    left, timings: by agent. finished: units that are so already. from_ms: nothing begins earlier.
    """
    units = sum(one.units for one in left.values())
    needed = math.ceil(share * (finished + units) - 1e-9) - finished
    ends: list[tuple[int, int]] = []
    for agent, timing in timings.items():
        before = 0
        for work_ms, done in left[agent].steps if agent in left else ():
            end_ms = timing.end_of(work_ms, from_ms)
            if end_ms is None:
                break
            ends.append((end_ms, done - before))
            before = done
    for end_ms, count in sorted(ends):
        needed -= count
        if needed <= 0:
            return end_ms
    return None


def end_error(row: RoundRow, end_ms: int, states: Mapping[str, int]) -> float | None:
    """Return how wrong the predicted end of a round was: 0.25 is 25% longer than predicted.

    states: how many of its units are in each. None where it was not predicted, or a moment or a
    person ended it.
    """
    if row.eta_ms is None or row.eta_made_ms is None:
        return None
    finished = sum(states.get(state, 0) for state in round_units.OVER)
    if row.carried_ms is not None and (
        row.until_share is None
        or finished < row.until_share * (finished + states.get("carried", 0))
    ):
        return None
    predicted_ms = row.eta_ms - row.eta_made_ms
    return (end_ms - row.eta_made_ms) / predicted_ms - 1 if predicted_ms > 0 else None

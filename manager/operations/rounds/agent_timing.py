"""Timing of agents for forecasts: their next call or open hour, and when work would end."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

import numpy as np

from manager.assignment.liveness import LivenessState
from manager.balancing.forecast.work_duration import Availability, Capacity
from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.operations.fleet.takeover import IDLE, liveness_of
from manager.operations.ownership.agent_capacity import MOST_MS, capacity_of
from manager.operations.policy import Policy
from shared.frozen import frozen

__all__ = ["AgentTiming", "ForecastReason", "timings_of"]


class ForecastReason(StrEnum):
    """The reason for which an agent's part of a round is not over."""

    WORKING = "working"
    """It works."""
    ASLEEP = "asleep"
    """It calls again at `until_ms`, as it said."""
    CLOSED = "closed"
    """Its hours begin at `until_ms`."""
    LATE = "late"
    """It did not call as it promised; others take its work at `until_ms`."""
    LOST = "lost"
    """It is away or gone; others take its work."""
    PAUSED = "paused"
    """A person paused it, or it is draining."""


_OF_STATE: Final = {
    LivenessState.ASLEEP: ForecastReason.ASLEEP,
    LivenessState.LATE: ForecastReason.LATE,
    LivenessState.LOST: ForecastReason.LOST,
    LivenessState.LEFT: ForecastReason.LOST,
    LivenessState.RETIRED: ForecastReason.LOST,
    LivenessState.PAUSED: ForecastReason.PAUSED,
    LivenessState.DRAINING: ForecastReason.PAUSED,
}


@frozen
class AgentTiming:
    """until_ms: see `ForecastReason`. acts_ms: when it can take new work.

    has_permit: it may be given rights now.
    """

    name: str
    reason: ForecastReason
    until_ms: int | None
    acts_ms: int
    capacity: Capacity
    is_plain: bool
    has_permit: bool

    def end_of(self, work_ms: float, from_ms: int = 0) -> int | None:
        """Return when it has done so much work, begun at a moment at the earliest; None: never."""
        if self.reason is ForecastReason.PAUSED:
            return None
        begin_ms = max(self.acts_ms, from_ms)
        took_ms = float(Availability(self.capacity, begin_ms).end_of(np.array([work_ms]))[0])
        return begin_ms + round(took_ms) if took_ms <= MOST_MS else None


def timings_of(
    tx: Transaction, agent_ids: Collection[int], policy: Policy, now_ms: int
) -> dict[int, AgentTiming]:
    """Return the timing of some agents."""
    rows = agents.by_ids(tx, agent_ids)
    return {number: _timing(row, policy, now_ms) for number, row in rows.items()}


def _timing(row: AgentRow, policy: Policy, now_ms: int) -> AgentTiming:
    how, capacity = liveness_of(row, IDLE, now_ms, policy), capacity_of(row)
    reason, until_ms = _OF_STATE.get(how.state, ForecastReason.WORKING), how.until_ms
    if reason is ForecastReason.WORKING:
        now = datetime.fromtimestamp(now_ms / 1000, UTC)
        change = None if capacity.hours.is_open(now) else capacity.hours.next_change(now)
        until_ms = None if change is None else round(change.timestamp() * 1000)
        reason = ForecastReason.WORKING if change is None else ForecastReason.CLOSED
    sleeps = reason is ForecastReason.ASLEEP and until_ms is not None
    return AgentTiming(
        name=row.name,
        reason=reason,
        until_ms=until_ms,
        acts_ms=max(now_ms, until_ms or 0) if sleeps else now_ms,
        capacity=capacity,
        is_plain=row.is_plain,
        has_permit=row.permit_until_ms > now_ms,
    )

"""Capacity of agents for balancing, and the clock time of a plan.

An agent that said nothing (a plain one, an older version) has the capacity of the defaults. A time
zone that this machine does not know counts as UTC.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import UTC, date, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from manager.balancing.forecast.crawl_work import Work
from manager.balancing.forecast.work_duration import DEFAULT_CAPACITY, Capacity
from manager.db.fleet.agents import AgentRow
from shared.day_hours import DAY_NAMES
from shared.frozen import frozen
from shared.windows import Window, Windows
from shared.wire import sync
from shared.wire.sync_json import read_message

__all__ = ["AgentWork", "agent_works", "capacity_of"]

MOST_MS: Final = 36_500 * 86_400_000.0
"""A century: what takes longer is never over."""


@frozen
class AgentWork:
    """Work of an owner. work_ms: while its hours are open. elapsed_ms: by the clock.

    elapsed_ms None: it would never end. fits: its disk takes what it would collect.
    """

    work_ms: float
    elapsed_ms: float | None
    volume_kb: float
    fits: bool


def agent_works(
    work: Work, costs: npt.NDArray[np.floating], owner: npt.NDArray[np.intp]
) -> list[AgentWork]:
    """Return the work of each agent. costs: (agents, units) as scaled. owner: (units,)."""
    found = []
    hours = work.availability()
    for number, work_ms in enumerate(work.work_ms(costs, owner).tolist()):
        volume_kb = float(work.volume_kb[owner == number].sum())
        end_ms = float(hours[number].end_of(np.array([work_ms]))[0])
        room_kb = work.capacities[number].room_kb
        found.append(
            AgentWork(
                work_ms / work.capacities[number].calm,
                end_ms if end_ms <= MOST_MS else None,
                volume_kb,
                room_kb is None or volume_kb <= room_kb,
            )
        )
    return found


def capacity_of(agent: AgentRow) -> Capacity:
    """Return what an agent may do, as it said itself."""
    try:
        said = read_message(sync.Capacity, agent.capacity)
    except ValidationError:
        return DEFAULT_CAPACITY
    free = agent.disk_free_bytes
    return Capacity(
        connections=said.parallel_hosts,
        interval_ms=said.interval_s * 1000,
        burst=said.burst,
        fast_interval_ms=said.fast_interval_s * 1000,
        fast_bytes_per_ms=said.fast_bytes_per_ms,
        delay_factor=said.delay_factor,
        bytes_per_s=said.bytes_per_s,
        calm=said.calm,
        room_kb=None if free is None else max(0, free - said.reserve_bytes) / 1000,
        hours=Windows(
            _zone(said.zone), _open(said.weekday), _open(said.weekend), *_days(said.days)
        ),
    )


def _open(hours: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    # An hour that ends where it begins is none.
    return tuple((first, end) for first, end in hours if first != end and first < 24 * 60)


def _days(
    said: Sequence[sync.DayHours],
) -> tuple[dict[int, Sequence[Window]], dict[date, Sequence[Window]]]:
    """Return hours by day of the week and by date; what is neither was said by a newer agent."""
    days: dict[int, Sequence[Window]] = {}
    dates: dict[date, Sequence[Window]] = {}
    for one in said:
        if one.day in DAY_NAMES:
            days[DAY_NAMES.index(one.day)] = _open(one.hours)
            continue
        with contextlib.suppress(ValueError):
            dates[date.fromisoformat(one.day)] = _open(one.hours)
    return days, dates


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return UTC

"""The hosts that hold a round, each with its agent and the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.ownership import pins
from manager.db.rounds import round_holders, round_units, rounds
from manager.db.rounds.round_holders import HolderRow
from manager.errors import NotFoundError
from manager.operations.ownership.log_arrival import has_reported, heard_since
from manager.operations.policy import Policy
from manager.operations.rounds.agent_timing import ForecastReason, timings_of
from shared.frozen import frozen

__all__ = ["HOLDERS_MOST", "HolderReason", "RoundHolder", "RoundHolders", "holders_of"]

HOLDERS_MOST: Final = 1000
"""As many are shown at most, of however many there are."""


class HolderReason(StrEnum):
    """The reason for which a round waits."""

    FETCHING = "fetching"
    """The agent has the unit and has not finished it."""
    RESTING = "resting"
    """The host asked for a rest, to `until_ms`; it is shared, so its agents told the manager."""
    WAITING = "waiting"
    """The unit waits until its agent may have it: its list is full, or another one still has it."""
    PROBING = "probing"
    """The distance is to be measured: by the agent, or by several, who are not named."""
    LOG_AWAITED = "log_awaited"
    """The agent measured it, or finished its units, and its log has not come."""
    UNPLACED = "unplaced"
    """The unit has no owner yet, and waits for the next look."""
    UNRESOLVED = "unresolved"
    """The host was found a moment ago, and its name is being looked up."""
    PLAN = "plan"
    """All is measured; the plan is being made, or no agent takes part."""
    ASLEEP = ForecastReason.ASLEEP.value
    """Its agent calls again at `until_ms`, as it said."""
    CLOSED = ForecastReason.CLOSED.value
    """The hours of its agent begin at `until_ms`."""
    LATE = ForecastReason.LATE.value
    """Its agent did not call as it promised; others take the unit at `until_ms`."""
    LOST = ForecastReason.LOST.value
    """Its agent is away or gone; others take the unit."""
    PAUSED = ForecastReason.PAUSED.value
    """A person paused its agent, or it is draining."""


_OF_AGENT: Final = (
    HolderReason.FETCHING,
    HolderReason.WAITING,
    HolderReason.PROBING,
    HolderReason.LOG_AWAITED,
)
"""Reasons that end only when the agent works."""


@frozen
class RoundHolder:
    """One thing that a round waits for. unit: a host, or a directory of one; empty: none.

    agent: empty: none. since_ms: since when its agent has it. until_ms: see `HolderReason`. why: of
    a host that rests, what it told.
    """

    reason: HolderReason
    unit: str
    agent: str
    since_ms: int | None
    until_ms: int | None
    why: str


@frozen
class RoundHolders:
    """The hosts that a round waits for. total: their number; holders: some, longest held first."""

    total: int
    holders: list[RoundHolder]


def holders_of(
    db: Database, number: int, policy: Policy, now_ms: int, limit: int = 20
) -> RoundHolders:
    """Return what a round waits for; nothing where it is over. Raises NotFoundError."""
    limit = max(1, min(limit, HOLDERS_MOST))
    with db.read() as tx:
        row = rounds.by_number(tx, number)
        if row is None:
            raise NotFoundError("rounds.unknown", number=number, see="rounds")
        if row.state == "probing":
            found = _of_probing(tx, number, limit)
        elif row.state == "crawling":
            found = _of_crawling(tx, number, policy, now_ms, limit)
        else:
            return RoundHolders(0, [])
        return replace(found, holders=_with_agents(tx, found.holders, policy, now_ms))


def _with_agents(
    tx: Transaction, holders: Sequence[RoundHolder], policy: Policy, now_ms: int
) -> list[RoundHolder]:
    """Return holders with the reason of their agent, where that is what keeps a unit."""
    named = {one.agent for one in holders if one.reason in _OF_AGENT}
    ids = [number for number, name in agents.names(tx).items() if name in named]
    timings = {one.name: one for one in timings_of(tx, ids, policy, now_ms).values()}
    found = []
    for one in holders:
        timing = timings.get(one.agent) if one.reason in _OF_AGENT else None
        if timing is not None and timing.reason is not ForecastReason.WORKING:
            reason = HolderReason(timing.reason.value)
            found.append(replace(one, reason=reason, until_ms=timing.until_ms))
        else:
            found.append(one)
    return found


def _of_probing(tx: Transaction, number: int, limit: int) -> RoundHolders:
    total, found = round_holders.open_probes(tx, number, limit)
    holders = [
        _holder(HolderReason.LOG_AWAITED if one.state == "finished" else HolderReason.PROBING, one)
        for one in found
    ]
    if not holders:
        holders, total = [RoundHolder(HolderReason.PLAN, "", "", None, None, "")], 1
    return RoundHolders(total, holders)


def _of_crawling(
    tx: Transaction, number: int, policy: Policy, now_ms: int, limit: int
) -> RoundHolders:
    grace_ms = round(policy.log_timeout_s * 1000)
    total, found = round_holders.open_units(tx, number, limit)
    holders = [_holder(_of_unit(one, now_ms), one) for one in found]
    blocked = pins.blocked_groups(agents.active(tx))
    for reason, (more, rows) in (
        (HolderReason.UNPLACED, round_holders.unplaced(tx, blocked, limit)),
        (HolderReason.UNRESOLVED, round_holders.unresolved(tx, now_ms - grace_ms, limit)),
    ):
        total += more
        holders += [
            _holder(HolderReason.PROBING if one.state == "probing" else reason, one) for one in rows
        ]
    if not total:
        holders = list(_logs_awaited(tx, number, grace_ms, now_ms))
        total = len(holders)
    return RoundHolders(total, holders[:limit])


def _logs_awaited(
    tx: Transaction, number: int, grace_ms: int, now_ms: int
) -> Iterator[RoundHolder]:
    names = agents.names(tx)
    for agent, last_ms in round_units.finishers(tx, number).items():
        if not has_reported(tx, agent, heard_since(last_ms, grace_ms, now_ms)):
            name = names.get(agent, "")
            yield RoundHolder(HolderReason.LOG_AWAITED, "", name, last_ms, None, "")


def _of_unit(row: HolderRow, now_ms: int) -> HolderReason:
    if row.until_ms is not None and row.until_ms > now_ms:
        return HolderReason.RESTING
    return HolderReason.FETCHING if row.state == "granted" else HolderReason.WAITING


def _holder(reason: HolderReason, row: HolderRow) -> RoundHolder:
    rests = reason is HolderReason.RESTING
    until_ms, why = (row.until_ms, row.why) if rests else (None, "")
    return RoundHolder(
        reason=reason,
        unit=row.unit,
        agent=row.agent,
        since_ms=row.since_ms,
        until_ms=until_ms,
        why=why,
    )

"""Forecast of a round: when it ends, which agents it waits for, why and until when.

Probes end when their agents have called, have had the time that probes take, or are given up.
Crawls end by the predictor that plans go by, from what is left now; what an agent leaves that is
late or lost counts as work of others. A deadline, a moment or a share
of the units, ends a round in any case. The prediction that a round is judged by is stored when it
starts and again when its crawl begins (`estimate_rounds`); it includes the wait for the last logs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from manager.assignment.liveness import HELD_STATES
from manager.balancing.arrays import FloatArray
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.rounds import round_units, round_work, rounds
from manager.db.rounds.round_work import OpenProbes
from manager.db.rounds.rounds import RoundRow
from manager.errors import NotFoundError
from manager.message_fields import message_fields
from manager.operations.ownership.agent_capacity import capacity_of
from manager.operations.ownership.grants import may_receive, probe_room
from manager.operations.ownership.reassignment import members
from manager.operations.planning.probe_orders import expected_probes
from manager.operations.planning.work_left import WorkLeft, probe_ms, units_left
from manager.operations.policy import Policy
from manager.operations.rounds.agent_timing import AgentTiming, ForecastReason, timings_of
from manager.operations.rounds.round_ends import share_end
from manager.operations.rounds.takeover_forecast import takeover_waits, work_after_takeovers
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "FORECAST_MOST",
    "AgentForecast",
    "ForecastReason",
    "RoundForecast",
    "estimate_rounds",
    "forecast_of_round",
    "forecast_of_start",
]

FORECAST_MOST: Final = 1000
"""As many agents are shown at most."""
OWNED_SHARE: Final = 0.5
"""Of the units must have an owner, else a crawl that has no plan yet is not predicted."""
FAR_MS: Final = 900_000
"""A person is warned of agents that act later than that."""


@frozen
class AgentForecast:
    """An agent that a round waits for. work: its probes or units that are left.

    until_ms: see `ForecastReason`; None: not known, or it works. end_ms: when its part is predicted
    to end; None: not known, or never.
    """

    agent: str
    reason: ForecastReason
    work: int
    until_ms: int | None
    end_ms: int | None


@message_fields
@frozen
class RoundForecast:
    """probing_end_ms: None: nothing is to be probed. end_ms: as predicted now; None: not known yet.

    expected_ms: as predicted at the start, or when the crawl began. late_ms: by how much that is
    over. agents: those whose parts end last come first; total: how many there are.
    """

    probing_end_ms: int | None
    end_ms: int | None
    expected_ms: int | None
    late_ms: int
    total: int
    agents: list[AgentForecast]
    warnings: tuple[Message, ...] = ()


def forecast_of_round(
    db: Database, number: int, policy: Policy, now_ms: int, limit: int = 20
) -> RoundForecast:
    """Return the forecast of a round; of one that has ended, only its expected end.

    How much is left may be a cached figure. Raises NotFoundError.
    """
    with db.read() as tx:
        row = rounds.by_number(tx, number)
    if row is None:
        raise NotFoundError("rounds.unknown", number=number, see="rounds")
    if row.state not in ("probing", "crawling"):
        return RoundForecast(None, None, row.eta_ms, 0, 0, [])
    found = _forecast(db, row, policy, now_ms, _left_cached(db, row, policy, now_ms))
    warnings = found.warnings
    if row.eta_ms is not None and now_ms > row.eta_ms:
        late = Message("rounds.late_by", eta_ms=row.eta_ms, late_ms=now_ms - row.eta_ms)
        found, warnings = replace(found, late_ms=now_ms - row.eta_ms), (late, *warnings)
    agents_shown = found.agents[: max(1, min(limit, FORECAST_MOST))]
    return replace(found, agents=agents_shown, warnings=warnings)


def forecast_of_start(
    db: Database, policy: Policy, now_ms: int, *, probe: bool = True, limit: int = 20
) -> RoundForecast:
    """Return the forecast of a round that would start now; nothing is written.

    probe: as of `start_round`.
    """
    with db.read() as tx:
        taking = [row.id for row in members(tx)]
        timings = timings_of(tx, taking, policy, now_ms)
    counts: dict[int, int] = {}
    if probe and taking:
        counts = db.figure(
            "probes expected", lambda tx: expected_probes(tx, taking, now_ms, policy)
        )
    orders = [
        OpenProbes(agent, count, 0, 0, None, None, now_ms)
        for agent, count in sorted(counts.items())
        if count
    ]
    probing = _last_first(_of_probes(orders, timings, policy, now_ms))
    probing_ms = _latest(probing, now_ms)
    left = db.figure("work owned", lambda tx: _left_of_owned(tx, policy, now_ms))
    return RoundForecast(
        probing_end_ms=probing_ms if probing else None,
        end_ms=_end_of_unplanned(left, timings, probing_ms, policy),
        expected_ms=None,
        late_ms=0,
        total=len(probing),
        agents=probing[: max(1, min(limit, FORECAST_MOST))],
        warnings=tuple(_warnings(probing, probing_ms, now_ms)),
    )


def estimate_rounds(db: Database, now_ms: int, policy: Policy) -> int:
    """Store the predicted ends of open rounds that have none yet; return how many."""
    with db.read() as tx:
        due = [row for row in rounds.open_rounds(tx) if row.eta_made_ms is None]
    stored = 0
    for row in due:
        with db.read() as tx:
            left = _left_of(tx, row, policy, now_ms)
        end_ms = _forecast(db, row, policy, now_ms, left).end_ms
        with db.write() as tx:
            again = rounds.by_number(tx, row.number)
            if again is not None and (again.state, again.eta_made_ms) == (row.state, None):
                rounds.update(tx, row.number, eta_ms=end_ms, eta_made_ms=now_ms)
                stored += 1
    return stored


def _left_cached(db: Database, row: RoundRow, policy: Policy, now_ms: int) -> dict[int, WorkLeft]:
    key = ("work left", row.number, row.state)
    return db.figure(key, lambda tx: _left_of(tx, row, policy, now_ms))


def _left_of(tx: Transaction, row: RoundRow, policy: Policy, now_ms: int) -> dict[int, WorkLeft]:
    if row.state == "probing":
        return _left_of_owned(tx, policy, now_ms)
    left = units_left(round_work.crawls_left(tx, row.number))
    return _after_takeovers(tx, left, policy, now_ms)


def _left_of_owned(tx: Transaction, policy: Policy, now_ms: int) -> dict[int, WorkLeft]:
    """Return the work of present owners; nothing where too few units have one."""
    owned = units_left(round_work.owned_units(tx))
    if owned.shape[1] < OWNED_SHARE * round_work.count_units(tx):
        return {}
    return _after_takeovers(tx, owned, policy, now_ms)


def _after_takeovers(
    tx: Transaction, units: FloatArray, policy: Policy, now_ms: int
) -> dict[int, WorkLeft]:
    capacities = {row.id: capacity_of(row) for row in agents.all_agents(tx)}
    waits = takeover_waits(timings_of(tx, capacities, policy, now_ms), now_ms)
    takers = [
        row.id
        for row in agents.all_agents(tx)
        if may_receive(row, now_ms) and row.id not in waits and row.state not in HELD_STATES
    ]
    return work_after_takeovers(units, capacities, waits, takers)


def _forecast(
    db: Database, row: RoundRow, policy: Policy, now_ms: int, left: Mapping[int, WorkLeft]
) -> RoundForecast:
    probing_ms: int | None = None
    warnings: tuple[Message, ...] = ()
    with db.read() as tx:
        orders = round_work.open_probes(tx, row.number) if row.state == "probing" else []
        timings = timings_of(tx, {*left, *(one.agent_id for one in orders)}, policy, now_ms)
        states = round_units.counts_of(tx, row.number) if row.until_share is not None else {}
    finished = sum(states.get(state, 0) for state in round_units.OVER)
    if row.state == "probing":
        found = _last_first(_of_probes(orders, timings, policy, now_ms))
        probing_ms = _latest(found, now_ms)
        end_ms = _end_of_unplanned(left, timings, probing_ms, policy)
        warnings = tuple(_warnings(found, probing_ms, now_ms))
    else:
        found = _last_first(_of_crawls(left, timings))
        end_ms = _with_logs(_latest(found, now_ms), policy)
    if row.until_share is not None and (row.state == "crawling" or probing_ms is not None):
        share_ms = share_end(left, timings, row.until_share, finished, probing_ms or 0)
        end_ms = _with_logs(share_ms, policy) or end_ms
    if row.until_ms is not None:
        end_ms = row.until_ms if end_ms is None else min(end_ms, row.until_ms)
    return RoundForecast(probing_ms, end_ms, row.eta_ms, 0, len(found), found, warnings)


def _of_crawls(
    left: Mapping[int, WorkLeft], timings: Mapping[int, AgentTiming], from_ms: int = 0
) -> Iterator[AgentForecast]:
    for agent, timing in timings.items():
        if agent in left and left[agent].units:
            ends = [
                timings[by].end_of(left[by].work_ms, from_ms) if by in timings else None
                for by in left[agent].taken_by or (agent,)
            ]
            known = [end for end in ends if end is not None]
            end_ms = max(known) if len(known) == len(ends) else None
            yield _forecast_of(timing, left[agent].units, end_ms)


def _of_probes(
    orders: Iterable[OpenProbes], timings: Mapping[int, AgentTiming], policy: Policy, now_ms: int
) -> Iterator[AgentForecast]:
    for one in orders:
        timing = timings.get(one.agent_id)
        if timing is not None:
            end_ms = _end_of_probes(one, timing, policy, now_ms)
            count = one.waiting + one.granted + one.finished
            yield _forecast_of(timing, count, end_ms)


def _forecast_of(timing: AgentTiming, work: int, end_ms: int | None) -> AgentForecast:
    return AgentForecast(
        agent=timing.name,
        reason=timing.reason,
        work=work,
        until_ms=timing.until_ms,
        end_ms=end_ms,
    )


def _end_of_probes(one: OpenProbes, timing: AgentTiming, policy: Policy, now_ms: int) -> int | None:
    """Return when the probes of an agent are done, or given up."""
    each_ms = probe_ms(timing.capacity, policy.probe_pages)
    turns = math.ceil((one.waiting + one.granted) / probe_room(timing.capacity, policy))
    under_way_ms = now_ms - one.first_ms if one.first_ms is not None else 0
    work_ms = max(turns * each_ms - max(0, under_way_ms), 0.0)
    end_ms = timing.end_of(work_ms + 1000 * policy.sync_interval_s)
    if not one.waiting and not one.granted:
        given_up_ms = now_ms + round(1000 * policy.log_timeout_s)
    else:
        timeout_s = policy.plain_probe_timeout_s if timing.is_plain else policy.probe_timeout_s
        begun_ms = one.last_ms or 0
        if one.waiting:
            # Without a permit it is given none, so the age of the orders counts.
            begun_ms = max(begun_ms, now_ms if timing.has_permit else one.ordered_ms)
        given_up_ms = begun_ms + round(1000 * timeout_s)
    return max(now_ms, given_up_ms if end_ms is None else min(end_ms, given_up_ms))


def _end_of_unplanned(
    left: Mapping[int, WorkLeft],
    timings: Mapping[int, AgentTiming],
    probing_ms: int | None,
    policy: Policy,
) -> int | None:
    """Return the end of a crawl by the present owners after the probes; None: it is not known."""
    found = list(_of_crawls(left, timings, probing_ms or 0))
    if probing_ms is None or not found:
        return None
    return _with_logs(_latest(found, probing_ms), policy)


def _last_first(found: Iterable[AgentForecast]) -> list[AgentForecast]:
    return sorted(found, key=lambda one: (one.end_ms is not None, -(one.end_ms or 0), one.agent))


def _latest(found: Iterable[AgentForecast], now_ms: int) -> int | None:
    """Return when the last part ends; None: one of them has no end."""
    latest = now_ms
    for one in found:
        if one.end_ms is None:
            return None
        latest = max(latest, one.end_ms)
    return latest


def _with_logs(end_ms: int | None, policy: Policy) -> int | None:
    return None if end_ms is None else end_ms + round(1000 * policy.log_timeout_s)


def _warnings(
    found: Iterable[AgentForecast], probing_ms: int | None, now_ms: int
) -> Iterator[Message]:
    """Yield what a person should know of probes that wait for agents."""
    far = [one for one in found if one.until_ms is not None and one.until_ms > now_ms + FAR_MS]
    for code, reasons in (
        ("rounds.probing_waits", (ForecastReason.ASLEEP, ForecastReason.CLOSED)),
        ("rounds.probing_waits_for_late", (ForecastReason.LATE,)),
    ):
        agents_of = [one for one in far if one.reason in reasons]
        if agents_of and probing_ms is not None:
            yield Message(code, agents=len(agents_of), end_ms=probing_ms)

"""Verdicts on agents, sick or lying: by control hosts, their claims, and pages fetched again.

Invariant: a person is notified once when an agent becomes suspect and once when it is sound again;
in between its row names all evidence, and since when. A control host that half of the agents do not
reach is sick itself: it is reported and replaced, and counts against no agent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.logs import reports
from manager.db.measurement import control_hosts, measurements, predictions
from manager.db.planning import plan_inputs
from manager.db.rounds import tick_clock
from manager.distance.control_hosts import ControlProbe, find_deviations, unreliable_hosts
from manager.distance.distance_bounds import excess_nearness
from manager.distance.measured_distance import ms_per_kbyte
from manager.operations.actor import CLOCK, note
from manager.operations.measurement.claim_review import review_agents
from manager.operations.measurement.claims import open_period, reason_of
from manager.operations.measurement.distance_model import load_model
from manager.operations.measurement.refetch_results import refetch_tally
from manager.operations.policy import Policy
from shared.frozen import frozen
from shared.messages import Message
from shared.ratios import times_message

__all__ = ["watch_agents"]


@frozen
class _Verdict:
    reason: Message
    since_ms: int


def watch_agents(db: Database, now_ms: int, policy: Policy, *, everybody: bool = False) -> int:
    """Judge the agents again where reports came; return the number of changed verdicts.

    everybody: review the claims of all agents, as before a plan; else of those that reported, and
    of those that are doubted.
    """
    with db.read() as tx:
        newest = predictions.newest_report(tx)
        watched = tick_clock.watched_report(tx)
        if newest == watched and not everybody:
            return 0
    with db.write() as tx:
        senders = set(reports.senders_since(tx, watched or 0))
        _review(tx, senders, policy, now_ms, everybody=everybody)
        rows = {row.id: row for row in agents.all_agents(tx) if row.takes_part}
        probes = _control_probes(tx, rows, now_ms, policy)
        _retire_unreliable_controls(tx, probes, now_ms)
        verdicts = _verdicts(tx, rows, probes, now_ms, policy)
        changed = sum(_tell(tx, row, verdicts.get(row.id), now_ms) for row in rows.values())
        tick_clock.set_watched_report(tx, newest)
    return changed


def _review(
    tx: Transaction, senders: set[int], policy: Policy, now_ms: int, *, everybody: bool
) -> None:
    if everybody:
        found = agents.all_agents(tx)
    else:
        doubted = [row for row in agents.doubted(tx) if open_period(row) is not None]
        found = [*agents.by_ids(tx, senders - {row.id for row in doubted}).values(), *doubted]
    rows = sorted((row for row in found if row.takes_part), key=lambda row: row.id)
    if review_agents(tx, rows, policy, now_ms):
        # Claims doubted now no longer count as evidence about the others.
        again = [row.id for row in rows]
        review_agents(tx, agents.by_ids(tx, again).values(), policy, now_ms)


def _control_probes(
    tx: Transaction, rows: dict[int, AgentRow], now_ms: int, policy: Policy
) -> list[ControlProbe]:
    """Return what agents measured of control hosts lately: sickness is of now."""
    since_ms = now_ms - 2 * round(policy.max_control_probe_age_s * 1000)
    return [
        ControlProbe(row.agent_id, row.unit_id, ms_per_kbyte(row.ms, row.bytes), row.measured_ms)
        for row in measurements.distances_of_units(tx, control_hosts.all_controls(tx))
        if row.agent_id in rows and row.measured_ms >= since_ms
    ]


def _retire_unreliable_controls(tx: Transaction, probes: list[ControlProbe], now_ms: int) -> None:
    sick = unreliable_hosts(probes)
    keys = control_hosts.drop(tx, sick)
    for unit, key in keys.items():
        silent, tried = sick[unit]
        reason = Message("measurement.sick_control_host", silent=silent, agents=tried)
        note(tx, now_ms, CLOCK, "host.find-failing", key, alert=True, reason=reason)


def _verdicts(
    tx: Transaction,
    rows: dict[int, AgentRow],
    probes: list[ControlProbe],
    now_ms: int,
    policy: Policy,
) -> dict[int, _Verdict]:
    number = {row.name: row.id for row in rows.values()}
    neighbours: dict[int, list[int]] = defaultdict(list)
    for first, second in plan_inputs.last_tree(tx):
        if first in number and second in number:
            neighbours[number[first]].append(number[second])
            neighbours[number[second]].append(number[first])
    found: dict[int, list[_Verdict]] = defaultdict(list)
    for odd in find_deviations(probes, neighbours, policy.control_factor):
        found[odd.agent].append(_Verdict(odd.reason, odd.since_ms))
    for row in rows.values():
        period = open_period(row)
        if period is not None and period.has_held:
            found[row.id].append(_Verdict(reason_of(period), now_ms))
        tally = refetch_tally(row)
        if tally.is_suspect:
            found[row.id].append(_Verdict(tally.reason, now_ms))
    ids = list(rows)
    learned = load_model(tx, ids)
    if learned is not None:
        near = excess_nearness(learned.model, learned.known, policy.distance_outlier_factor)
        for agent, times in zip(ids, near.tolist(), strict=True):
            if times:
                reason = Message("measurement.too_near", times=times_message(times))
                found[agent].append(_Verdict(reason, now_ms))
    return {
        agent: _Verdict(_joined(each), min(one.since_ms for one in each))
        for agent, each in found.items()
    }


def _joined(verdicts: Sequence[_Verdict]) -> Message:
    if len(verdicts) == 1:
        return verdicts[0].reason
    return Message("measurement.doubts", doubts=[one.reason for one in verdicts])


def _tell(tx: Transaction, row: AgentRow, verdict: _Verdict | None, now_ms: int) -> bool:
    if verdict is None:
        if row.suspect_since_ms is None:
            return False
        agents.update(tx, row.id, suspect_since_ms=None, suspect_reason="")
        note(tx, now_ms, CLOCK, "agent.clear-suspicion", row.name, was=row.suspect_reason)
        return True
    began = row.suspect_since_ms is None
    if began or row.suspect_reason != verdict.reason:
        since_ms = verdict.since_ms if began else row.suspect_since_ms
        agents.update(tx, row.id, suspect_since_ms=since_ms, suspect_reason=verdict.reason)
    if began:
        note(
            tx,
            now_ms,
            CLOCK,
            "agent.suspect",
            row.name,
            alert=True,
            reason=verdict.reason,
            since_ms=verdict.since_ms,
        )
    return began

"""Alert rules: derive the present alerts from system figures, expiries and limits.

Invariant: an agent that fetches nothing, or whose machine has a problem, is an alert only when it
has lasted for hours (`Alert.after_s`); before that only the console shows it. Its last known state
holds until it reports another, also while it is late or lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from manager.assignment.liveness import LivenessState
from manager.db.engine import Database, Transaction
from manager.db.fleet import agent_summaries
from manager.db.fleet.agent_summaries import MachineRow
from manager.db.health import system_figures
from manager.db.releases import releases
from manager.db.releases.releases import AgentReleaseRow
from manager.db.rounds import rounds
from manager.operations.alert import Alert
from manager.operations.fleet.agent_summaries import AgentOverview
from manager.operations.fleet.agents import AgentView
from manager.operations.health.few_hosts import FewHosts, alert_of, few_of_agents, few_of_manager
from manager.operations.health.round_counts import unit_counts
from manager.operations.health.system_figures import SystemFigures
from manager.operations.hosts.name_lookups import resolutions
from manager.settings import AlertSettings
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "ABSENT",
    "DISK_BYTES",
    "REPORTS_WAITING",
    "SKEW_MS",
    "Expiry",
    "agent_alerts",
    "alerts_of",
    "few_hosts",
    "present_alerts",
]

SKEW_MS: Final = 60_000
"""Clocks that differ by more make logs of agents hard to read; permits do not depend on them."""
DISK_BYTES: Final = 1_000_000_000
REPORTS_WAITING: Final = 20
ABSENT: Final = (LivenessState.NEW, LivenessState.LEFT, LivenessState.RETIRED)

DAY_MS: Final = 86_400_000
LATE_MS: Final = 600_000
"""A round that is late by less is no alert."""

UNSIGNED_DAYS: Final = 2


@frozen
class Expiry:
    """An expiry. name: in its key. until_ms: None: unknown. problem: a further one of it."""

    name: str
    what: Message
    until_ms: int | None
    problem: Message | None = None


def alerts_of(
    seen: SystemFigures,
    moves: int,
    expiries: Sequence[Expiry],
    updates: Mapping[int, AgentReleaseRow],
    limits: AlertSettings,
    now_ms: int,
) -> list[Alert]:
    """Return what is wrong now.

    moves: assignments closed in a day. expiries: what ends when. updates: by number of agent.
    """
    found = [*_of_agents(seen, updates, limits, now_ms), *_of_managers(seen, limits)]
    if limits.moves_per_day and moves > limits.moves_per_day:
        churn = Message("alerts.churn", moves=moves, limit=limits.moves_per_day)
        found.append(Alert("churn:", churn))
    free_bytes = seen.disk_free_bytes
    if free_bytes is None:
        unreadable = Message("alerts.disk_unreadable", problem=seen.disk_problem)
        found.append(Alert("disk:", unreadable))
    elif limits.disk_bytes and free_bytes < limits.disk_bytes:
        low = Message("alerts.disk_low", free_bytes=free_bytes, least_bytes=limits.disk_bytes)
        found.append(Alert("disk:", low))
    found.extend(_of_habits(seen, limits, now_ms))
    if limits.expiry_days:
        found.extend(_of_expiries(expiries, limits.expiry_days, now_ms))
    return found


def _of_habits(seen: SystemFigures, limits: AlertSettings, now_ms: int) -> Iterable[Alert]:
    """Yield alerts of tasks not done for long, or never since the first agent joined."""
    joined = (view.row.joined_ms for view in seen.views if view.row.retired_ms is None)
    joined_days = (now_ms - min(joined, default=now_ms)) / DAY_MS
    days = (now_ms - seen.last_round_ms) / DAY_MS
    most = limits.round_days
    if most and seen.last_round_ms and days > most:
        yield Alert("round:", Message("alerts.round_late", days=round(days)))
    elif most and not seen.last_round_ms and seen.has_hosts and joined_days > most:
        yield Alert("round:", Message("alerts.round_never", days=round(joined_days)))
    days = (now_ms - seen.last_backup_ms) / DAY_MS
    if limits.backup_days and seen.last_backup_ms and days > limits.backup_days:
        yield Alert("backup:", Message("alerts.backup_late", days=round(days)))
    elif limits.backup_days and not seen.last_backup_ms and joined_days > limits.backup_days:
        yield Alert("backup:", Message("alerts.backup_never", days=round(joined_days)))


def _of_expiries(expiries: Iterable[Expiry], expiry_days: float, now_ms: int) -> Iterable[Alert]:
    for one in expiries:
        found = []
        days = expiry_days if one.until_ms is None else (one.until_ms - now_ms) / DAY_MS
        if 0 < days < expiry_days:
            found.append(Message("alerts.expires", what=one.what, days=round(days)))
        elif days <= 0:
            found.append(Message("alerts.expired", what=one.what, days=round(-days)))
        if one.problem is not None:
            found.append(one.problem)
        if found:
            message = found[0] if len(found) == 1 else Message("alerts.expiry", parts=found)
            yield Alert(f"expiry:{one.name}", message)


def _of_agents(
    seen: SystemFigures, updates: Mapping[int, AgentReleaseRow], limits: AlertSettings, now_ms: int
) -> Iterable[Alert]:
    for view in seen.views:
        row, how = view.row, view.liveness
        if how.state in (LivenessState.RETIRED, LivenessState.LEFT):
            continue
        late_ms = now_ms - (row.promised_ms or now_ms)
        late = how.state is LivenessState.LATE and late_ms > limits.agent_late_s * 1000
        if limits.agent_late_s and (late or how.state is LivenessState.LOST):
            message = Message(
                "alerts.agent_state", name=row.name, state=how.state.value, why=how.reason
            )
            yield Alert(f"agent:{row.name}", message)
        update = updates.get(row.id)
        if update is not None and update.outcome not in ("", "updated"):
            yield Alert(f"update:{row.name}", _not_updated(row.name, update))


def _not_updated(name: str, update: AgentReleaseRow) -> Message:
    code, with_detail = "alerts.agent_went_back", "alerts.agent_went_back_detail"
    given = {"name": name, "version": update.version, "step": update.step}
    if update.outcome != "went-back":
        code, with_detail = "alerts.agent_not_updated", "alerts.agent_not_updated_detail"
        given["outcome"] = update.outcome
    if update.detail:
        return Message(with_detail, detail=update.detail[:200], **given)
    return Message(code, **given)


def _of_managers(seen: SystemFigures, limits: AlertSettings) -> Iterable[Alert]:
    for one in seen.managers:
        if limits.manager_silence_s and one.silent_ms > limits.manager_silence_s * 1000:
            message = Message(
                "alerts.manager_silent", place=one.place, silent_ms=one.silent_ms, name=one.name
            )
            yield Alert(f"manager:{one.place}", message)


def present_alerts(
    db: Database,
    seen: SystemFigures,
    expiries: Sequence[Expiry],
    limits: AlertSettings,
    now_ms: int,
) -> list[Alert]:
    """Return the present alerts, sent or not, however long they last."""
    since_ms = now_ms - DAY_MS
    moves = db.figure("moves of a day", lambda tx: system_figures.moved_since(tx, since_ms))
    with db.read() as tx:
        updates = _updates(tx)
        ends = [*expiries, *_signed(tx, now_ms)]
        machines = agent_summaries.machines_with_alerts(
            tx, skew_ms=SKEW_MS, disk_bytes=DISK_BYTES, reports=REPORTS_WAITING
        )
    found = alerts_of(seen, moves, ends, updates, limits, now_ms)
    found += _late_rounds(db, limits.round_late_share, now_ms)
    found += agent_alerts(seen.views, machines, limits.agent_problem_s)
    return [*found, *map(alert_of, few_hosts(db, seen.views, limits.min_reachable_share))]


def _late_rounds(db: Database, share: float, now_ms: int) -> Iterator[Alert]:
    """Yield the open rounds that are late by their own prediction. share: of its length."""
    if not share:
        return
    with db.read() as tx:
        opened = rounds.open_rounds(tx)
    for row in opened:
        if row.eta_ms is None or row.eta_made_ms is None:
            continue
        late_ms = now_ms - row.eta_ms
        if late_ms > max(LATE_MS, share * (row.eta_ms - row.eta_made_ms)):
            behind = Message(
                "alerts.round_behind", number=row.number, late_ms=late_ms, eta_ms=row.eta_ms
            )
            yield Alert(f"round:{row.number}", behind)


def few_hosts(
    db: Database, views: Iterable[AgentOverview | AgentView], share: float
) -> list[FewHosts]:
    """Return where few hosts are resolved or reached: by the manager, and by agents at work."""
    if not share:
        return []
    names = resolutions(db)
    failures = {one.failure: one.hosts for one in names.failures}
    own = few_of_manager(names.resolved, failures, share, names.waiting)
    present = {one.row.name for one in views if one.liveness.state not in ABSENT}
    of_agents = few_of_agents((one for one in unit_counts(db) if one.agent in present), share)
    return [*([] if own is None else [own]), *of_agents]


def _updates(tx: Transaction) -> Mapping[int, AgentReleaseRow]:
    """Return the results of updates, without those to releases that are no longer offered."""
    over = {
        row.version
        for row in releases.all_releases(tx)
        if row.halted_ms is not None or row.revoked_ms is not None
    }
    told = releases.agent_releases_of_all(tx)
    return {agent: row for agent, row in told.items() if row.version not in over}


def _signed(tx: Transaction, now_ms: int) -> Iterable[Expiry]:
    """Yield when signed files of releases end: those that only a person renews, long before others.

    The clock renews those of the signing process each day; they are reported after two days without
    renewal, and a day before they end.
    """
    for role in ("root", "targets", "snapshot", "timestamp"):
        row = releases.newest(tx, role)
        if row is not None:
            by_itself = role in ("snapshot", "timestamp")
            problem = None
            if role == "timestamp" and now_ms - row.added_ms > UNSIGNED_DAYS * DAY_MS:
                days = round((now_ms - row.added_ms) / DAY_MS)
                problem = Message("alerts.release_not_renewed", role=role, days=days)
            if problem is not None or not by_itself or row.expires_ms - now_ms < DAY_MS:
                what = Message("alerts.release_role", role=role)
                yield Expiry(f"release {role}", what, row.expires_ms, problem)


def agent_alerts(
    views: Iterable[AgentOverview], machines: Sequence[MachineRow], after_s: float
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

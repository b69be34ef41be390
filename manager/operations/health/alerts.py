"""Alerts: present troubles and the messages that were sent of them.

Pure rules first: `troubles` derives the troubles from the known state; `due` returns those of which
a message is due. Invariant: a trouble has one key as long as it lasts, is sent when it begins,
again after `resend_s`, and once when it is over; one that must last for a while is recorded when it
is seen, and sent when it has lasted; in a maintenance window nothing is sent, and troubles that
still last when it ends are sent then. A silenced trouble is sent only when it is over. A message is
recorded before it is sent: a leader that ends in between sends it never, not twice, and the
reminder makes up for it. Events, which happen once and are never over, are in `alert_events`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from manager.assignment import LivenessState
from manager.db.engine import Database, Transaction
from manager.db.fleet import agent_summaries
from manager.db.health import alerts, system_figures
from manager.db.health.alerts import ToldRow
from manager.db.releases import releases
from manager.db.releases.releases import AgentReleaseRow
from manager.operations.actor import CLOCK, note
from manager.operations.fleet.agent_summaries import AgentGlance
from manager.operations.fleet.agents import AgentView
from manager.operations.health.agent_troubles import (
    ABSENT,
    DISK_BYTES,
    REPORTS_WAITING,
    SKEW_MS,
    agent_troubles,
)
from manager.operations.health.alert_events import begin_news, current_key, news, note_news
from manager.operations.health.few_hosts import FewHosts, few_of_agents, few_of_manager, trouble_of
from manager.operations.health.round_counts import unit_counts
from manager.operations.health.system_figures import SystemFigures
from manager.operations.hosts.name_lookups import resolutions
from manager.operations.trouble import Trouble
from shared.frozen import frozen
from shared.messages import Message, row_of_message

__all__ = [
    "Expiry",
    "Limits",
    "Notification",
    "due",
    "few_hosts",
    "look",
    "note_notification",
    "notifications",
    "troubles",
]

DAY_MS: Final = 86_400_000
TEXT: Final = 500
LARGEST: Final = 8_000
SENT: Final = {
    "begun": "alert.send",
    "still": "alert.repeat",
    "over": "alert.end",
    "event": "alert.send-event",
}
"""Actions in the audit by the state of a notification."""
"""Characters of a message in a row; a longer one, which parameters from outside make, is stored as
text."""
UNSIGNED_DAYS: Final = 2
AWAY: Final = (LivenessState.ASLEEP, LivenessState.LATE, LivenessState.LOST)
HELD_MS: Final = 3_600_000
"""So long an agent must have been idle for that to be remembered while it is away."""


@frozen
class Limits:
    """From when on something is a trouble; 0: never."""

    late_s: float
    manager_s: float
    moves_a_day: int
    disk_bytes: int
    expiry_days: float
    round_days: float
    backup_days: float
    agent_s: float = 0.0
    hosts_share: float = 0.0


@frozen
class Expiry:
    """An expiry. name: in its key. until_ms: None: unknown. problem: a further one of it."""

    name: str
    what: Message
    until_ms: int | None
    problem: Message | None = None


@frozen
class Notification:
    """A message to recipients. state: begun, still, over; event: it happened, and is never over."""

    key: str
    state: str
    message: Message
    since_ms: int


def troubles(
    seen: SystemFigures,
    moves: int,
    expiries: Sequence[Expiry],
    updates: Mapping[int, AgentReleaseRow],
    limits: Limits,
    now_ms: int,
) -> list[Trouble]:
    """Return what is wrong now.

    moves: assignments closed in a day. expiries: what ends when. updates: by number of agent.
    """
    found = [*_of_agents(seen, updates, limits, now_ms), *_of_managers(seen, limits)]
    if limits.moves_a_day and moves > limits.moves_a_day:
        churn = Message("alerts.churn", moves=moves, limit=limits.moves_a_day)
        found.append(Trouble("churn:", churn))
    free_bytes = seen.disk_free_bytes
    if free_bytes is None:
        unreadable = Message("alerts.disk_unreadable", problem=seen.disk_problem)
        found.append(Trouble("disk:", unreadable))
    elif limits.disk_bytes and free_bytes < limits.disk_bytes:
        low = Message("alerts.disk_low", free_bytes=free_bytes, least_bytes=limits.disk_bytes)
        found.append(Trouble("disk:", low))
    found.extend(_of_habits(seen, limits, now_ms))
    if limits.expiry_days:
        found.extend(_of_expiries(expiries, limits.expiry_days, now_ms))
    return found


def _of_habits(seen: SystemFigures, limits: Limits, now_ms: int) -> Iterable[Trouble]:
    """Yield troubles of tasks not done for long, or never since the first agent joined."""
    joined = (view.row.joined_ms for view in seen.views if view.row.retired_ms is None)
    joined_days = (now_ms - min(joined, default=now_ms)) / DAY_MS
    days = (now_ms - seen.last_round_ms) / DAY_MS
    most = limits.round_days
    if most and seen.last_round_ms and days > most:
        yield Trouble("round:", Message("alerts.round_late", days=round(days)))
    elif most and not seen.last_round_ms and seen.has_hosts and joined_days > most:
        yield Trouble("round:", Message("alerts.round_never", days=round(joined_days)))
    days = (now_ms - seen.last_backup_ms) / DAY_MS
    if limits.backup_days and seen.last_backup_ms and days > limits.backup_days:
        yield Trouble("backup:", Message("alerts.backup_late", days=round(days)))
    elif limits.backup_days and not seen.last_backup_ms and joined_days > limits.backup_days:
        yield Trouble("backup:", Message("alerts.backup_never", days=round(joined_days)))


def _of_expiries(expiries: Iterable[Expiry], expiry_days: float, now_ms: int) -> Iterable[Trouble]:
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
            yield Trouble(f"expiry:{one.name}", message)


def _of_agents(
    seen: SystemFigures, updates: Mapping[int, AgentReleaseRow], limits: Limits, now_ms: int
) -> Iterable[Trouble]:
    for view in seen.views:
        row, how = view.row, view.liveness
        if how.state in (LivenessState.RETIRED, LivenessState.LEFT):
            continue
        late_ms = now_ms - (row.promised_ms or now_ms)
        late = how.state is LivenessState.LATE and late_ms > limits.late_s * 1000
        if limits.late_s and (late or how.state is LivenessState.LOST):
            message = Message(
                "alerts.agent_state", name=row.name, state=how.state.value, why=how.reason
            )
            yield Trouble(f"agent:{row.name}", message)
        update = updates.get(row.id)
        if update is not None and update.outcome not in ("", "updated"):
            yield Trouble(f"update:{row.name}", _not_updated(row.name, update))


def _not_updated(name: str, update: AgentReleaseRow) -> Message:
    step, detail = update.step, update.detail[:200]
    if update.outcome == "went-back":
        given = {"name": name, "version": update.version, "step": step}
        if detail:
            return Message("alerts.agent_went_back_detail", detail=detail, **given)
        return Message("alerts.agent_went_back", **given)
    given = {"name": name, "version": update.version, "outcome": update.outcome, "step": step}
    if detail:
        return Message("alerts.agent_not_updated_detail", detail=detail, **given)
    return Message("alerts.agent_not_updated", **given)


def _of_managers(seen: SystemFigures, limits: Limits) -> Iterable[Trouble]:
    for one in seen.managers:
        if limits.manager_s and one.silent_ms > limits.manager_s * 1000:
            message = Message(
                "alerts.manager_silent", place=one.place, silent_ms=one.silent_ms, name=one.name
            )
            yield Trouble(f"manager:{one.place}", message)


def due(
    found: Sequence[Trouble],
    told: Sequence[ToldRow],
    resend_s: float,
    now_ms: int,
    *,
    quiet: bool,
    silenced: Collection[str] = (),
) -> list[Notification]:
    """Return the messages due now. told: the troubles that last. quiet: a window is open.

    silenced: keys of troubles that a person silenced; such a one is sent when it is over.
    """
    if quiet:
        return []
    before = {row.key: row for row in told}
    made = []
    for trouble in found:
        row = before.pop(trouble.key, None)
        if trouble.key in silenced:
            continue
        if row is None or not row.told_ms:
            since_ms = now_ms if row is None else row.since_ms
            if now_ms - since_ms >= trouble.after_s * 1000:
                made.append(Notification(trouble.key, "begun", trouble.message, since_ms))
        elif resend_s and now_ms - row.told_ms >= resend_s * 1000:
            made.append(Notification(trouble.key, "still", trouble.message, row.since_ms))
    made += [
        Notification(row.key, "over", row.message, row.since_ms)
        for row in before.values()
        if row.told_ms
    ]
    return made


def notifications(
    db: Database,
    seen: SystemFigures,
    expiries: Sequence[Expiry],
    limits: Limits,
    resend_s: float,
    now_ms: int,
    more: Sequence[Trouble] = (),
) -> list[Notification]:
    """Return what is to be told now, and write down that it was.

    more: troubles that only the caller knows of.
    """
    found = [*look(db, seen, expiries, limits, now_ms), *more]
    with db.read() as tx:
        told = [row for row in alerts.all_told(tx) if not _is_held(row, seen, now_ms)]
        open_keys = {
            current_key(row.key) for row in alerts.silences_since(tx, now_ms) if row.holds(now_ms)
        }
        quiet = "" in open_keys
        happened = news(tx, open_keys, now_ms, quiet=quiet)
    made = due(found, told, resend_s, now_ms, quiet=quiet, silenced=open_keys)
    made += [Notification(one.key, "event", one.message, one.since_ms) for one in happened.events]
    seen_now = {one.key for one in found}
    known = {row.key for row in told}
    begins = [one for one in found if one.after_s and one.key not in known]
    ends = [row.key for row in told if not row.told_ms and row.key not in seen_now]
    is_first = not happened.upto and not happened.is_marked
    if not (made or happened.upto or begins or ends or is_first):
        return []
    with db.write() as tx:
        note_news(tx, happened)
        if is_first:
            begin_news(tx, now_ms)
        for one in begins:
            alerts.note_told(tx, one.key, _bounded(one.message), now_ms, 0)
        for key in ends:
            alerts.forget(tx, key)
        for each in made:
            if each.state == "over":
                alerts.forget(tx, each.key)
            elif each.state != "event":
                alerts.note_told(tx, each.key, _bounded(each.message), each.since_ms, now_ms)
            _note(tx, each, now_ms)
    return made


def _is_held(row: ToldRow, seen: SystemFigures, now_ms: int) -> bool:
    """Return whether a trouble neither lasts nor is over: its agent, idle before, is away now.

    A trouble that has only begun is over then: an agent that sleeps was not idle for hours.
    """
    kind, _, name = row.key.partition(":")
    if kind != "idle" or (not row.told_ms and now_ms - row.since_ms < HELD_MS):
        return False
    return any(one.row.name == name and one.liveness.state in AWAY for one in seen.views)


def note_notification(db: Database, made: Notification, now_ms: int) -> None:
    """Write down that recipients were notified at a moment. Raises BusyError."""
    with db.write() as tx:
        _note(tx, made, now_ms)


def _note(tx: Transaction, made: Notification, now_ms: int) -> None:
    note(tx, now_ms, CLOCK, SENT[made.state], made.key, text=_bounded(made.message))


def _bounded(message: Message) -> Message:
    if len(row_of_message(message)) <= LARGEST:
        return message
    return Message.of_text(str(message)[:TEXT])


def look(
    db: Database,
    seen: SystemFigures,
    expiries: Sequence[Expiry],
    limits: Limits,
    now_ms: int,
) -> list[Trouble]:
    """Return the present troubles, sent or not, however long they last."""
    moves = db.kept.get("moves of a day", lambda: _moves(db, now_ms))
    with db.read() as tx:
        updates = _updates(tx)
        ends = [*expiries, *_signed(tx, now_ms)]
        machines = agent_summaries.odd_machines(
            tx, skew_ms=SKEW_MS, disk_bytes=DISK_BYTES, reports=REPORTS_WAITING
        )
    found = troubles(seen, moves, ends, updates, limits, now_ms)
    found += agent_troubles(seen.views, machines, limits.agent_s)
    return [*found, *map(trouble_of, few_hosts(db, seen.views, limits.hosts_share))]


def few_hosts(
    db: Database, views: Iterable[AgentGlance | AgentView], share: float
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


def _moves(db: Database, now_ms: int) -> int:
    """Return how many units changed hands in a day; all that ever did are looked through."""
    with db.read() as tx:
        return system_figures.moved_since(tx, now_ms - DAY_MS)


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

"""Alerts: present troubles and who was told of them.

Pure rules first: `troubles` names what is wrong from what is known; `due` says of which a message
is due. Invariant: a trouble has one key as long as it lasts, is told when it begins, again after
`resend_s`, and once when it is over; one that must last for a while is written down when it is
seen, and told when it has lasted; in a maintenance window nothing is told, and what is still so
when it ends is told then. A trouble that is silenced is told only when it is over. What was told is
written down before it is sent: a leader that ends in between sends it never, not twice, and the
reminder makes up for it. What happened once, and is never over, is `alert_events`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from manager.assignment import LivenessState
from manager.assignment.words import spoken_duration
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
from manager.operations.health.alert_events import begin_news, news, note_news
from manager.operations.health.few_hosts import FewHosts, few_of_agents, few_of_manager, trouble_of
from manager.operations.health.round_counts import unit_counts
from manager.operations.health.system_figures import SystemFigures
from manager.operations.hosts.name_lookups import resolutions
from manager.operations.trouble import Trouble
from shared.frozen import frozen
from shared.plurals import with_plurals

__all__ = [
    "Expiry",
    "Limits",
    "Message",
    "due",
    "few_hosts",
    "look",
    "messages",
    "note_message",
    "troubles",
]

DAY_MS: Final = 86_400_000
TEXT: Final = 500
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
    """An expiry. until_ms: None: unknown. wrong: a further problem to tell of it."""

    name: str
    until_ms: int | None
    wrong: str = ""


@frozen
class Message:
    """A message. state: begun, still, over; event: it happened, and is never over."""

    key: str
    state: str
    text: str
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
        text = with_plurals(
            f"{moves:,} units changed hands in a day, more than {limits.moves_a_day:,}"
        )
        found.append(Trouble("churn:", text))
    if seen.disk_free_bytes is None:
        text = f"the folder of the centre's files cannot be looked at: {seen.disk_problem}"
        found.append(Trouble("disk:", f"{text}; mount it again, or see database.files"))
    elif limits.disk_bytes and seen.disk_free_bytes < limits.disk_bytes:
        text = (
            f"the centre has {seen.disk_free_bytes / 1e9:,.1f} GB of disk left; alerts.disk_bytes "
            f"wants {limits.disk_bytes / 1e9:,.1f} GB; free some, or add room: below "
            "limits.reserve_bytes no uploads are taken"
        )
        found.append(Trouble("disk:", text))
    found.extend(_of_habits(seen, limits, now_ms))
    if limits.expiry_days:
        found.extend(_of_expiries(expiries, limits.expiry_days, now_ms))
    return found


def _of_habits(seen: SystemFigures, limits: Limits, now_ms: int) -> Iterable[Trouble]:
    """Yield what was not done for long, or never since the first agent joined."""
    joined = (view.row.joined_ms for view in seen.views if view.row.retired_ms is None)
    joined_days = (now_ms - min(joined, default=now_ms)) / DAY_MS
    days = (now_ms - seen.last_round_ms) / DAY_MS
    most = limits.round_days
    if most and seen.last_round_ms and days > most:
        yield Trouble("round:", f"no round has begun for {days:.0f} days")
    elif most and not seen.last_round_ms and seen.has_hosts and joined_days > most:
        text = with_plurals(
            f"no round has ever begun, and the first agent joined {joined_days:.0f} days ago; "
            "begin one by `prsm rounds start`, or set alerts.round_days = 0"
        )
        yield Trouble("round:", text)
    days = (now_ms - seen.last_backup_ms) / DAY_MS
    if limits.backup_days and seen.last_backup_ms and days > limits.backup_days:
        text = with_plurals(
            f"no backup was made for {days:.0f} days; the log of prsm-backup.service, or of cron, "
            "says why"
        )
        yield Trouble("backup:", text)
    elif limits.backup_days and not seen.last_backup_ms and joined_days > limits.backup_days:
        text = with_plurals(
            f"no backup was ever made, and the first agent joined {joined_days:.0f} days ago; run "
            "`prsm backup` by cron, or set alerts.backup_days = 0 where backups are made otherwise"
        )
        yield Trouble("backup:", text)


def _of_expiries(expiries: Iterable[Expiry], expiry_days: float, now_ms: int) -> Iterable[Trouble]:
    for one in expiries:
        said = []
        if one.until_ms is not None:
            days = (one.until_ms - now_ms) / DAY_MS
            if days < expiry_days:
                said.append(
                    with_plurals(f"ends in {days:.0f} days")
                    if days > 0
                    else with_plurals(f"ended {-days:.0f} days ago")
                )
        if one.wrong:
            said.append(one.wrong)
        if said:
            yield Trouble(f"expiry:{one.name}", f"{one.name} {'; '.join(said)}")


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
            text = f"agent {row.name} is {how.state.value}: {how.reason}"
            yield Trouble(f"agent:{row.name}", text)
        update = updates.get(row.id)
        if update is not None and update.outcome not in ("", "updated"):
            yield Trouble(f"update:{row.name}", _not_updated(row.name, update))


def _not_updated(name: str, update: AgentReleaseRow) -> str:
    what = f"agent {name} did not update to {update.version}"
    if update.outcome == "went-back":
        said = f"{what} and went back at the step {update.step}"
    else:
        said = f"{what}: {update.outcome} at the step {update.step}"
    return f"{said}: {update.detail[:200]}" if update.detail else said


def _of_managers(seen: SystemFigures, limits: Limits) -> Iterable[Trouble]:
    for one in seen.managers:
        if limits.manager_s and one.silent_ms > limits.manager_s * 1000:
            text = (
                f"manager {one.place} has given no sign of life for "
                f"{spoken_duration(one.silent_ms)}; if it was taken away for good, run "
                f"`prsm managers forget {one.name}`"
            )
            yield Trouble(f"manager:{one.place}", text)


def due(
    found: Sequence[Trouble],
    told: Sequence[ToldRow],
    resend_s: float,
    now_ms: int,
    *,
    quiet: bool,
    silenced: Collection[str] = (),
) -> list[Message]:
    """Return what is to be told now. told: the troubles that go on. quiet: a window is open.

    silenced: keys of troubles that somebody knows of; such a one is told when it is over.
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
                made.append(Message(trouble.key, "begun", trouble.text, since_ms))
        elif resend_s and now_ms - row.told_ms >= resend_s * 1000:
            made.append(Message(trouble.key, "still", trouble.text, row.since_ms))
    made += [
        Message(row.key, "over", row.text, row.since_ms) for row in before.values() if row.told_ms
    ]
    return made


def messages(
    db: Database,
    seen: SystemFigures,
    expiries: Sequence[Expiry],
    limits: Limits,
    resend_s: float,
    now_ms: int,
    more: Sequence[Trouble] = (),
) -> list[Message]:
    """Return what is to be told now, and write down that it was.

    more: troubles that only the caller knows of.
    """
    found = [*look(db, seen, expiries, limits, now_ms), *more]
    with db.read() as tx:
        told = [row for row in alerts.all_told(tx) if not _is_held(row, seen, now_ms)]
        open_keys = {row.key for row in alerts.silences_since(tx, now_ms) if row.holds(now_ms)}
        quiet = "" in open_keys
        happened = news(tx, open_keys, now_ms, quiet=quiet)
    made = due(found, told, resend_s, now_ms, quiet=quiet, silenced=open_keys)
    made += [Message(one.key, "event", one.text, one.since_ms) for one in happened.events]
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
            alerts.note_told(tx, one.key, one.text[:TEXT], now_ms, 0)
        for key in ends:
            alerts.forget(tx, key)
        for message in made:
            if message.state == "over":
                alerts.forget(tx, message.key)
            elif message.state != "event":
                alerts.note_told(tx, message.key, message.text[:TEXT], message.since_ms, now_ms)
            _note(tx, message, now_ms)
    return made


def _is_held(row: ToldRow, seen: SystemFigures, now_ms: int) -> bool:
    """Return whether a trouble is neither going on nor over: its agent, idle before, is away now.

    What has only begun is over then: an agent that sleeps was not amiss for hours.
    """
    kind, _, name = row.key.partition(":")
    if kind != "idle" or (not row.told_ms and now_ms - row.since_ms < HELD_MS):
        return False
    return any(one.row.name == name and one.liveness.state in AWAY for one in seen.views)


def note_message(db: Database, message: Message, now_ms: int) -> None:
    """Write down that people were told of something at a moment. Raises BusyError."""
    with db.write() as tx:
        _note(tx, message, now_ms)


def _note(tx: Transaction, message: Message, now_ms: int) -> None:
    note(tx, now_ms, CLOCK, f"alert.{message.state}", message.key, text=message.text[:TEXT])


def look(
    db: Database,
    seen: SystemFigures,
    expiries: Sequence[Expiry],
    limits: Limits,
    now_ms: int,
) -> list[Trouble]:
    """Return what is wrong now, whether anybody is told of it or not, however long it lasts."""
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
    """Return how updates went, without those to releases that are offered to nobody any more."""
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
    """Yield when signed files of releases end: what only a person renews, long before the others.

    Those of the signing process are renewed each day by the clock; that two days passed without it
    is told, and a day before they end.
    """
    for role in ("root", "targets", "snapshot", "timestamp"):
        row = releases.newest(tx, role)
        if row is not None:
            by_itself = role in ("snapshot", "timestamp")
            wrong = ""
            if role == "timestamp" and now_ms - row.added_ms > UNSIGNED_DAYS * DAY_MS:
                days = (now_ms - row.added_ms) / DAY_MS
                wrong = with_plurals(
                    f"was not renewed for {days:.0f} days; start the signer on the machine that "
                    "has it, with the manager beside it (`prsm release signer`)"
                )
            if wrong or not by_itself or row.expires_ms - now_ms < DAY_MS:
                yield Expiry(f"release {role}", row.expires_ms, wrong)

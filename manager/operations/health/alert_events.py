"""Audit rows that are alerts, told as they come.

Unlike a trouble such an event is never over. Invariants: each is told once, by the number of the
last one that was; those of one look are one message for each kind, and looks that tell are
`HOLD_MS` apart, so a flood is a few messages with a count. One of a kind that somebody silenced is
passed over; in a maintenance window they wait for its end. What is a trouble besides is left out.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from manager.db.engine import Transaction
from manager.db.health import alerts
from manager.db.people import audit_log
from manager.db.people.audit_log import AuditRow
from shared.frozen import frozen
from shared.plurals import with_plurals

__all__ = ["HOLD_MS", "KIND", "Event", "News", "events_of_a_day", "news", "note_news"]

KIND: Final = "event:"
"""How the key of an event begins; then comes the action."""
DAY_MS: Final = 86_400_000
HOLD_MS: Final = 600_000
MOST: Final = 10_000
"""Rows looked at; more wait for the next time."""
NAMED: Final = 3
NAME: Final = 100
REASON: Final = 200

_TROUBLES: Final = ("agent.lost", "agent.update-")
"""How the actions begin that are told as troubles, until they are over."""

_MORE: Final = "`prsm audit --alerts` says more"
_SAID: Final[Mapping[str, tuple[str, str]]] = {
    "agent.clone": (
        "two machines show the key of one agent",
        "stop one of them, and let the other join again with a new token",
    ),
    "agent.token-reused": (
        "a join token was used again, with another key",
        "if the site does not know of it, make a new one, which replaces both",
    ),
    "user.guessed": (
        "many wrong passwords in a row for one user",
        "ask that person, and look for the addresses in the log",
    ),
    "agent.suspect": (
        "what an agent says does not fit to what the others say",
        "its page says more, and when it is sound again",
    ),
    "report.impossible": (
        "a log has lines that cannot be: too large, too long or too fast",
        "they are kept and count in no sum; ask the agent's site",
    ),
    "agent.compare": ("an agent's captures are otherwise than those of others", _MORE),
    "agent.discovered-too-much": (
        "an agent found more new hosts in a day than are taken",
        "look at what it finds, or raise limits.discoveries_per_day",
    ),
    "segment.refuse": ("a file of captures was refused", _MORE),
    "file.damaged": (
        "a kept file is missing or damaged",
        "`prsm archive problems` says which, and whether its agent was asked for it",
    ),
    "segment.accept": (
        "captures came of hosts that were not their agent's then",
        "they are set apart",
    ),
    "collection.failed": ("an agent could not send what was ordered", _MORE),
    "host.sick": (
        "a control host does not answer most agents",
        "another takes its place by itself",
    ),
    "host.unshared": ("a host is not shared by several agents any more", _MORE),
    "round.skip": ("a round did not begin at the time of its schedule", _MORE),
    "manager.restore": (
        "the centre was restored from a backup",
        "exclude again what was excluded since, and revoke again tokens",
    ),
    "clock.gap": ("the manager's clock was set back", "keep it right by NTP"),
    "archive.adopt": ("the files of the archive were adopted", "exclude again what was excluded"),
    "installation.contested": (
        "another manager uses the same files with another database",
        "end one of the two; meanwhile no file is moved or deleted",
    ),
    "trash.take": (
        "files that no row names were moved to the trash",
        "`prsm archive adopt` enters segments again; the rest is deleted after archive.trash_s",
    ),
    "trash.give-back": ("files that rows name were taken out of the trash", _MORE),
    "trash.empty": (
        "files were deleted from the trash",
        "`prsm archive trash` shows the rest",
    ),
}
"""Of each action what happened, and what to do."""


@frozen
class Event:
    """Events of one kind. key: `event:ACTION`. since_ms: the first. last_id: of the audit."""

    key: str
    text: str
    since_ms: int
    last_id: int


@frozen
class News:
    """Events to tell, up to a number; told_ms: when something was told last.

    upto: 0: nothing came. is_marked: it is written down from where on events are told.
    """

    events: list[Event]
    upto: int
    told_ms: int
    is_marked: bool = True


def news(tx: Transaction, silenced: Collection[str], now_ms: int, *, quiet: bool = False) -> News:
    """Return the events that nobody was told of yet, where their time has come.

    Before anything was ever told, those of the last day. quiet: a window is open, nothing is told.
    """
    mark = alerts.events_told(tx)
    if quiet:
        return News([], 0, 0, is_marked=mark is not None)
    if mark is None:
        rows = audit_log.alerts_after(tx, 0, now_ms - DAY_MS, MOST)
    elif 0 <= now_ms - mark.told_ms < HOLD_MS:
        rows = []
    else:
        rows = audit_log.alerts_after(tx, mark.upto, 0, MOST)
    told_ms = 0 if mark is None else mark.told_ms
    if not rows:
        return News([], 0, told_ms, is_marked=mark is not None)
    found = [one for one in _events(rows) if one.key not in silenced]
    return News(found, rows[-1].id, now_ms if found else told_ms)


def begin_news(tx: Transaction, now_ms: int) -> None:
    """Write down from where on events are told: those of a day before the first look.

    Else those of a first window that lasts longer than a day would be told to nobody.
    """
    alerts.note_events(tx, audit_log.last_id_before(tx, now_ms - DAY_MS), 0)


def note_news(tx: Transaction, found: News) -> None:
    """Write down that these were told."""
    if found.upto:
        alerts.note_events(tx, found.upto, found.told_ms)


def events_of_a_day(tx: Transaction, now_ms: int) -> list[Event]:
    """Return what happened within a day, told or not."""
    return _events(audit_log.alerts_after(tx, 0, now_ms - DAY_MS, MOST))


def _events(rows: Iterable[AuditRow]) -> list[Event]:
    """Return rows as one event for each action, in the order in which they began."""
    by_action: dict[str, list[AuditRow]] = {}
    for row in rows:
        if not row.action.startswith(_TROUBLES):
            by_action.setdefault(row.action, []).append(row)
    return [
        Event(f"{KIND}{action}", _text(action, of_it), of_it[0].at_ms, of_it[-1].id)
        for action, of_it in by_action.items()
    ]


def _text(action: str, rows: Sequence[AuditRow]) -> str:
    what, remedy = _SAID.get(action, (action, _MORE))
    names = list(dict.fromkeys(row.subject[:NAME] for row in rows if row.subject))
    said = [f"{what}: {', '.join(names[:NAMED])}" if names else what]
    if len(rows) > 1:
        said.append(with_plurals(f"{len(rows):,} times in all"))
    elif reason := _reason(rows[0]):
        said.append(reason[:REASON])
    return "; ".join([*said, remedy])


def _reason(row: AuditRow) -> str:
    try:
        told = json.loads(row.detail or "{}")
    except ValueError:
        return ""
    reason = told.get("reason") if isinstance(told, dict) else None
    return reason if isinstance(reason, str) else ""

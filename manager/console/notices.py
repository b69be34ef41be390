"""Notices for the administrator, ordered by severity.

Pure: it judges what operations say. Each notice has a sentence with its numbers and leads to where
something can be done.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal
from urllib.parse import unquote_plus

from manager.assignment.liveness import LivenessState
from manager.console import figures
from manager.console.language import _, ngettext
from manager.console.messages.audit_words import act, field
from manager.console.messages.sentences import actor, sentence_of, step, word
from manager.console.requests.visit import link
from manager.operations.audit_actions import current_action
from manager.operations.fleet.agents import AgentView
from manager.operations.health.alert_rules import DISK_BYTES, REPORTS_WAITING, SKEW_MS
from manager.operations.health.few_hosts import FewCode, FewHosts, key_of
from manager.operations.identity.managers import Managers
from manager.operations.ownership.pin_rules import IneffectiveRule
from manager.operations.people.audit_log import AuditRow
from manager.operations.releases.release_views import MetadataAge
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "Notice",
    "agent_notices",
    "alert_notices",
    "detail_text",
    "manager_notices",
    "notices",
    "signature_notices",
    "tick_notices",
]

Weight = Literal["bad", "warn", "info"]
_ORDER: Final = {"bad": 0, "warn": 1, "info": 2}

UPDATE: Final = "agent.update-"
LOST: Final = "agent.mark-lost"
TICK_MS: Final = 120_000
"""A tick may wait for a large plan to be written; a take-over of the lead takes seconds."""
ORDER_MS: Final = 2 * 3_600_000
"""A plain agent asks for its restart every hour."""
EPOCH_MS: Final = 1_000_000_000_000
"""Greater numbers of milliseconds are moments since 2001, no lengths of time."""


@frozen
class Notice:
    """weight: bad, warn or info. about: what it is about, a link's text. text: the sentence.

    alert: the key of the alert of the page Alerts that it tells; empty: it is none of those.
    """

    weight: Weight
    about: str
    url: str
    text: str
    alert: str = ""


def notices(
    agents: Sequence[AgentView],
    alerts: Sequence[AuditRow],
    unheld: Sequence[IneffectiveRule],
    now_ms: int,
    given_up: Collection[str] = (),
) -> list[Notice]:
    """Return everything that wants a look, worst first.

    given_up: releases that were halted or revoked; that updates to them failed is no news.
    """
    found = [notice for view in agents for notice in agent_notices(view, now_ms)]
    found += [Notice("warn", one.host, link("host", host=one.host), _unheld(one)) for one in unheld]
    found += alert_notices(alerts, given_up)
    return sorted(found, key=lambda notice: _ORDER[notice.weight])


def _unheld(one: IneffectiveRule) -> str:
    return _("%(what)s: %(why)s.", what=sentence_of(one.what), why=sentence_of(one.why))


def few_notices(few: Sequence[FewHosts]) -> list[Notice]:
    """Return where few hosts are resolved or reached: the name servers or network are at fault."""
    found = []
    for one in few:
        values = {
            "failed": figures.count(one.failed),
            "tried": figures.count(one.tried),
            "why": ", ".join(f"{figures.count(many)} {word(code)}" for code, many in one.failures),
        }
        about, url = one.agent, link("agent", name=one.agent)
        if not one.agent:
            text = _("cannot resolve %(failed)s of %(tried)s hosts: %(why)s.", **values)
            about, url = _("The manager"), f"{link('hosts', state='new')}#names"
        elif one.code is FewCode.RESOLVED:
            text = _("could not resolve %(failed)s of %(tried)s hosts: %(why)s.", **values)
        else:
            text = _("could not reach %(failed)s of %(tried)s hosts: %(why)s.", **values)
        found.append(Notice("bad", about, url, text, key_of(one)))
    return found


def tick_notices(managers: Managers, now_ms: int) -> list[Notice]:
    """Return a notice if no manager runs the periodic work: no leader, or a leader that hangs.

    During the hold after a restore the notice says that hosts are held back.
    """
    if managers.held_until_ms > now_ms:
        until = figures.moment(managers.held_until_ms)
        text = _(
            "assigns no hosts until %(time)s: it was restored from a backup, and agents may still "
            "hold older permits.",
            time=until,
        )
        return [Notice("info", _("The manager"), link("audit"), text)]
    last_ms = managers.last_tick_ms
    if last_ms is None or now_ms - last_ms <= TICK_MS:
        return []
    leading = [one.place for one in managers.managers if one.leads]
    who = _("leader: %(place)s", place=leading[0]) if leading else _("no leader")
    text = _(
        "has run no scheduled work for %(time)s (%(who)s); see `prsm managers` and its log.",
        time=figures.duration(now_ms - last_ms),
        who=who,
    )
    return [Notice("bad", _("The manager"), link("audit"), text)]


def manager_notices(managers: Managers) -> list[Notice]:
    """Return a notice for each silent manager: of two managers, no standby is left."""
    return [
        Notice(
            "bad",
            sentence_of(one.place),
            link("settings"),
            _(
                "has sent no heartbeat for %(time)s; if it was removed permanently, run `prsm "
                "managers forget`.",
                time=figures.duration(one.silent_ms),
            ),
            f"manager:{one.place}",
        )
        for one in managers.managers
        if one.is_silent
    ]


def signature_notices(ending: Sequence[MetadataAge], now_ms: int) -> list[Notice]:
    """Return which signed files of the releases are over soon: sites update no more then."""
    found = []
    for one in ending:
        left_ms = one.expires_ms - now_ms
        when = (
            _("expires in %(time)s", time=figures.duration(left_ms))
            if left_ms > 0
            else _("has expired")
        )
        by = _("the signer") if one.role in ("snapshot", "timestamp") else _("the key holders")
        text = _(
            "%(when)s; %(who)s must sign it again, or no site can update: see `prsm release`.",
            when=when,
            who=by,
        )
        weight: Weight = "warn" if left_ms > 0 else "bad"
        about = _("Release metadata %(role)s %(version)s", role=one.role, version=one.version)
        url = link("audit", action="release.")
        found.append(Notice(weight, about, url, text, f"expiry:release {one.role}"))
    return found


def agent_notices(view: AgentView, now_ms: int) -> Iterator[Notice]:
    """Yield what is wrong with one agent; one that retired or left has nothing wrong."""
    row, how = view.row, view.liveness
    if row.retired_ms is not None or how.state is LivenessState.LEFT:
        return
    url = link("agent", name=row.name)
    if how.attention:
        weight: Weight = "bad" if how.state is LivenessState.LOST else "warn"
        yield Notice(
            weight,
            row.name,
            url,
            _("is %(state)s: %(why)s.", state=word(how.state.value), why=sentence_of(how.reason)),
            f"idle:{row.name}" if how.state is LivenessState.IDLE else f"agent:{row.name}",
        )
    if row.clone_reason:
        text = _("runs twice: %(why)s.", why=sentence_of(row.clone_reason))
        yield Notice("bad", row.name, url, text)
    if row.suspect_since_ms is not None:
        since = figures.moment(row.suspect_since_ms)
        why = sentence_of(row.suspect_reason)
        text = _("is suspect since %(time)s: %(why)s.", why=why, time=since)
        yield Notice("warn", row.name, url, text)
    if how.state in (LivenessState.NEW, LivenessState.LOST):
        return
    if abs(row.skew_ms) > SKEW_MS:
        apart = figures.skew(row.skew_ms)
        text = _("has a clock skew of %(time)s.", time=apart)
        yield Notice("warn", row.name, url, text, f"agent-clock:{row.name}")
    if row.disk_free_bytes is not None and row.disk_free_bytes < DISK_BYTES:
        free = figures.amount(row.disk_free_bytes)
        text = _("has only %(size)s of free disk space.", size=free)
        yield Notice("warn", row.name, url, text, f"agent-disk:{row.name}")
    if row.reports_waiting >= REPORTS_WAITING:
        text = ngettext(
            "holds %(num)s undelivered report.",
            "holds %(num)s undelivered reports.",
            row.reports_waiting,
        )
        yield Notice("warn", row.name, url, text, f"reports:{row.name}")
    yield from _order_notices(view, now_ms, url)


def _order_notices(view: AgentView, now_ms: int, url: str) -> Iterator[Notice]:
    row = view.row
    ordered_ms = row.restart_ordered_ms
    what = "restart"
    if ordered_ms is None and row.command_id and row.command_done_ms is None:
        ordered_ms, what = row.command_ordered_ms, row.command
    if ordered_ms is not None and now_ms - ordered_ms > ORDER_MS:
        since = figures.duration(now_ms - ordered_ms)
        text = _(
            "has not done the command %(command)s, ordered %(time)s ago.",
            command=word(what),
            time=since,
        )
        yield Notice("warn", row.name, url, text)


def alert_notices(alerts: Sequence[AuditRow], given_up: Collection[str] = ()) -> list[Notice]:
    """Return what the audit marks as worth a look, the same thing once; `given_up` as above."""
    found: list[Notice] = []
    seen: set[tuple[str, str]] = set()
    for row in alerts:
        action = current_action(row.action)
        if (action, row.subject) in seen:
            continue
        seen.add((action, row.subject))
        if action.startswith(UPDATE):
            told = json.loads(row.detail)
            if told.get("version") not in given_up:
                url, alert = link("agent", name=row.subject), f"update:{row.subject}"
                found.append(Notice("warn", row.subject, url, _not_updated(told), alert))
            continue
        url = link("audit", action=action, subject=row.subject, alerts="yes")
        text = _(
            "%(action)s at %(time)s",
            action=act(action),
            time=figures.moment(row.at_ms),
        )
        said = detail_text(row.detail, translated=True)
        found.append(
            Notice(
                "warn",
                row.subject or actor(row.actor_name),
                url,
                f"{text}: {said}" if said else text,
                f"agent:{row.subject}" if action == LOST else f"event:{action}",
            )
        )
    return found


def _not_updated(told: dict[str, str]) -> str:
    said = _(
        "did not update to %(version)s: failed at step %(step)s",
        version=told.get("version", ""),
        step=step(told.get("step", "")),
    )
    why = told.get("detail", "")
    return f"{said}: {why}" if why else said


def detail_text(detail: str, *, translated: bool = False) -> str:
    """Return the detail of an audit row as `name value, name value`; other text unchanged.

    translated: in the language of the page; else as the audit has it.
    """
    if not detail:
        return ""
    try:
        fields = json.loads(detail)
    except ValueError:
        return detail
    if not isinstance(fields, dict):
        return detail
    told = []
    for name, value in fields.items():
        if value in ("", None):
            continue
        label = name.removesuffix("_ms").replace("_", " ")
        shown = _value_text(name, value, translated=translated)
        told.append(f"{field(label) if translated else label} {shown}")
    return ", ".join(told)


def _value_text(name: str, value: object, *, translated: bool) -> str:
    if isinstance(value, bool):
        text = "yes" if value else "no"
        return word(text) if translated else text
    if name.endswith("_ms") and isinstance(value, int | float):
        return figures.moment(round(value)) if value > EPOCH_MS else figures.duration(value)
    if isinstance(value, list):
        texts = [_value_text(name, one, translated=translated) for one in value]
        nothing = word("none") if translated else "none"
        return ", ".join(texts) if texts else nothing
    if isinstance(value, dict):
        message = Message.of_json(value)
        if message is not None:
            return sentence_of(message) if translated else str(message)
        parts = (
            f"{key} {_value_text(key, one, translated=translated)}" for key, one in value.items()
        )
        return f"({', '.join(parts)})"
    if isinstance(value, str):
        text = unquote_plus(value) if name == "query" else value
        return sentence_of(text) if translated else text
    return json.dumps(value)

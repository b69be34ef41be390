"""Words that the manager's rows hold (states, kinds, roles), as a reader of the page says them.

In English they are shown as they are; other languages have them from the catalogue. A word that is
not here is shown as it is: it may be an agent's own.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from manager.console.language import current, pgettext

__all__ = ["run", "step", "unit", "word"]

_RUN: Final = re.compile(
    r"(?P<weekday>\w+), (?P<day>\d+) (?P<month>\w+) (?P<year>\d+), (?P<time>[\d:]+) (?P<zone>.+)"
)


def word(text: str) -> str:
    """Return a word of a row in the language of this request."""
    return _words(current()).get(text, text)


@cache
def _words(_language: str) -> dict[str, str]:
    """Return all of them. The context tells translators what they are: `open` is no verb here."""
    return {
        # Agents
        "new": pgettext("state", "new"),
        "working": pgettext("state", "working"),
        "idle": pgettext("state", "idle"),
        "asleep": pgettext("state", "asleep"),
        "late": pgettext("state", "late"),
        "lost": pgettext("state", "lost"),
        "left": pgettext("state", "left"),
        "retired": pgettext("state", "retired"),
        "paused": pgettext("state", "paused"),
        "draining": pgettext("state", "draining"),
        "drained": pgettext("state", "drained"),
        "suspect": pgettext("state", "suspect"),
        "ordered": pgettext("state", "ordered"),
        # Hosts, units, probes, rounds, plans
        "placed": pgettext("state", "placed"),
        "probing": pgettext("state", "probing"),
        "crawling": pgettext("state", "crawling"),
        "excluded": pgettext("state", "excluded"),
        "finished": pgettext("state", "finished"),
        "cancelled": pgettext("state", "cancelled"),
        "granted": pgettext("state", "granted"),
        "waiting": pgettext("state", "waiting"),
        "failed": pgettext("state", "failed"),
        "done": pgettext("state", "done"),
        "applied": pgettext("state", "applied"),
        "preview": pgettext("state", "preview"),
        "owner": pgettext("state", "owner"),
        "predicted": pgettext("state", "predicted"),
        "outlier": pgettext("state", "outlier"),
        "weak": pgettext("state", "weak"),
        "resolved": pgettext("state", "resolved"),
        "unresolved": pgettext("state", "unresolved"),
        # Why a host has no address, or does not answer
        "no_such_name": pgettext("failure", "no such name (NXDOMAIN)"),
        "no_address": pgettext("failure", "the name has no address"),
        "not_a_name": pgettext("failure", "not a name that DNS can hold"),
        "name_timeout": pgettext("failure", "no answer from a name server in time"),
        "name_refused": pgettext("failure", "the name server refuses to answer (REFUSED)"),
        "name_server_failed": pgettext("failure", "the name server failed (SERVFAIL)"),
        "name_server_away": pgettext("failure", "no name server can be reached"),
        "name_unanswered": pgettext("failure", "no usable answer from a name server"),
        "forbidden_address": pgettext("failure", "an address that must not be crawled"),
        "unreachable": pgettext("state", "unreachable"),
        "asks_for_time": pgettext("failure", "the host asks for more time than a crawl waits"),
        "crawl": pgettext("kind", "crawl"),
        "probe": pgettext("kind", "probe"),
        # Transfers, downloads, jobs, tokens, users
        "open": pgettext("state", "open"),
        "receiving": pgettext("state", "receiving"),
        "received": pgettext("state", "received"),
        "accepted": pgettext("state", "accepted"),
        "quarantined": pgettext("state", "quarantined"),
        "refused": pgettext("state", "refused"),
        "expired": pgettext("state", "expired"),
        "going": pgettext("state", "going"),
        "cut": pgettext("state", "cut"),
        "queued": pgettext("state", "queued"),
        "running": pgettext("state", "running"),
        "complete": pgettext("state", "complete"),
        "gone": pgettext("state", "gone"),
        "revoked": pgettext("state", "revoked"),
        "enabled": pgettext("state", "enabled"),
        "disabled": pgettext("state", "disabled"),
        "alert": pgettext("state", "alert"),
        "yes": pgettext("answer", "yes"),
        "no": pgettext("answer", "no"),
        # Releases, alerts, managers, and what lists are filtered by
        "reached": pgettext("state", "reached"),
        "too-old": pgettext("state", "too old"),
        "leads": pgettext("state", "leads"),
        "good": pgettext("state", "good"),
        "soon": pgettext("state", "soon"),
        "ended": pgettext("state", "ended"),
        "offered": pgettext("state", "offered"),
        "halted": pgettext("state", "halted"),
        "updated": pgettext("state", "updated"),
        "went-back": pgettext("state", "went back"),
        "unreached": pgettext("state", "unreached"),
        "begun": pgettext("state", "begun"),
        "still": pgettext("state", "still"),
        "over": pgettext("state", "over"),
        "starting": pgettext("state", "starting"),
        "stopping": pgettext("state", "stopping"),
        "canary": pgettext("state", "canary"),
        "behind": pgettext("state", "behind"),
        "pinned": pgettext("state", "pinned"),
        "sound": pgettext("state", "sound"),
        "silent": pgettext("state", "silent"),
        "changed": pgettext("state", "changed"),
        "secret": pgettext("state", "secret"),
        "sync": pgettext("kind", "sync"),
        "plain": pgettext("kind", "plain"),
        "agent": pgettext("kind", "agent"),
        "user": pgettext("kind", "user"),
        "client": pgettext("kind", "client"),
        "clock": pgettext("kind", "clock"),
        "manager": pgettext("kind", "manager"),
        "churn": pgettext("kind", "churn"),
        "disk": pgettext("kind", "disk"),
        "round": pgettext("kind", "round"),
        "expiry": pgettext("kind", "expiry"),
        "way": pgettext("kind", "way"),
        "event": pgettext("kind", "event"),
        "agent-disk": pgettext("kind", "disk of an agent"),
        "agent-clock": pgettext("kind", "clock of an agent"),
        "agent-names": pgettext("kind", "name servers of an agent"),
        "agent-reach": pgettext("kind", "reach of an agent"),
        "names": pgettext("kind", "name servers"),
        "reports": pgettext("kind", "reports that wait"),
        "backup": pgettext("kind", "backup"),
        "job": pgettext("kind", "job that is late"),
        "full": pgettext("condition", "full"),
        "difference": pgettext("condition", "difference"),
        "since": pgettext("condition", "since"),
        "period": pgettext("condition", "period"),
        # What agents count since they started, and fields of forms
        "requests": pgettext("counter", "requests"),
        "pages": pgettext("counter", "pages"),
        "response_bytes": pgettext("counter", "response bytes"),
        "errors": pgettext("counter", "errors"),
        "denied": pgettext("counter", "denied"),
        "discovered_hosts": pgettext("counter", "discovered hosts"),
        "queue": pgettext("counter", "queue"),
        "active_hosts": pgettext("counter", "active hosts"),
        "unanswered_hosts": pgettext("counter", "unanswered hosts"),
        "reason": pgettext("field", "reason"),
        "lines": pgettext("field", "lines"),
        "host": pgettext("field", "host"),
        "name": pgettext("field", "name"),
        # Roles, methods, rings: names that commands have, too
        "viewer": pgettext("role", "viewer"),
        "operator": pgettext("role", "operator"),
        "admin": pgettext("role", "admin"),
        "default": pgettext("method", "default"),
        "prices": pgettext("method", "prices"),
        "tree": pgettext("method", "tree"),
        "exchange": pgettext("method", "exchange"),
        "lp": pgettext("method", "lp"),
        "keep": pgettext("method", "keep"),
        "random": pgettext("method", "random"),
        "none": pgettext("ring", "none"),
        "tenth": pgettext("ring", "tenth"),
        "all": pgettext("ring", "all"),
        # Who acts, what is measured, how a file comes
        "local": pgettext("kind", "local"),
        "refetch": pgettext("kind", "refetch"),
        "push": pgettext("way", "push"),
        "pull": pgettext("way", "pull"),
        # Alerts and silences, as the audit has them
        "silence": pgettext("alert", "silence"),
        "speak": pgettext("alert", "speak"),
        # Commands to agents
        "restart": pgettext("command", "restart"),
        "drain": pgettext("command", "drain"),
        "pause": pgettext("command", "pause"),
        "resume": pgettext("command", "resume"),
        "update": pgettext("command", "update"),
    }


def run(text: str) -> str:
    """Return the moment of a schedule's run, which is an English sentence, as the language says it.

    Its zone is the schedule's, not the viewer's.
    """
    found = _RUN.fullmatch(text)
    if found is None:
        return text
    days, months = _days(current()), _months(current())
    return pgettext("date", "%(weekday)s, %(day)s %(month)s %(year)s, %(time)s %(zone)s") % {
        **found.groupdict(),
        "weekday": days.get(found["weekday"], found["weekday"]),
        "month": months.get(found["month"], found["month"]),
    }


@cache
def _days(_language: str) -> dict[str, str]:
    return {
        "Monday": pgettext("weekday", "Monday"),
        "Tuesday": pgettext("weekday", "Tuesday"),
        "Wednesday": pgettext("weekday", "Wednesday"),
        "Thursday": pgettext("weekday", "Thursday"),
        "Friday": pgettext("weekday", "Friday"),
        "Saturday": pgettext("weekday", "Saturday"),
        "Sunday": pgettext("weekday", "Sunday"),
    }


@cache
def _months(_language: str) -> dict[str, str]:
    return {
        "January": pgettext("month", "January"),
        "February": pgettext("month", "February"),
        "March": pgettext("month", "March"),
        "April": pgettext("month", "April"),
        "May": pgettext("month", "May"),
        "June": pgettext("month", "June"),
        "July": pgettext("month", "July"),
        "August": pgettext("month", "August"),
        "September": pgettext("month", "September"),
        "October": pgettext("month", "October"),
        "November": pgettext("month", "November"),
        "December": pgettext("month", "December"),
    }


def step(text: str) -> str:
    """Return a step of an update, as launchers name them, in the language of this request."""
    return _steps(current()).get(text, text)


@cache
def _steps(_language: str) -> dict[str, str]:
    return {
        "recover": pgettext("step", "recover"),
        "refresh": pgettext("step", "refresh"),
        "offer": pgettext("step", "offer"),
        "download": pgettext("step", "download"),
        "install": pgettext("step", "install"),
        "test": pgettext("step", "test"),
        "switch": pgettext("step", "switch"),
        "sync": pgettext("step", "sync"),
        "decide": pgettext("step", "decide"),
    }


def unit(text: str) -> str:
    """Return the unit of a setting in the language of this request."""
    return _units(current()).get(text, text)


@cache
def _units(_language: str) -> dict[str, str]:
    return {
        "URL": pgettext("unit of a setting", "URL"),
        "address": pgettext("unit of a setting", "address"),
        "addresses": pgettext("unit of a setting", "addresses"),
        "address:port": pgettext("unit of a setting", "address:port"),
        "agents": pgettext("unit of a setting", "agents"),
        "bytes": pgettext("unit of a setting", "bytes"),
        "bytes/s": pgettext("unit of a setting", "bytes/s"),
        "connections": pgettext("unit of a setting", "connections"),
        "days": pgettext("unit of a setting", "days"),
        "host": pgettext("unit of a setting", "host"),
        "hosts": pgettext("unit of a setting", "hosts"),
        "name": pgettext("unit of a setting", "name"),
        "networks": pgettext("unit of a setting", "networks"),
        "pages": pgettext("unit of a setting", "pages"),
        "pairs": pgettext("unit of a setting", "pairs"),
        "path": pgettext("unit of a setting", "path"),
        "port": pgettext("unit of a setting", "port"),
        "processes": pgettext("unit of a setting", "processes"),
        "questions": pgettext("unit of a setting", "questions"),
        "requests": pgettext("unit of a setting", "requests"),
        "requests/s": pgettext("unit of a setting", "requests/s"),
        "rows": pgettext("unit of a setting", "rows"),
        "s": pgettext("unit of a setting", "s"),
        "selections": pgettext("unit of a setting", "selections"),
        "share": pgettext("unit of a setting", "share"),
        "text": pgettext("unit of a setting", "text"),
        "text or json": pgettext("unit of a setting", "text or json"),
        "times": pgettext("unit of a setting", "times"),
        "units": pgettext("unit of a setting", "units"),
        "uploads": pgettext("unit of a setting", "uploads"),
        "yes/no": pgettext("unit of a setting", "yes/no"),
    }

"""Alerts: open problems, their times and recipients; silences and maintenance windows."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from starlette.responses import Response

from manager.console.language import _, lazy, plazy
from manager.console.listing import whole
from manager.console.messages.disabled_reasons import Unable
from manager.console.messages.sentences import sentence_of
from manager.console.pages.people.audit_log import AUDIT
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.console.tables.filters import choice_filter, text_filter
from manager.console.tables.kinds import AGO, ID, MOMENT, SENTENCE
from manager.console.tables.sources import InMemory
from manager.console.tables.table import BUTTONS, Column, Table
from manager.operations.health.alert_views import Alerts, OngoingAlert, current_alerts, send_test
from manager.operations.health.silences import (
    SilenceRow,
    add_window,
    end_quiet,
    end_silence,
    silence,
)
from manager.operations.people.audit_log import audit_page
from shared.errors import FormatError

__all__ = ["ALERTS", "PAGES", "WINDOWS"]

HERE: Final = "/console/alerts"
HISTORY_SHOWN: Final = 25
HOUR_MS: Final = 3_600_000
KINDS: Final = (
    *(
        "agent",
        "idle",
        "agent-disk",
        "agent-clock",
        "agent-names",
        "agent-reach",
        "names",
        "reports",
        "update",
        "manager",
        "churn",
        "disk",
        "round",
        "backup",
        "job",
        "expiry",
        "way",
    ),
    "event",
)
TOLD: Final = ("yes", "silent")
NO_RECIPIENTS: Final = Unable(
    lazy("No recipients for alerts: set alerts.mail_to or alerts.webhook_url in prsm.toml."),
    "/console/settings?group=alerts",
    lazy("Settings"),
)


def _seen(visit: Visit) -> Alerts:
    return current_alerts(visit.db, visit.services.alerts, visit.now_ms)


def _windows(seen: Alerts, now_ms: int) -> list[SilenceRow]:
    """Return the maintenance windows that are open or planned."""
    return [
        row
        for row in seen.silences
        if not row.key and row.ended_ms is None and row.until_ms > now_ms
    ]


ALERTS: Final[Table[OngoingAlert]] = Table(
    "/alerts",
    "Open alerts",
    InMemory(lambda visit: _seen(visit).troubles),
    (
        Column("key", lambda one: one.key, about="kind and subject"),
        Column(
            "what",
            lambda one: one.text,
            plazy("trouble", "Alert"),
            SENTENCE,
            sort_by=lambda one: one.key,
            style="wide",
        ),
        Column("since", lambda one: one.since_ms, lazy("Since"), AGO, sort=True),
        Column("told", lambda one: one.told_ms, lazy("Notified"), AGO, sort=True),
        Column("told_next", lambda one: one.next_ms, lazy("Next reminder"), AGO, sort="next"),
        Column("silent_until", lambda one: one.silence and one.silence.until_ms, kind=MOMENT),
        Column(
            "why",
            lambda one: one.silence and one.silence.reason,
            lazy("Acknowledged by"),
            style="wide",
            about="reason of the silence",
        ),
    ),
    filters=(
        text_filter(
            lazy("Text"),
            lazy("any part of the text"),
            lambda one: f"{one.key} {sentence_of(one.text)}",
        ),
        choice_filter(
            "kind", lazy("About"), KINDS, lambda one: one.key.partition(":")[0], lazy("all")
        ),
        choice_filter(
            "told",
            lazy("Notified"),
            TOLD,
            lambda one: "silent" if one.silence else "yes",
            lazy("all"),
        ),
    ),
    default_sort="-since",
)
WINDOWS: Final[Table[SilenceRow]] = Table(
    "/alerts/windows",
    "Maintenance windows that are open or planned",
    InMemory(lambda visit: _windows(_seen(visit), visit.now_ms)),
    (
        Column("id", lambda row: row.id, kind=ID),
        Column("from", lambda row: row.from_ms, plazy("moment", "From"), MOMENT, style="numbered"),
        Column("until", lambda row: row.until_ms, plazy("moment", "Until"), MOMENT),
        Column("why", lambda row: row.reason or None, lazy("Reason")),
        Column("made_by", lambda row: row.made_by),
        Column("made", lambda row: row.made_ms, kind=MOMENT),
        BUTTONS,
    ),
    files="maintenance-windows",
)


def show(visit: Visit, *, tested: Any = None) -> Response:
    """Show open alerts, silences and past messages."""
    seen = _seen(visit)
    history = audit_page(visit.db, limit=HISTORY_SHOWN, action="alert.")
    return visit.page(
        "alerts.html",
        list=ALERTS.view(visit, seen.troubles),
        seen=seen,
        loud=sum(one.silence is None for one in seen.troubles),
        windows=WINDOWS.part(visit, _windows(seen, visit.now_ms)),
        settings=visit.services.settings.alerts,
        history=AUDIT.part(visit, history, without=("detail",)),
        tested=tested,
        no_recipients=NO_RECIPIENTS,
    )


def silence_one(visit: Visit) -> Response:
    """Silence one trouble for some hours."""
    key, reason = visit.form.get("key", ""), visit.form.get("reason", "")
    until_ms = visit.now_ms + round(_hours(visit.form.get("hours", "")) * HOUR_MS)
    silence(visit.db, key, until_ms, reason, visit.actor, visit.now_ms)
    said = _("%(key)s is acknowledged: the only further message reports its end.", key=key)
    return visit.go(visit.back(HERE), done=said)


def _hours(text: str) -> float:
    try:
        hours = float(text)
    except ValueError as error:
        raise FormatError("console.hours_number", value=text[:20]).about("hours") from error
    if not 0 < hours <= 720:
        raise FormatError("console.hours_range", value=hours).about("hours")
    return hours


def add(visit: Visit) -> Response:
    """Plan a maintenance window, or begin one now."""
    form = visit.form
    zone = _zone(form.get("zone", ""))
    begin = form.get("from", "").strip()
    from_ms = _moment(begin, "from", zone) if begin else visit.now_ms
    until_ms = _moment(form.get("until", ""), "until", zone)
    add_window(visit.db, from_ms, until_ms, form.get("reason", ""), visit.actor, visit.now_ms)
    return visit.go(visit.back(HERE), done=_("No alerts are sent during the window."))


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name.strip() or "UTC")
    except (ValueError, OSError, ZoneInfoNotFoundError) as error:
        raise FormatError("times.unknown_zone", zone=name[:64]).about("zone") from error


def _moment(text: str, name: str, zone: ZoneInfo) -> int:
    """Return a moment that a browser's field for date and time sends, or a person types."""
    try:
        moment = datetime.fromisoformat(text.strip())
        local = moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)
        return round(local.timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise FormatError("console.moment", name=name, value=text[:40]).about(name) from error


def end(visit: Visit) -> Response:
    """End a silence or a window."""
    number = whole(visit.form.get("number", ""), "number", 18)
    end_silence(visit.db, number, visit.actor, visit.now_ms)
    return visit.go(visit.back(HERE), done=_("It has ended; alerts that are still open are sent."))


def quiet(visit: Visit) -> Response:
    """End all windows that are open."""
    end_quiet(visit.db, visit.actor, visit.now_ms)
    return visit.go(visit.back(HERE), done=_("Alerts are sent again."))


def test(visit: Visit) -> Response:
    """Send a test message, and say who took it."""
    return show(visit, tested=send_test(visit.db, visit.services.alerts, visit.actor, visit.now_ms))


PAGES: Final = (
    *ALERTS.pages(show),
    *WINDOWS.file_pages(),
    Page("POST", "/alerts/silence", "operator", silence_one, form="/alerts"),
    Page("POST", "/alerts/windows", "operator", add, form="/alerts"),
    Page("POST", "/alerts/end", "operator", end, form="/alerts"),
    Page("POST", "/alerts/speak", "operator", quiet, form="/alerts"),
    Page("POST", "/alerts/test", "operator", test, form="/alerts"),
)

"""Alerts: open problems, their times and recipients; silences and maintenance windows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response, moment_cell
from manager.console.language import _, lazy
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.messages.disabled_reasons import Unable
from manager.console.messages.sentences import sentence_of
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.health.alert_views import Alerts, OngoingTrouble, current_alerts, send_test
from manager.operations.health.silences import (
    SilenceRow,
    add_window,
    end_quiet,
    end_silence,
    silence,
)
from manager.operations.people.audit_log import audit_page
from shared.errors import FormatError

__all__ = ["PAGES"]

FILTERS: Final = ("q", "kind", "told")
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
KEYS: Final[dict[str, Callable[[OngoingTrouble], Any]]] = {
    "what": lambda one: one.key,
    "since": lambda one: one.since_ms,
    "told": lambda one: one.told_ms,
    "next": lambda one: one.next_ms,
}
NO_RECIPIENTS: Final = Unable(
    lazy("No recipients for alerts: set alerts.mail_to or alerts.webhook_url in prsm.toml."),
    "/console/settings?group=alerts",
    lazy("Settings"),
)
HEADER: Final = (
    "key",
    "what",
    "since (UTC)",
    "told (UTC)",
    "told next (UTC)",
    "silent until (UTC)",
    "why",
)
WINDOWS_HEADER: Final = ("id", "from (UTC)", "until (UTC)", "why", "made by", "made (UTC)")


def _listing(visit: Visit) -> Listing:
    return read_listing(
        HERE,
        visit.query,
        filters=FILTERS,
        sorts=tuple(KEYS),
        default_sort="-since",
    )


def _seen(visit: Visit) -> Alerts:
    return current_alerts(visit.db, visit.door.alerts, visit.now_ms)


def _rows(seen: Alerts, listing: Listing) -> list[OngoingTrouble]:
    text, kind, told = (listing.filters[name] for name in ("q", "kind", "told"))
    rows = [
        one
        for one in seen.troubles
        if text.lower() in f"{one.key} {sentence_of(one.text)}".lower()
        and kind in ("", one.key.partition(":")[0])
        and told in ("", "silent" if one.silence else "yes")
    ]
    return listing.sorted(rows, KEYS)


def show(visit: Visit, *, tested: Any = None) -> Response:
    """Show open alerts, silences and past messages."""
    listing, seen = _listing(visit), _seen(visit)
    return visit.page(
        "alerts.html",
        listing=listing,
        cut=listing.cut(_rows(seen, listing)),
        seen=seen,
        loud=sum(one.silence is None for one in seen.troubles),
        kinds=KINDS,
        told=TOLD,
        windows=_windows(seen, visit.now_ms),
        limits=visit.door.alerts.limits,
        settings=visit.door.settings.alerts,
        history=audit_page(visit.db, limit=HISTORY_SHOWN, action="alert."),
        tested=tested,
        no_recipients=NO_RECIPIENTS,
    )


def _windows(seen: Alerts, now_ms: int) -> list[SilenceRow]:
    """Return the maintenance windows that are open or planned."""
    return [
        row
        for row in seen.silences
        if not row.key and row.ended_ms is None and row.until_ms > now_ms
    ]


def export(visit: Visit) -> Response:
    """Send the same rows as CSV."""
    rows = _rows(_seen(visit), _listing(visit))
    return csv_response("alerts", HEADER, (_cells(one) for one in rows))


def _cells(one: OngoingTrouble) -> list[Cell]:
    return [
        one.key,
        str(one.text),
        moment_cell(one.since_ms),
        moment_cell(one.told_ms),
        moment_cell(one.next_ms),
        None if one.silence is None else moment_cell(one.silence.until_ms),
        None if one.silence is None else one.silence.reason,
    ]


def export_windows(visit: Visit) -> Response:
    """Send the maintenance windows that are open or planned as CSV."""
    rows: list[list[Cell]] = [
        [
            row.id,
            figures.iso(row.from_ms),
            figures.iso(row.until_ms),
            row.reason,
            row.made_by,
            figures.iso(row.made_ms),
        ]
        for row in _windows(_seen(visit), visit.now_ms)
    ]
    return csv_response("maintenance-windows", WINDOWS_HEADER, rows)


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
    number = visit.form.get("number", "")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise FormatError("console.whole_number", name="number", value=number[:20])
    end_silence(visit.db, int(number), visit.actor, visit.now_ms)
    return visit.go(visit.back(HERE), done=_("It has ended; alerts that are still open are sent."))


def quiet(visit: Visit) -> Response:
    """End all windows that are open."""
    end_quiet(visit.db, visit.actor, visit.now_ms)
    return visit.go(visit.back(HERE), done=_("Alerts are sent again."))


def test(visit: Visit) -> Response:
    """Send a test message, and say who took it."""
    return show(visit, tested=send_test(visit.db, visit.door.alerts, visit.actor, visit.now_ms))


PAGES: Final = (
    Page("GET", "/alerts", "viewer", show, query=(*FILTERS, *LISTED)),
    Page("GET", "/alerts.csv", "viewer", export, query=(*FILTERS, *LISTED)),
    Page("GET", "/alerts/windows.csv", "viewer", export_windows),
    Page("POST", "/alerts/silence", "operator", silence_one),
    Page("POST", "/alerts/windows", "operator", add),
    Page("POST", "/alerts/end", "operator", end),
    Page("POST", "/alerts/speak", "operator", quiet),
    Page("POST", "/alerts/test", "operator", test),
)

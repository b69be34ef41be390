"""Settings: the values of prsm.toml and their meaning; the managers that use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.language import _
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.messages.setting_values import shown_meaning, shown_setting
from manager.console.requests.access import Page
from manager.console.requests.visit import Question, Visit
from manager.operations.identity.managers import forget_manager, list_managers
from manager.settings import SETTINGS_FILE, SettingLine, setting_lines

__all__ = ["PAGES"]

HERE: Final = "/console/settings"
FILTERS: Final = ("q", "group", "show")
KEYS: Final[dict[str, Callable[[SettingLine], Any]]] = {
    "name": lambda line: line.name,
    "source": lambda line: line.source or None,
}
SHOWN: Final = ("changed", "secret")
HEADER: Final = (
    "setting",
    "value",
    "default",
    "unit",
    "least",
    "most",
    "set in",
    "meaning",
)
MANAGERS_HEADER: Final = (
    "machine and process",
    "leads",
    "silent",
    "version",
    "since (UTC)",
    "last sign of life (UTC)",
)


def _listing(visit: Visit) -> Listing:
    return read_listing(
        "/console/settings",
        visit.query,
        filters=FILTERS,
        sorts=tuple(KEYS),
        default_sort="name",
    )


def _rows(visit: Visit, listing: Listing) -> list[SettingLine]:
    text, group, shown = (listing.filters[name] for name in ("q", "group", "show"))
    rows = [
        line
        for line in setting_lines(visit.door.settings)
        if text.lower() in f"{line.name} {line.reason} {shown_meaning(line)}".lower()
        and group in ("", line.name.partition(".")[0])
        and (shown != "changed" or not line.is_default)
        and (shown != "secret" or line.secret)
    ]
    return listing.sorted(rows, KEYS)


def show(visit: Visit) -> Response:
    """Show the settings of the file, and the managers."""
    listing = _listing(visit)
    lines = setting_lines(visit.door.settings)
    cut = listing.cut(_rows(visit, listing))
    return visit.page(
        "settings.html",
        listing=listing,
        cut=cut,
        rows=[shown_setting(line) for line in cut.rows],
        groups=list(dict.fromkeys(line.name.partition(".")[0] for line in lines)),
        shown=SHOWN,
        changed=sum(not line.is_default for line in lines),
        file=str(visit.door.settings.data / SETTINGS_FILE),
        managers=list_managers(visit.db),
    )


def export(visit: Visit) -> Response:
    """Send the same rows as CSV."""
    rows = _rows(visit, _listing(visit))
    return csv_response("settings", HEADER, (_cells(line) for line in rows))


def _cells(line: SettingLine) -> list[Cell]:
    return [
        line.name,
        line.value,
        line.default,
        line.unit,
        line.least,
        line.most,
        line.source,
        line.reason,
    ]


def export_managers(visit: Visit) -> Response:
    """Send the managers of this database as CSV."""
    rows: list[list[Cell]] = [
        [
            one.place,
            one.leads,
            one.is_silent,
            one.version,
            figures.iso(one.started_ms),
            figures.iso(one.seen_ms),
        ]
        for one in list_managers(visit.db).managers
    ]
    return csv_response("managers", MANAGERS_HEADER, rows)


def forget(visit: Visit) -> Response:
    """Forget a manager that was removed permanently; ask once."""
    name = visit.form.get("name", "")
    if not visit.is_confirmed:
        return visit.ask(
            Question(
                _("Forget manager %(name)s?", name=name),
                (
                    _("It is no longer listed, and no alert reports its silence."),
                    _("If it still runs, it is listed again with its next heartbeat."),
                ),
                _("Forget"),
                "/console/managers/forget",
                HERE,
                {"name": name},
                danger=False,
            )
        )
    forget_manager(visit.db, name, visit.actor, visit.now_ms)
    return visit.go(HERE, done=_("Manager %(name)s is forgotten.", name=name))


PAGES: Final = (
    Page("POST", "/managers/forget", "admin", forget),
    Page("GET", "/settings", "viewer", show, query=(*FILTERS, *LISTED)),
    Page("GET", "/settings.csv", "viewer", export, query=(*FILTERS, *LISTED)),
    Page("GET", "/settings/managers.csv", "viewer", export_managers),
)

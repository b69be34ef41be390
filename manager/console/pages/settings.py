"""Settings: the values of prsm.toml and their meaning; the managers that use them."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console.language import _, lazy
from manager.console.messages.setting_values import ShownSetting, shown_setting
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.console.tables.filters import Filter, choice_filter, text_filter
from manager.console.tables.kinds import AGO, FLAG, MOMENT, SENTENCE
from manager.console.tables.sources import InMemory
from manager.console.tables.table import BUTTONS, Column, Table
from manager.operations.identity.managers import ServingManager, forget_manager, list_managers
from manager.settings import SETTINGS_FILE, setting_lines

__all__ = ["MANAGERS", "PAGES", "SETTINGS"]

HERE: Final = "/console/settings"
SHOWN: Final = ("changed", "secret")


def _is_shown(one: ShownSetting, show: str) -> bool:
    return {"changed": not one.line.is_default, "secret": one.line.secret}.get(show, True)


def _groups(visit: Visit) -> list[str]:
    names = (line.name.partition(".")[0] for line in setting_lines(visit.services.settings))
    return list(dict.fromkeys(names))


SETTINGS: Final[Table[ShownSetting]] = Table(
    "/settings",
    "Settings",
    InMemory(lambda visit: map(shown_setting, setting_lines(visit.services.settings))),
    (
        Column(
            "setting", lambda one: one.line.name, lazy("Setting"), sort="name", style="setting-name"
        ),
        Column("value", lambda one: one.line.value, lazy("Value"), style="setting-value"),
        Column("default", lambda one: one.line.default, lazy("Default"), style="setting-value"),
        Column("unit", lambda one: one.line.unit),
        Column("least", lambda one: one.line.least),
        Column("most", lambda one: one.line.most),
        Column(
            "set_in",
            lambda one: one.line.source,
            lazy("Set in"),
            sort_by=lambda one: one.line.source or None,
            sort="source",
        ),
        Column("meaning", lambda one: one.line.reason, lazy("Meaning"), style="wide"),
    ),
    filters=(
        text_filter(
            lazy("Name or meaning"),
            lazy("any part of it"),
            lambda one: f"{one.line.name} {one.line.reason} {one.meaning}",
        ),
        choice_filter(
            "group",
            lazy("Group"),
            _groups,
            lambda one: one.line.name.partition(".")[0],
            about="first part of the name",
        ),
        Filter("show", lazy("Show"), "words", SHOWN, any=lazy("all"), keeps=_is_shown),
    ),
    default_sort="name",
)
MANAGERS: Final[Table[ServingManager]] = Table(
    "/settings/managers",
    "Managers of the database",
    InMemory(lambda visit: list_managers(visit.db).managers),
    (
        Column("machine_and_process", lambda one: one.place, lazy("Machine and process"), SENTENCE),
        Column("leads", lambda one: one.leads, lazy("Leader"), FLAG),
        Column("silent", lambda one: one.is_silent, kind=FLAG),
        Column("version", lambda one: one.version, lazy("Version")),
        Column("since", lambda one: one.started_ms, lazy("Since"), MOMENT),
        Column("last_sign_of_life", lambda one: one.seen_ms, lazy("Last heartbeat"), AGO),
        BUTTONS,
    ),
    files="managers",
)


def show(visit: Visit) -> Response:
    """Show the settings of the file, and the managers."""
    managers = list_managers(visit.db)
    without = () if visit.may("admin") else ("actions",)
    return visit.page(
        "settings.html",
        list=SETTINGS.view(visit),
        changed=sum(not line.is_default for line in setting_lines(visit.services.settings)),
        file=str(visit.services.settings.data / SETTINGS_FILE),
        managers=managers,
        manager_rows=MANAGERS.part(visit, managers.managers, without=without),
    )


def forget(visit: Visit) -> Response:
    """Forget a manager that was removed permanently; ask once."""
    name = visit.form.get("name", "")
    if not visit.is_confirmed:
        return visit.ask(
            _("Forget manager %(name)s?", name=name),
            _("It is no longer listed, and no alert reports its silence."),
            _("If it still runs, it is listed again with its next heartbeat."),
            button=_("Forget"),
            back=HERE,
            fields={"name": name},
            danger=False,
        )
    forget_manager(visit.db, name, visit.actor, visit.now_ms)
    return visit.go(HERE, done=_("Manager %(name)s is forgotten.", name=name))


PAGES: Final = (
    Page("POST", "/managers/forget", "admin", forget, form="/settings"),
    *SETTINGS.pages(show),
    *MANAGERS.file_pages(),
)

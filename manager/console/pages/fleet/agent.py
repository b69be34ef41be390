"""One agent: how it is and why, what it owns, what it did; and what can be ordered of it."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.drawings.stacked_bars import stacked
from manager.console.language import Lazy, _, lazy, ngettext
from manager.console.messages.sentences import sentence_of
from manager.console.notices import Notice, agent_notices, detail_text, few_notices
from manager.console.pages.fleet.agent_tables import REFETCHED, ROUNDS, captures_of
from manager.console.pages.hosts.hosts import HOSTS
from manager.console.pages.logs.reports import REPORTS, Report
from manager.console.pages.people.audit_log import AUDIT
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link, whole_number
from manager.operations.fleet.agent_rounds import rounds_of_agent
from manager.operations.fleet.agents import (
    AgentView,
    agent_detail,
    order_command,
    renamed_settings_of,
    retire,
    set_next_list_limit,
)
from manager.operations.health.alert_rules import few_hosts
from manager.operations.hosts.host_views import HostFilter, list_hosts
from manager.operations.identity.agent_positions import position_as_shown, set_position
from manager.operations.logs.reports import list_reports
from manager.operations.measurement.claim_review import believe_agent
from manager.operations.measurement.claims import doubts_of
from manager.operations.measurement.refetch_results import refetches_of
from manager.operations.people.audit_log import audit_page
from manager.operations.segments.sending_limits import (
    ALL_DAY,
    limit_sending,
    limits_for_agent,
    limits_message,
    read_limits,
)
from shared.day_times import window_text
from shared.errors import FormatError
from shared.wire.positions import read_position
from shared.wire.stop_reasons import stop_reason_message
from shared.wire.sync import ALL_HOURS, SendingLimits

__all__ = ["PAGES"]

ROUNDS_SHOWN: Final = 10
ROWS_SHOWN: Final = 10
CAPTURES_SHOWN: Final = 20
PAGES_TOO: Final = lazy("Also delete the pages on its disk, even undelivered ones.")
PLAIN_RESTART: Final = lazy(
    "It is a plain agent: its own program decides about the pages on its disk."
)
LIST_LIMITS: Final = {"50": 50, "all": 0, "none": None}

BUTTONS: Final = {"restart": lazy("Restart"), "drain": lazy("Drain")}
SAID: Final[dict[str, Lazy]] = {
    "restart": lazy(
        "%(agent)s will drop its list and queue at its next contact, and fetch its list again."
    ),
    "restart and pages": lazy(
        "%(agent)s will drop its list, queue and all pages at its next contact, and fetch its "
        "list again."
    ),
    "drain": lazy(
        "%(agent)s will stop fetching at its next contact, report, and release its units."
    ),
    "pause": lazy("%(agent)s will stop fetching until it is resumed."),
    "resume": lazy("%(agent)s will resume fetching."),
    "update": lazy("%(agent)s will check for its release."),
}
ASKED: Final[dict[str, tuple[Lazy, ...]]] = {
    "restart": (
        lazy("Restart %(agent)s?"),
        lazy(
            "It drops its list, its queue and its record of seen URLs, and fetches its list again."
        ),
        lazy("Collected pages stay; all are fetched again, which adds load on the sites."),
    ),
    "drain": (
        lazy("Drain %(agent)s?"),
        lazy("It stops fetching at once; hosts in progress are not finished."),
        lazy("It reports its work; then its units go to other agents."),
        lazy("It rejoins only after a resume command; a restart does not resume it."),
    ),
}


LISTS: Final = ("stopped", "kinds")
"""What is no number of an agent's counters."""


def show(visit: Visit) -> Response:
    """Show all that is known of an agent."""
    name = visit.query.get("name", "")
    detail = agent_detail(visit.db, name, visit.now_ms, visit.policy)
    history = rounds_of_agent(visit.db, name, ROUNDS_SHOWN)
    longest = max((float(one.measured_ms) for one in history), default=0.0)
    units = list_hosts(visit.db, HostFilter(owner=name), sort="-volume", limit=ROWS_SHOWN)
    reports = [Report(one, name) for one in list_reports(visit.db, limit=ROWS_SHOWN, agent=name)]
    refetched = refetches_of(visit.db, name)
    events = audit_page(visit.db, limit=ROWS_SHOWN, subject=name)
    return visit.page(
        "agent.html",
        view=detail.view,
        row=detail.view.row,
        renamed=renamed_settings_of(detail.view.row),
        is_doubted=bool(doubts_of(detail.view.row)),
        counters={name: one for name, one in detail.counters.items() if name not in LISTS},
        stopped=[
            {**one, "reason": stop_reason_message(str(one["reason"]))}
            for one in detail.counters.get("stopped", [])
        ],
        link_kinds=detail.counters.get("kinds", []),
        orders=detail.orders,
        notices=[*agent_notices(detail.view, visit.now_ms), *_few(visit, detail.view)],
        units_count=units.matching,
        units=HOSTS.part(visit, units.hosts, without=("owner", "state", "first_seen")),
        reports=REPORTS.part(visit, reports, without=("agent", "since", "quarantined")),
        history=ROUNDS.part(visit, history),
        bar_of=lambda one: stacked([("cost", float(one.measured_ms))], longest),
        rounds_shown=ROUNDS_SHOWN,
        events=AUDIT.part(visit, events, without=("subject",)),
        detail_text=detail_text,
        refetched=refetched,
        captures=REFETCHED.part(visit, captures_of(refetched.pages[:CAPTURES_SHOWN])),
        sending=limits_for_agent(detail.view.row),
        sending_said=limits_message(limits_for_agent(detail.view.row)),
        hours=_shown_hours(limits_for_agent(detail.view.row)),
        grace=figures.duration(visit.policy.grace_s * 1000),
        position_shown=position_as_shown(detail.view.row.latitude, detail.view.row.longitude),
    )


def _few(visit: Visit, view: AgentView) -> list[Notice]:
    """Return whether the agent resolves or reaches few of its hosts."""
    found = few_hosts(visit.db, [view], visit.services.settings.alerts.min_reachable_share)
    return few_notices([one for one in found if one.agent == view.row.name])


def command(visit: Visit) -> Response:
    """Order an agent to restart, drain, pause or resume."""
    name, what = visit.form.get("name", ""), visit.form.get("command", "")
    here = link("agent", name=name)
    if what in ASKED and not visit.is_confirmed:
        return _ask(visit, name, what)
    pages = visit.form.get("pages") == "yes"
    order_command(visit.db, name, what, visit.actor, visit.now_ms, pages=pages)
    said = SAID["restart and pages" if pages else what]
    return visit.go(here, done=_(said.text, agent=name))


def _ask(visit: Visit, name: str, what: str) -> Response:
    title, *consequences = ASKED[what]
    choices = {}
    if what == "restart":
        if agent_detail(visit.db, name, visit.now_ms, visit.policy).view.row.is_plain:
            consequences = [*consequences[:-1], PLAIN_RESTART]
        else:
            choices = {"pages": str(PAGES_TOO)}
    return visit.ask(
        _(title.text, agent=name),
        *map(str, consequences),
        button=str(BUTTONS[what]),
        back=link("agent", name=name),
        fields={"name": name, "command": what},
        choices=choices,
    )


def retire_agent(visit: Visit) -> Response:
    """Retire an agent permanently."""
    name = visit.form.get("name", "")
    here = link("agent", name=name)
    if not visit.is_confirmed:
        detail = agent_detail(visit.db, name, visit.now_ms, visit.policy)
        return visit.ask(
            _("Retire %(agent)s?", agent=name),
            ngettext(
                "Its %(num)s unit goes to the other agents.",
                "Its %(num)s units go to the other agents.",
                detail.view.units_owned,
            ),
            _("It receives no more lists, and its permit is not renewed."),
            _("Its pages and reports stay. A new join token brings it back."),
            button=_("Retire"),
            back=here,
            fields={"name": name},
        )
    retire(visit.db, name, visit.actor, visit.now_ms)
    return visit.go(here, done=_("%(agent)s is retired; its units go to other agents.", agent=name))


def believe(visit: Visit) -> Response:
    """Take what an agent has claimed so far as true."""
    name = visit.form.get("name", "")
    here = link("agent", name=name)
    if not visit.is_confirmed:
        agent_detail(visit.db, name, visit.now_ms, visit.policy)
        return visit.ask(
            _("Trust %(agent)s?", agent=name),
            _("Its times and bytes count again: plans use them."),
            _("Later claims are compared with those of today."),
            button=_("Trust"),
            back=here,
            fields={"name": name},
        )
    believe_agent(visit.db, name, visit.actor, visit.now_ms)
    return visit.go(here, done=_("%(agent)s is trusted.", agent=name))


def limit_list(visit: Visit) -> Response:
    """Set how many pages of each unit the agent's next lists allow."""
    name, choice = visit.form.get("name", ""), visit.form.get("pages", "")
    if choice not in LIST_LIMITS:
        raise FormatError(
            "general.unknown_choice", name="pages", value=choice[:40], known=tuple(LIST_LIMITS)
        ).about("pages")
    shown = whole_number(visit, "shown")
    pages = LIST_LIMITS[choice]
    set_next_list_limit(visit.db, name, pages, visit.actor, visit.now_ms, shown=shown)
    if choice == "50":
        said = _("The next lists of %(agent)s allow 50 pages of each unit.", agent=name)
    else:
        said = _("The next lists of %(agent)s allow all pages.", agent=name)
    return visit.go(link("agent", name=name), done=said)


def limit(visit: Visit) -> Response:
    """Set the rate and hours of the agent's sending."""
    name, rate = visit.form.get("name", ""), visit.form.get("rate", "").strip()
    try:
        bytes_per_s = round(float(rate) * 1000) if rate else None
    except (ValueError, OverflowError) as error:
        raise FormatError("console.rate", value=rate[:20]).about("rate") from error
    limits = read_limits(
        bytes_per_s,
        _windows(visit.form.get("weekday", "")),
        _windows(visit.form.get("weekend", "")),
        visit.form.get("zone", "").strip(),
    )
    limit_sending(visit.db, name, limits, visit.actor, visit.now_ms, visit.form.get("shown"))
    said = _(
        "From its next sync on %(agent)s sends %(limits)s.",
        agent=name,
        limits=sentence_of(limits_message(limits)),
    )
    return visit.go(link("agent", name=name), done=said)


def place(visit: Visit) -> Response:
    """Set the position of the agent on the map; empty fields: unknown."""
    name = visit.form.get("name", "")
    latitude, longitude = (visit.form.get(each, "").strip() for each in ("latitude", "longitude"))
    position = None
    if latitude or longitude:
        position = read_position(_degrees(latitude, "latitude"), _degrees(longitude, "longitude"))
    set_position(visit.db, name, position, visit.actor, visit.now_ms, visit.form.get("shown"))
    here = link("agent", name=name)
    if position is None:
        return visit.go(here, done=_("%(agent)s is no longer on the map.", agent=name))
    return visit.go(here, done=_("%(agent)s is on the map.", agent=name))


def _degrees(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise FormatError("console.degrees", name=name, value=text[:20]).about(name) from error


def _shown_hours(limits: SendingLimits | None) -> dict[str, str]:
    """Return the hours as `_windows` reads them; all day is nothing."""
    if limits is None:
        return {"weekday": "", "weekend": ""}
    return {
        name: "" if windows == ALL_HOURS else " ".join(map(window_text, windows)) or "never"
        for name, windows in (("weekday", limits.weekday), ("weekend", limits.weekend))
    }


def _windows(text: str) -> list[str]:
    """Return the windows of a field; nothing is all day, `never` none."""
    words = text.replace(",", " ").split()
    return [] if words == ["never"] else words or [ALL_DAY]


PAGES: Final = (
    Page("GET", "/agent", "viewer", show, query=("name",)),
    Page("POST", "/agent/command", "operator", command, form="/agent?name={name}"),
    Page("POST", "/agent/retire", "admin", retire_agent, form="/agent?name={name}"),
    Page("POST", "/agent/believe", "operator", believe, form="/agent?name={name}"),
    Page("POST", "/agent/list-limit", "operator", limit_list, form="/agent?name={name}"),
    Page("POST", "/agent/sending", "operator", limit, form="/agent?name={name}"),
    Page("POST", "/agent/position", "operator", place, form="/agent?name={name}"),
)

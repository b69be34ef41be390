"""Orders of probes: of a host, by an agent, or of old measurements."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console.language import _, ngettext, number
from manager.console.pages.planning.probe_pairs import days_of
from manager.console.pages.planning.probes import COVERAGE
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.operations.planning.requested_probes import ORDERS_MOST, Ordered, order_probes

__all__ = ["PAGES"]

HERE: Final = "/console/probes"


def order(visit: Visit) -> Response:
    """Order probes; ask once where it is more than one host's."""
    host, agent, older = (visit.form.get(name, "").strip() for name in ("host", "agent", "older"))
    days = days_of(older)
    back = link("host", host=host) if visit.form.get("back") == "host" else HERE
    if not host and not visit.is_confirmed and (agent or days is not None):
        return visit.ask(
            _("Order probes?"),
            _wanted(agent, days, visit),
            _(
                "No probe is ordered twice in a round, and no agent gets more than it may "
                "probe in a day."
            ),
            button=_("Order"),
            back=back,
            fields={"agent": agent, "older": older},
            danger=False,
        )
    done = order_probes(
        visit.db,
        visit.actor,
        visit.now_ms,
        host=host,
        agent=agent,
        older_days=days,
        policy=visit.policy,
    )
    visit.db.figures.forget(COVERAGE)
    return visit.go(back, done=_told(done))


def _wanted(agent: str, days: float | None, visit: Visit) -> str:
    shown = visit.policy.max_distance_age_s / 86_400 if days is None else days
    if agent:
        return _(
            "%(agent)s probes all hosts that it has not measured within %(days)s days.",
            agent=agent,
            days=f"{shown:g}",
        )
    return _(
        "All distances older than %(days)s days are measured again.",
        days=f"{shown:g}",
    )


def _told(done: Ordered) -> str:
    when = (
        _("They are made first in round %(round)s, when it begins.", round=done.round)
        if done.waits
        else _("They are made in round %(round)s, now.", round=done.round)
    )
    said = [ngettext("%(num)s probe is ordered.", "%(num)s probes are ordered.", done.orders)]
    if done.orders:
        said.append(when)
    if done.known:
        said.append(
            ngettext(
                "%(num)s was already ordered in that round.",
                "%(num)s were already ordered in that round.",
                done.known,
            )
        )
    if done.left_out:
        said.append(
            ngettext(
                "%(num)s is left out: the daily limit of its agent or its host is reached.",
                "%(num)s are left out: the daily limits of their agents or hosts are reached.",
                done.left_out,
            )
        )
    if done.is_cut:
        said.append(
            _(
                "There are more: only the %(number)s oldest were considered. Order again when "
                "these are done.",
                number=number(ORDERS_MOST),
            )
        )
    return " ".join(said)


PAGES: Final = (Page("POST", "/probes/order", "operator", order, form="/probes"),)

"""One host: who owns it and owned it before, how far it is from every agent, what it holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.language import _, lazy, ngettext
from manager.console.messages.disabled_reasons import Unable, unable_of
from manager.console.messages.sentences import sentence_of
from manager.console.pages.hosts.host_tables import (
    DIRECTORIES,
    DISTANCES,
    MEASURED,
    ORDERS,
    OWNERS,
    Named,
    agent_name,
    nearest_distances,
    newest_orders,
    newest_owners,
    newest_sums,
    present_owners,
)
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.db.figure_cache import StillCountingError
from manager.db.hosts.hosts import HostRow
from manager.operations.archive.archive_figures import segments_with_host
from manager.operations.fleet.agents import named_agents
from manager.operations.hosts.address_decisions import decide_address
from manager.operations.hosts.bans import ban_host, lift_ban
from manager.operations.hosts.host_views import DIRECTORIES_MOST, HostDetail, host_detail
from manager.operations.hosts.hosts import exclude_host, include_host
from manager.operations.hosts.name_lookups import look_up_again
from manager.operations.hosts.preconditions import merge_obstacle, split_obstacle
from manager.operations.hosts.splits.proposals import SplitReport, split_report
from manager.operations.ownership.pins import pin_unit, unpin_units
from manager.operations.ownership.unit_moves import move_unit
from manager.operations.rounds.rounds import current_round
from shared.urls import split_host

__all__ = ["PAGES"]

ROWS_MOST: Final = 50
DISTANCES_MOST: Final = 50  # the nearest; of a thousand agents the others do not matter here
REASON_MOST: Final = 500


def show(visit: Visit) -> Response:
    """Show all that is known of a host."""
    detail = host_detail(visit.db, visit.query.get("host", ""), visit.policy)
    units_now = [unit for unit in detail.units if unit.merged_ms is None]
    paths = {unit.id: unit.path for unit in detail.units}
    owners = present_owners(detail)
    fleet = _fleet(visit)
    distances = nearest_distances(detail)
    near = distances[:DISTANCES_MOST] + [
        one for one in distances[DISTANCES_MOST:] if owners.get(one.row.unit_id) == one.row.agent_id
    ]
    is_split = len(units_now) > 1
    unsplit = () if is_split else ("path",)
    report = _split_report(visit)
    return visit.page(
        "host.html",
        detail=detail,
        host=detail.host,
        paths=paths,
        top=next((unit for unit in detail.units if unit.path == "/"), None),
        owners_now=owners,
        history=OWNERS.part(visit, newest_owners(detail)[:ROWS_MOST], without=unsplit),
        distances=DISTANCES.part(visit, near, without=unsplit),
        farther=len(distances) - len(near),
        units_now=units_now,
        why_nobody="" if detail.rights else _no_owner_reason(visit, detail),
        is_split=is_split,
        orders=ORDERS.part(visit, newest_orders(detail)[:ROWS_MOST]),
        sums=MEASURED.part(visit, newest_sums(detail)[:ROWS_MOST], without=unsplit),
        directories=DIRECTORIES.part(visit, [Named(row, "") for row in detail.directories]),
        older={
            name: len(rows) - ROWS_MOST
            for name, rows in (
                ("history", detail.owners),
                ("orders", detail.orders),
                ("sums", detail.sums),
            )
        },
        directories_most=DIRECTORIES_MOST,
        addresses=_by_address(detail),
        rule_of=partial(_rule_text, detail),
        decisions=partial(_decisions, detail),
        fleet=fleet,
        unable=_unable(detail.host, fleet),
        unsplit=_unsplit(visit, detail.host, is_split=is_split),
        proposal=next((one for one in report.proposals if one.host == detail.host.key), None)
        if report is not None
        else None,
        slow=next((one for one in report.slow if one.host == detail.host.key), None)
        if report is not None
        else None,
        takers=_nearest_first(fleet, detail, set(owners.values())),
        others=[key for key in detail.group if key != detail.host.key],
        name_of=lambda number: agent_name(detail, number),
        in_logs=split_host(detail.host.key)[1],
    )


def _split_report(visit: Visit) -> SplitReport | None:
    """Return what prediction proposes; None: it is being counted, or the visitor cannot act."""
    if not visit.may("operator"):
        return None
    try:
        return split_report(visit.db, visit.policy, visit.now_ms)
    except StillCountingError:
        return None


def _unable(host: HostRow, fleet: Sequence[str]) -> Unable | None:
    """Return why nothing can be given to an agent or probed now."""
    if host.excluded_ms:
        return Unable(lazy("It is excluded: include it again first."))
    return None if fleet else unable_of("no-agent")


def _unsplit(visit: Visit, host: HostRow, *, is_split: bool) -> Unable | None:
    """Return why the host cannot be split, or its pieces merged, now."""
    if not visit.may("operator"):
        return None
    refused = (merge_obstacle if is_split else split_obstacle)(
        visit.db, host.key, visit.policy, visit.now_ms
    )
    return None if refused is None else Unable(sentence_of(refused.message))


def _fleet(visit: Visit) -> list[str]:
    """Return the agents that a person may choose from, where the person may choose."""
    if not visit.may("operator"):
        return []
    return [one.name for one in named_agents(visit.db) if not one.is_retired]


def _nearest_first(
    fleet: Sequence[str], detail: HostDetail, owner_ids: Collection[int]
) -> Sequence[str]:
    """Return to whom a unit may go, the nearest first; its owner and who is banned at the end."""
    measured = (row for row in detail.distances if row.state != "predicted")
    lengths = {detail.agents.get(row.agent_id, ""): row.ms_per_kb for row in measured}
    last = {detail.agents.get(number, "") for number in owner_ids}
    last |= {ban.agent for ban in detail.bans}

    def place(name: str) -> tuple[bool, bool, float]:
        length = lengths.get(name)
        return name in last, length is None, length or 0.0

    return sorted(fleet, key=place)


def _no_owner_reason(visit: Visit, detail: HostDetail) -> str:
    """Return why no agent may fetch a host now."""
    if detail.host.excluded_ms:
        return _("no agent: the host is excluded")
    outside = next((unit.scope_rule for unit in detail.units if unit.scope_rule), "")
    if outside:
        return _("no agent: outside of the scope, by the rule %(rule)s", rule=outside)
    current = current_round(visit.db)
    if current is None:
        return _("no agent: no round is running")
    if current.state == "probing":
        return _("no agent: round %(number)s is still probing", number=current.number)
    names = sorted(agent_name(detail, number) for number in detail.permits)
    if not names:
        return _("no agent: the host has no owner")
    if not any(until_ms > visit.now_ms for until_ms in detail.permits.values()):
        return _("no agent: the permit of %(agent)s has expired", agent=", ".join(names))
    return _(
        "no agent: waiting for the next contact of %(agent)s, or done in round %(number)s",
        agent=", ".join(names),
        number=current.number,
    )


def _by_address(detail: HostDetail) -> Sequence[tuple[str, list[str]]]:
    """Return each address with who sees it; source 0 is the manager."""
    seen: dict[str, list[str]] = defaultdict(list)
    for source, address in detail.addresses:
        seen[address].append(agent_name(detail, source) if source else _("the manager"))
    return sorted(seen.items())


def _rule_text(detail: HostDetail, address: str) -> str:
    """Return how politeness counts at an address of a host, and why."""
    rules = {rule.address: rule for rule in detail.address_rules}
    rule = rules.get(address)
    if rule is None:
        return _("One clock: few registrable domains.")
    reason = {
        "few": _("few registrable domains"),
        "domains": _("%(count)s registrable domains", count=rule.domains),
        "published": _("in the ranges of a CDN"),
        "person": _("decided by %(who)s", who=rule.decided_by),
    }.get(rule.reason, rule.reason)
    if rule.rule == "single":
        return _("One clock: %(reason)s.", reason=reason)
    if rule.rule == "merging":
        return _("Becomes one clock when one agent is left there: %(reason)s.", reason=reason)
    return _(
        "Shared by many sites: %(reason)s. Rate divided among agents: %(count)s.",
        reason=reason,
        count=rule.shares,
    )


def _decisions(detail: HostDetail, address: str) -> list[tuple[str, str]]:
    """Return the decisions about an address that would change something, with their buttons."""
    rule = {rule.address: rule for rule in detail.address_rules}.get(address)
    found = []
    if rule is None or rule.rule != "shared":
        found.append(("shared", _("Share the address")))
    if rule is not None and rule.rule == "shared":
        found.append(("single", _("Treat as one server")))
    if rule is not None and rule.decided:
        found.append(("auto", _("Decide by domains")))
    return found


def decide(visit: Visit) -> Response:
    """Decide how politeness counts at an address of a host."""
    form = visit.form
    key, address = form.get("host", ""), form.get("address", "")
    decision = form.get("decision", "")
    decide_address(visit.db, address, decision, visit.actor, visit.now_ms)
    done = _("The rule of %(address)s is decided.", address=address)
    return visit.go(link("host", host=key), done=done)


def exclude(visit: Visit) -> Response:
    """Take a host out of the crawl; ask once."""
    key, reason = visit.form.get("host", ""), visit.form.get("reason", "").strip()[:REASON_MOST]
    if not visit.is_confirmed:
        known = host_detail(visit.db, key).host
        return visit.ask(
            _("Exclude %(host)s?", host=known.key),
            _("From the next lists on, no agent owns or fetches it."),
            _(
                "Its captures are withheld from now on and deleted at the next compaction. You "
                "can include it again at any time; it then starts as a new host."
            ),
            *_with_others(visit, known.id),
            button=_("Exclude"),
            back=link("host", host=known.key),
            fields={"host": known.key},
            shown={"reason": reason},
        )
    exclude_host(visit.db, key, reason, visit.actor, visit.now_ms)
    return visit.go(link("host", host=key), done=_("%(host)s is excluded.", host=key))


def _with_others(visit: Visit, host_id: int) -> list[str]:
    """Return a sentence on captures that are withheld for a while with the host's segments."""
    segments, size_bytes = segments_with_host(visit.db, host_id)
    if not segments:
        return []
    return [
        ngettext(
            "%(num)s segment of %(size)s holds captures of it. The whole file is withheld until "
            "it is rewritten without them, within %(time)s; selections still give its other hosts.",
            "%(num)s segments of %(size)s hold captures of it. The whole files are withheld until "
            "they are rewritten without them, within %(time)s; selections still give their other "
            "hosts.",
            segments,
            size=figures.amount(size_bytes),
            time=figures.duration(visit.services.settings.archive.compaction_interval_s * 1000),
        )
    ]


def include(visit: Visit) -> Response:
    """Include a host again; ask once, with the reason of its exclusion."""
    key = visit.form.get("host", "")
    if not visit.is_confirmed:
        known = host_detail(visit.db, key).host
        return visit.ask(
            _("Include %(host)s again?", host=known.key),
            *_exclusion_reason(known, visit.now_ms),
            _("It is probed and assigned as a new host, and fetched with later lists."),
            button=_("Include again"),
            back=link("host", host=known.key),
            fields={"host": known.key},
        )
    include_host(visit.db, key, visit.actor, visit.now_ms)
    return visit.go(
        link("host", host=key),
        done=_("%(host)s is included again; it is probed and assigned as a new host.", host=key),
    )


def _exclusion_reason(host: HostRow, now_ms: int) -> list[str]:
    """Return when and why a host was excluded, perhaps at its owner's wish."""
    if not host.excluded_ms:
        return []
    since = figures.ago(host.excluded_ms, now_ms)
    if not host.excluded_reason:
        return [
            _(
                "It was excluded %(ago)s without a reason: first ask the person who excluded it.",
                ago=since,
            )
        ]
    return [
        _("It was excluded %(ago)s: %(reason)s.", ago=since, reason=host.excluded_reason),
        _("If its owner asked for the exclusion, ask the owner first."),
    ]


def resolve(visit: Visit) -> Response:
    """Order another look-up of a host's name."""
    key = visit.form.get("host", "")
    look_up_again(visit.db, key, visit.actor, visit.now_ms)
    said = _("%(host)s is looked up again at the manager's next tick.", host=key)
    return visit.go(link("host", host=key), done=said)


def move(visit: Visit) -> Response:
    """Move a unit to an agent now, or pin it there permanently; ask once."""
    unit, agent, reason = _choice(visit, "unit")
    keep = visit.form.get("keep") == "yes"
    if not visit.is_confirmed:
        about = {"unit": unit, "agent": agent}
        return visit.ask(
            _("Pin %(unit)s to %(agent)s?", unit=unit, agent=agent)
            if keep
            else _("Move %(unit)s to %(agent)s?", unit=unit, agent=agent),
            _("If another agent owns it, it moves now, with all units that share its address."),
            _("No plan moves it until it is unpinned, which is possible at any time.")
            if keep
            else _("The next plan may move it again."),
            button=_("Pin") if keep else _("Move"),
            back=link("host", host=unit),
            fields=about | {"keep": "yes"} if keep else about,
            shown={"reason": reason},
            danger=False,
        )
    here = link("host", host=unit)
    if not keep:
        moved = move_unit(visit.db, unit, agent, reason, visit.actor, visit.now_ms)
        return visit.go(here, done=_moved(unit, agent, moved))
    done = pin_unit(visit.db, unit, agent, reason, visit.actor, visit.now_ms)
    said = _("%(unit)s is pinned to %(agent)s.", unit=unit, agent=agent)
    if done.warning:
        said += " " + _("The pin has no effect yet: %(why)s.", why=sentence_of(done.warning))
    return visit.go(here, done=said)


def _moved(unit: str, agent: str, moved: int) -> str:
    if not moved:
        return _("%(agent)s already owns %(unit)s.", agent=agent, unit=unit)
    return ngettext(
        "%(unit)s goes to %(agent)s: %(num)s unit moved.",
        "%(unit)s goes to %(agent)s: %(num)s units moved.",
        moved,
        unit=unit,
        agent=agent,
    )


def unpin(visit: Visit) -> Response:
    """Unpin a unit: plans may move it again."""
    unit = visit.form.get("unit", "")
    unpin_units(visit.db, [unit], visit.actor, visit.now_ms)
    return visit.go(link("host", host=unit), done=_("%(unit)s is unpinned.", unit=unit))


def ban(visit: Visit) -> Response:
    """Ban an agent from a host; ask once."""
    host, agent, reason = _choice(visit, "host")
    here = link("host", host=host)
    if not visit.is_confirmed:
        return visit.ask(
            _("Ban %(host)s from %(agent)s?", host=host, agent=agent),
            _(
                "Hosts that share its address are banned, too. Units that it owns there go to "
                "other agents at once."
            ),
            _("The ban can be lifted at any time."),
            button=_("Ban"),
            back=here,
            fields={"host": host, "agent": agent},
            shown={"reason": reason},
        )
    moved = ban_host(visit.db, host, agent, reason, visit.actor, visit.now_ms, visit.policy)
    said = ngettext(
        "%(host)s is banned from %(agent)s: %(num)s unit moved.",
        "%(host)s is banned from %(agent)s: %(num)s units moved.",
        moved,
        agent=agent,
        host=host,
    )
    return visit.go(here, done=said)


def lift(visit: Visit) -> Response:
    """Lift the ban of an agent from a host."""
    host, agent, _reason = _choice(visit, "host")
    lift_ban(visit.db, host, agent, visit.actor, visit.now_ms)
    return visit.go(
        link("host", host=host), done=_("%(agent)s may get %(host)s again.", agent=agent, host=host)
    )


def _choice(visit: Visit, what: str) -> tuple[str, str, str]:
    """Return the unit or host, the agent and the reason of a form."""
    form = visit.form
    return form.get(what, ""), form.get("agent", ""), form.get("reason", "").strip()[:REASON_MOST]


PAGES: Final = (
    Page("GET", "/host", "viewer", show, query=("host",)),
    Page("POST", "/host/exclude", "operator", exclude, form="/host?host={host}"),
    Page("POST", "/host/include", "operator", include, form="/host?host={host}"),
    Page("POST", "/host/resolve", "operator", resolve, form="/host?host={host}"),
    Page("POST", "/host/decide-address", "operator", decide, form="/host?host={host}"),
    Page("POST", "/host/move", "operator", move, form="/host?host={unit}"),
    Page("POST", "/host/unpin", "operator", unpin, form="/host?host={unit}"),
    Page("POST", "/host/ban", "operator", ban, form="/host?host={host}"),
    Page("POST", "/host/lift-ban", "operator", lift, form="/host?host={host}"),
)

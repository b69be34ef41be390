"""Split a big host among agents, after a look at how it would be cut; and merge it again."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.language import _, ngettext
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link, number
from manager.operations.hosts.host_merge import merge_host
from manager.operations.hosts.host_split import Split, split_host
from manager.operations.hosts.host_views import HostDetail, host_detail
from manager.operations.hosts.splits.pieces import Piece
from shared.errors import FormatError

__all__ = ["PAGES"]

UNITS_SHOWN: Final = 5


def split(visit: Visit) -> Response:
    """Cut a host into pieces; ask once, with the pieces shown."""
    key, confirmed = visit.form.get("host", ""), visit.is_confirmed
    made = split_host(
        visit.db,
        key,
        visit.actor,
        visit.now_ms,
        parts=_whole(visit, "pieces"),
        interval_s=number(visit, "interval_s"),
        dry_run=not confirmed,
        policy=visit.policy,
    )
    if confirmed:
        done = ngettext(
            "%(host)s is split among %(num)s agent.",
            "%(host)s is split among %(num)s agents.",
            len(made.pieces),
            host=made.host,
        )
        return visit.go(link("host", host=made.host), done=done)
    fields = {name: visit.form.get(name, "") for name in ("pieces", "interval_s")}
    return visit.ask(
        ngettext(
            "Split %(host)s among %(num)s agent?",
            "Split %(host)s among %(num)s agents?",
            len(made.pieces),
            host=made.host,
        ),
        *map(_told, made.pieces),
        *_consequences(made),
        button=_("Split"),
        back=link("host", host=made.host),
        fields={"host": made.host, **fields},
        danger=False,
    )


def merge(visit: Visit) -> Response:
    """Merge a split host into one unit; ask once, and show the owner of each piece."""
    key = visit.form.get("host", "")
    if not visit.is_confirmed:
        detail = host_detail(visit.db, key)
        host = detail.host.key
        return visit.ask(
            _("Merge the pieces of %(host)s?", host=host),
            *_pieces(detail),
            _("From the next round on, the agent with its top directory gets all of it."),
            _("The history keeps the owner of each directory. It can be split again."),
            button=_("Merge"),
            back=link("host", host=host),
            fields={"host": host},
            danger=False,
        )
    merge_host(visit.db, key, visit.actor, visit.now_ms, visit.policy)
    return visit.go(link("host", host=key), done=_("%(host)s is one unit again.", host=key))


def _pieces(detail: HostDetail) -> list[str]:
    """Return each agent and its directories of a split host, the largest share first."""
    held: dict[str, list[str]] = defaultdict(list)
    owner_of = {row.unit_id: row.agent_id for row in detail.owners if row.until_ms is None}
    for unit in detail.units:
        if unit.merged_ms is None:
            owner = detail.agents.get(owner_of.get(unit.id, 0), _("none"))
            held[owner].append(unit.path)
    said = []
    for owner, paths in sorted(held.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        shown = ", ".join(paths[:UNITS_SHOWN])
        more = len(paths) - UNITS_SHOWN
        left = f" {ngettext('and %(num)s more', 'and %(num)s more', more)}" if more > 0 else ""
        said.append(_("%(agent)s has %(directories)s now.", agent=owner, directories=shown + left))
    return said


def _told(piece: Piece) -> str:
    more = len(piece.units) - UNITS_SHOWN
    units = ", ".join(piece.units[:UNITS_SHOWN])
    left = f" {ngettext('and %(num)s more', 'and %(num)s more', more)}" if more > 0 else ""
    return _(
        "%(agent)s: %(share)s of the work, %(pages)s pages, in %(units)s",
        agent=piece.agent,
        share=f"{piece.share:.0%}",
        pages=figures.count(piece.pages),
        units=units + left,
    )


def _consequences(made: Split) -> tuple[str, ...]:
    each_s = made.interval_s * len(made.pieces)
    rate = _(
        "Each waits %(each)s s between two requests, so the host receives the rate of one agent "
        "with %(one)s s.",
        each=f"{each_s:g}",
        one=f"{made.interval_s:g}",
    )
    return (rate, _("A round finishes it when no piece has anything left."))


def _whole(visit: Visit, name: str) -> int | None:
    found = number(visit, name)
    if found is None:
        return None
    if not found.is_integer():
        raise FormatError("console.whole_number_or_empty", name=name, value=found).about(name)
    return int(found)


PAGES: Final = (
    Page("POST", "/host/split", "operator", split, form="/host?host={host}"),
    Page("POST", "/host/merge", "operator", merge, form="/host?host={host}"),
)

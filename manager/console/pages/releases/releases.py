"""Releases: which versions run, who is offered what, how long signatures last; halt and widen.

What needs a key of a person is shown as the command to run where the key is: the web process has
none of them, and never signs. What takes the signed files is in `release_files`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.drawings.stacked_bars import stacked
from manager.console.language import _, lazy, ngettext, number
from manager.console.messages.sentences import actor
from manager.console.pages.releases.release_files import KEYS, key_line
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.console.tables.filters import choice_filter, text_filter
from manager.console.tables.kinds import BYTES, MOMENT, NUMBER, STATE
from manager.console.tables.sources import InMemory
from manager.console.tables.table import BUTTONS, Column, Table
from manager.db.releases.releases import ReleaseRow
from manager.operations.people.audit_log import audit_page
from manager.operations.releases.offer_snapshots import check_shown, offer_of, read_offer
from manager.operations.releases.release_views import list_releases
from manager.operations.releases.rollouts import (
    RINGS,
    AgentOffer,
    halt,
    offers,
    roll_out,
    set_minimum_version,
    too_old,
)
from shared.errors import about_field
from shared.frozen import frozen
from shared.versions import is_version, version_key

__all__ = ["PAGES", "RELEASES"]

COLOURS: Final = 7
FAILURES_SHOWN: Final = 10
RING_WORDS: Final = {
    "none": lazy("no agents"),
    "canary": lazy("the canaries"),
    "tenth": lazy("a tenth and the canaries"),
    "all": lazy("all"),
}


@frozen
class VersionShare:
    """Agents that say they run a version. name: its part of the bar."""

    name: str
    version: str
    agents: int
    is_release: bool
    is_too_old: bool


@frozen
class ReleaseLine:
    """A release. offered, running: agents; next_ring: where it would be widened to; empty: no."""

    row: ReleaseRow
    state: str
    offered: int
    running: int
    failed: int
    next_ring: str

    @property
    def shown(self) -> str:
        """Return how it is offered, as its forms carry it."""
        return str(offer_of(self.row))


STATES: Final = ("waiting", "offered", "halted", "revoked")


def _lines(rows: Sequence[ReleaseRow], fleet: Sequence[AgentOffer]) -> list[ReleaseLine]:
    return [_line(row, fleet) for row in rows]


def _line(row: ReleaseRow, fleet: Sequence[AgentOffer]) -> ReleaseLine:
    if row.revoked_ms is not None:
        state = "revoked"
    elif row.halted_ms is not None:
        state = "halted"
    else:
        state = "waiting" if row.ring == "none" else "offered"
    at = ("none", *RINGS).index(row.ring)
    return ReleaseLine(
        row,
        state,
        sum(one.offered == row.version for one in fleet),
        sum(one.running == row.version for one in fleet),
        sum(one.has_failed and one.told.version == row.version for one in fleet),
        RINGS[at] if state in ("waiting", "offered") and at < len(RINGS) else "",
    )


RELEASES: Final[Table[ReleaseLine]] = Table(
    "/releases",
    "Releases",
    InMemory(lambda visit: _lines(list_releases(visit.db).releases, offers(visit.db))),
    (
        Column(
            "version",
            lambda line: line.row.version,
            lazy("Version"),
            sort_by=lambda line: version_key(line.row.version),
        ),
        Column("state", lambda line: line.state, lazy("State"), STATE, sort=True),
        Column(
            "ring",
            lambda line: line.row.ring,
            lazy("Offered to"),
            sort_by=lambda line: ("none", *RINGS).index(line.row.ring),
        ),
        Column(
            "agents_offered_it",
            lambda line: line.offered,
            lazy("Agents with the offer"),
            NUMBER,
            sort="offered",
        ),
        Column(
            "agents_that_run_it",
            lambda line: line.running,
            lazy("Agents that run it"),
            NUMBER,
            sort="running",
        ),
        Column(
            "updates_that_failed", lambda line: line.failed, lazy("Failed"), NUMBER, sort="failed"
        ),
        Column(
            "published", lambda line: line.row.published_ms, lazy("Published"), MOMENT, sort=True
        ),
        Column("published_by", lambda line: line.row.published_by),
        Column("file", lambda line: line.row.target, about="its name"),
        Column("size", lambda line: line.row.size_bytes, lazy("File"), BYTES, sort=True),
        Column("sha256", lambda line: line.row.sha256),
        BUTTONS,
    ),
    filters=(
        text_filter(lazy("Version"), lazy("part of a version"), lambda line: line.row.version),
        choice_filter("state", lazy("State"), STATES, lambda line: line.state),
    ),
    default_sort="-version",
)


def show(visit: Visit) -> Response:
    """Show releases, the fleet's versions, what is signed until when, and what failed."""
    found, fleet = list_releases(visit.db), offers(visit.db)
    shares = _shares(fleet, [row.version for row in found.releases], found.minimum)
    failed = [one for one in fleet if one.has_failed]
    failed.sort(key=lambda one: -(one.told.reported_ms or 0))
    return visit.page(
        "releases.html",
        list=RELEASES.view(visit, _lines(found.releases, fleet)),
        rings=RING_WORDS,
        begun=bool(found.metadata),
        everybody=len(fleet),
        due=sum(one.is_due for one in fleet),
        canaries=sum(one.told.canary for one in fleet),
        pinned=sum(bool(one.told.pin) for one in fleet),
        shares=shares,
        bar=stacked([(one.name, float(one.agents)) for one in shares]),
        keys=KEYS.part(visit, [key_line(one, visit.now_ms) for one in found.metadata]),
        failed=failed[:FAILURES_SHOWN],
        failed_left=max(0, len(failed) - FAILURES_SHOWN),
        minimum=found.minimum,
        unrolled=_unrolled(found.releases),
        bundle_bytes=visit.services.settings.releases.bundle_bytes,
        versions=[row.version for row in found.releases if row.revoked_ms is None],
        newest=found.releases[0].version if found.releases else "",
    )


def _unrolled(releases: Sequence[ReleaseRow]) -> str:
    """Return why no lowest version can be set: no site below it could get to a later one."""
    for_all = [
        row for row in releases if row.ring == "all" and not (row.revoked_ms or row.halted_ms)
    ]
    if for_all or not releases:
        return ""
    return _(
        "No release is rolled out to all agents, so older sites could not update to it: offer one "
        "to all first."
    )


def _shares(
    fleet: Sequence[AgentOffer], releases: Sequence[str], minimum: str
) -> list[VersionShare]:
    """Return the fleet's versions, the newest first; what says none, or nonsense, comes last."""
    counts: dict[str, int] = {}
    for one in fleet:
        counts[one.running] = counts.get(one.running, 0) + 1
    known = sorted((name for name in counts if is_version(name)), key=version_key, reverse=True)
    others = sorted(name for name in counts if not is_version(name))
    return [
        VersionShare(
            f"v{min(place, COLOURS - 1)}" if is_version(version) else "unknown",
            version,
            counts[version],
            version in releases,
            too_old(minimum, version),
        )
        for place, version in enumerate([*known, *others])
    ]


def _ring(name: str) -> str:
    return str(RING_WORDS.get(name, name))


def stop(visit: Visit) -> Response:
    """Halt the rollout of a release; needs no key."""
    version = visit.form.get("version", "")
    if not visit.is_confirmed:
        line = _of(visit, version)
        waiting = sum(one.is_due and one.offered == version for one in offers(visit.db))
        return visit.ask(
            _("Halt %(version)s?", version=version),
            ngettext(
                "%(num)s agent that was offered it and does not run it yet keeps its version.",
                "%(num)s agents that were offered it and do not run it yet keep their versions.",
                waiting,
            ),
            ngettext(
                "%(num)s agent that runs it keeps it. To remove it there too, revoke it: "
                "that needs the key of releases.",
                "%(num)s agents that run it keep it. To remove it there too, revoke it: "
                "that needs the key of releases.",
                line.running,
            ),
            _("You can resume it at any time."),
            button=_("Halt"),
            back=link("releases"),
            fields={"version": version},
        )
    halt(visit.db, version, visit.actor, visit.now_ms)
    return visit.go(
        link("releases"), done=_("%(version)s is halted: it is no longer offered.", version=version)
    )


def widen(visit: Visit) -> Response:
    """Offer a release to a ring; a halted rollout resumes."""
    version, ring = visit.form.get("version", ""), visit.form.get("ring", "")
    shown = read_offer(visit.form.get("shown", ""))
    if not visit.is_confirmed:
        line = _of(visit, version)
        check_shown(line.row, shown)
        return visit.ask(
            _("Offer %(version)s to %(ring)s?", version=version, ring=_ring(ring)),
            *_offered_now(visit, line.row),
            _(
                "Agents check for their release daily, install it themselves, and roll "
                "back if no sync succeeds."
            ),
            ngettext(
                "%(num)s agent runs it now; %(failed)s tried it and failed.",
                "%(num)s agents run it now; %(failed)s tried it and failed.",
                line.running,
                failed=number(line.failed),
            ),
            button=_("Offer"),
            back=link("releases"),
            fields={"version": version, "ring": ring, "shown": line.shown},
            danger=False,
        )
    roll_out(visit.db, version, ring, visit.actor, visit.now_ms, shown=shown)
    return visit.go(
        link("releases"),
        done=_("%(version)s is offered to %(ring)s.", version=version, ring=_ring(ring)),
    )


def _offered_now(visit: Visit, row: ReleaseRow) -> Iterator[str]:
    """Yield sentences on who is offered a release now, and who halted it."""
    if row.halted_ms is None:
        yield _("It is offered to %(ring)s now.", ring=_ring(row.ring))
        return
    halts = audit_page(visit.db, action="release.halt", subject=row.version, limit=1)
    known = halts and halts[0].at_ms == row.halted_ms
    yield _(
        "%(who)s halted it %(ago)s (%(time)s), when it was offered to %(ring)s. This resumes the "
        "rollout.",
        who=actor(halts[0].actor_name) if known else _("A user"),
        ago=figures.ago(row.halted_ms, visit.now_ms),
        time=figures.moment(row.halted_ms),
        ring=_ring(row.ring),
    )


def _of(visit: Visit, version: str) -> ReleaseLine:
    """Return a release; one that does not exist is all zeroes, and refused by the operation."""
    fleet = offers(visit.db)
    for row in list_releases(visit.db).releases:
        if row.version == version:
            return _line(row, fleet)
    nothing = ReleaseRow(0, version, "", "", 0, "", 0, "none", None, None, None)
    return _line(nothing, fleet)


def minimum(visit: Visit) -> Response:
    """Give agents below a version no work."""
    version, shown = visit.form.get("version", "").strip(), visit.form.get("shown")
    if version and not visit.is_confirmed:
        with about_field("version"):
            version_key(version)
        below = sum(too_old(version, one.running) for one in offers(visit.db))
        return visit.ask(
            _("Stop work for agents below %(version)s?", version=version),
            ngettext(
                "%(num)s agent runs an older version now: its syncs are refused, and its "
                "units go to others.",
                "%(num)s agents run an older version now: their syncs are refused, and "
                "their units go to others.",
                below,
            ),
            _("Pages that they have fetched are still accepted."),
            _("Use this for incompatible versions only; it can be lifted at any time."),
            button=_("Set the lowest version"),
            back=link("releases"),
            fields={"version": version} | ({} if shown is None else {"shown": shown}),
        )
    set_minimum_version(visit.db, version, visit.actor, visit.now_ms, shown=shown)
    said = _("Agents below %(version)s get no work.", version=version)
    return visit.go(link("releases"), done=said if version else _("All versions get work."))


PAGES: Final = (
    *RELEASES.pages(show),
    Page("POST", "/releases/halt", "admin", stop, form="/releases"),
    Page("POST", "/releases/rollout", "admin", widen, form="/releases"),
    Page("POST", "/releases/minimum", "admin", minimum, form="/releases"),
)

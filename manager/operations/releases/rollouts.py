"""Rollouts: rings, halts, pins, and the lowest version that still gets work.

None of it needs a key: an offer can only name a release that people signed, and the launcher at the
site checks that for itself. Invariant: a release that is halted or revoked is not offered, and no
agent is offered a version below its own, except by its own pin (the launcher still refuses versions
older than all it had, except its last good one).

Where they contradict, the minimum goes first: below it nothing is offered, pinned or not. So none
is set that sites could not reach, and none is pinned below it. A site's own pin is the site's: it
stays, and gets no work.
"""

from __future__ import annotations

import hashlib
from typing import Final, Literal, get_args

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.releases import releases
from manager.db.releases.releases import AgentReleaseRow, ReleaseRow
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.identity.enrolment import AgentIdentity, agent_named
from manager.operations.releases.offer_snapshots import ShownOffer, check_shown
from shared.errors import about_field, check_choice
from shared.frozen import frozen
from shared.messages import Message
from shared.versions import is_version, version_key

__all__ = [
    "RINGS",
    "AgentOffer",
    "Offer",
    "Ring",
    "halt",
    "offer_for",
    "offers",
    "pin_version",
    "roll_out",
    "set_canary",
    "set_minimum_version",
    "too_old",
]

Ring = Literal["canary", "tenth", "all"]
RINGS: Final[tuple[Ring, ...]] = get_args(Ring)
TENTH: Final = 10


@frozen
class Offer:
    """Version offered to an agent. version: empty: nothing new. target: the file's signed name."""

    version: str
    target: str
    minimum: str
    why: Message


@frozen
class AgentOffer:
    """An agent that takes part: what it runs, what it is offered, how its last update went.

    offered: what its ring or pin gives it, also where it runs that already; empty: nothing.
    """

    agent: str
    running: str
    offered: str
    why: Message
    told: AgentReleaseRow

    @property
    def is_due(self) -> bool:
        """Return whether it is offered something that it does not run."""
        return bool(self.offered) and self.offered != self.running

    @property
    def has_failed(self) -> bool:
        """Return whether its last update did not end well."""
        return self.told.outcome not in ("", "updated", "unreached")


def roll_out(
    db: Database,
    version: str,
    ring: str,
    actor: Actor,
    now_ms: int,
    *,
    shown: ShownOffer | None = None,
) -> None:
    """Offer a release to a ring: the canaries, a tenth of the agents, all; ends a halt of it.

    shown: the offer that the person saw; None: any. Raises NotFoundError, ConflictError (revoked;
    differs from the shown one), FormatError (no such ring).
    """
    with about_field("ring"):
        check_choice("ring", ring, RINGS)
    with db.write() as tx:
        row = _release(tx, version)
        if row.revoked_ms is not None:
            raise ConflictError("releases.revoked", version=version).about("version")
        check_shown(row, shown)
        releases.change(tx, version, ring=ring, rolled_out_ms=now_ms, halted_ms=None)
        ended = {} if row.halted_ms is None else {"ended_halt": True}
        note(tx, now_ms, actor, "release.rollout", version, ring=ring, before=row.ring, **ended)


def halt(db: Database, version: str, actor: Actor, now_ms: int) -> None:
    """Stop offering a release until it is rolled out again; agents that run it keep it.

    It is never refused for another person's change meanwhile. Raises NotFoundError. A repeat
    changes nothing.
    """
    with db.write() as tx:
        row = _release(tx, version)
        if row.halted_ms is None:
            releases.change(tx, version, halted_ms=now_ms)
            note(tx, now_ms, actor, "release.halt", version, ring=row.ring)


def set_canary(db: Database, agent: str, actor: Actor, now_ms: int, *, canary: bool) -> None:
    """Put an agent among the first that are offered a release, or remove it."""
    with db.write() as tx:
        releases.change_agent(tx, agent_named(tx, agent).id, canary=canary)
        note(tx, now_ms, actor, "release.set-canary", agent, canary=canary)


def pin_version(
    db: Database,
    agent: str,
    version: str,
    actor: Actor,
    now_ms: int,
    *,
    shown: str | None = None,
) -> None:
    """Offer an agent this version and no other; empty: what its ring is offered.

    shown: the pin that the person saw, empty for none; None: it may be any. Raises NotFoundError,
    ConflictError (revoked, or below the minimum; another pin than was shown).
    """
    with db.write() as tx:
        row = agent_named(tx, agent)
        if shown is not None and shown != (pin := releases.agent_release(tx, row.id).pin):
            code = "releases.pin_changed" if pin else "releases.pin_removed"
            raise ConflictError(code, agent=agent, pin=pin)
        if version and _release(tx, version).revoked_ms is not None:
            raise ConflictError("releases.revoked_pin", version=version).about("version")
        minimum = releases.minimum(tx)
        if too_old(minimum, version):
            raise ConflictError("releases.below_minimum", version=version, minimum=minimum).about(
                "version"
            )
        releases.change_agent(tx, row.id, pin=version)
        note(tx, now_ms, actor, "release.pin", agent, version=version)


def set_minimum_version(
    db: Database, version: str, actor: Actor, now_ms: int, *, shown: str | None = None
) -> None:
    """Refuse permits to agents below a version from now on; empty: each version gets one.

    Their fetched data is accepted all the same. A pin below it is no longer valid. shown: the
    minimum that the person saw, empty for none; None: it may be any. Raises FormatError,
    ConflictError (no release from this version on is rolled out to all; another than was shown).
    """
    with about_field("version"):
        if version:
            version_key(version)
    with db.write() as tx:
        minimum = releases.minimum(tx)
        if shown not in (None, minimum):
            code = "releases.minimum_changed" if minimum else "releases.minimum_removed"
            raise ConflictError(code, minimum=minimum)
        found = releases.all_releases(tx)
        offered = [row for row in found if _is_offered(row, version) and row.ring == "all"]
        if version and found and not offered:
            raise ConflictError("releases.minimum_unreachable", version=version[:64]).about(
                "version"
            )
        releases.set_minimum(tx, version)
        note(tx, now_ms, actor, "release.set-minimum", version or "none")


def offer_for(db: Database, agent: AgentIdentity, running: str) -> Offer:
    """Return what an agent is to run, by its pin or its ring.

    running: the version that it says it runs; one that is unknown is offered the newest of its
    ring, and its launcher installs nothing else.
    """
    with db.read() as tx:
        found = releases.all_releases(tx)
        told = releases.agent_release(tx, agent.id)
        minimum = releases.minimum(tx)
    best, why = _best(found, told, agent.name, minimum)
    if best is None or best.version == running:
        return Offer("", "", minimum, why if best is None else Message("releases.running_offered"))
    if not told.pin and is_version(running) and version_key(running) > version_key(best.version):
        newer = Message("releases.running_newer", running=running, version=best.version)
        return Offer("", "", minimum, newer)
    return Offer(best.version, best.target, minimum, why)


def offers(db: Database) -> list[AgentOffer]:
    """Return what each agent of the fleet is offered, by name; plain and retired ones are not."""
    with db.read() as tx:
        found = releases.all_releases(tx)
        told = releases.agent_releases_of_all(tx)
        minimum = releases.minimum(tx)
        rows = agents.all_agents(tx)
    made = []
    for row in rows:
        if row.retired_ms is not None or row.is_plain:
            continue
        own = told.get(row.id, AgentReleaseRow(row.id))
        best, _ = _best(found, own, row.name, minimum)
        made.append(_agent_offer(row, best, own, minimum))
    return sorted(made, key=lambda one: one.agent)


def _agent_offer(
    row: AgentRow, best: ReleaseRow | None, told: AgentReleaseRow, minimum: str
) -> AgentOffer:
    if told.pin and not too_old(minimum, told.pin):
        offered = "" if best is None else best.version
        why = Message("releases.pinned", version=told.pin)
    elif best is None:
        offered, why = "", Message("releases.no_rollout")
    elif is_version(row.version) and version_key(row.version) > version_key(best.version):
        offered, why = "", Message("releases.newer_than_offered", version=best.version)
    else:
        offered, why = best.version, Message("releases.ring", ring=best.ring)
    return AgentOffer(row.name, row.version, offered, why, told)


def too_old(minimum: str, version: str) -> bool:
    """Return whether an agent of a version gets no work; what says no version counts as newest."""
    if not minimum or not is_version(version):
        return False
    return version_key(version) < version_key(minimum)


def _best(
    found: list[ReleaseRow], told: AgentReleaseRow, name: str, minimum: str
) -> tuple[ReleaseRow | None, Message]:
    offered = [row for row in found if _is_offered(row, minimum)]
    below = too_old(minimum, told.pin)
    if told.pin and not below:
        pinned = [row for row in offered if row.version == told.pin]
        pin = Message("releases.your_pin", version=told.pin)
        return (pinned[0] if pinned else None), pin
    over = None
    if below:
        over = Message("releases.pin_below_minimum", pin=told.pin, minimum=minimum)
    mine = [row for row in offered if _is_for(row, told.canary, name)]
    if not mine:
        return None, _with(Message("releases.your_rollout_empty"), over)
    best = max(mine, key=lambda row: version_key(row.version))
    return best, _with(Message("releases.your_ring", ring=best.ring), over)


def _with(reason: Message, other: Message | None) -> Message:
    return reason if other is None else Message("releases.reasons", reasons=(reason, other))


def _is_offered(row: ReleaseRow, minimum: str) -> bool:
    usable = row.revoked_ms is None and row.halted_ms is None
    return usable and not too_old(minimum, row.version)


def _is_for(row: ReleaseRow, canary: bool, name: str) -> bool:
    if row.ring == "all":
        return True
    if row.ring == "tenth":
        # Another tenth each time, so that no agent always takes the first risk.
        drawn = hashlib.sha256(f"{row.version} {name}".encode()).digest()
        return canary or int.from_bytes(drawn[:8], "big") % TENTH == 0
    return row.ring == "canary" and canary


def _release(tx: Transaction, version: str) -> ReleaseRow:
    row = releases.by_version(tx, version)
    if row is None:
        raise NotFoundError("releases.not_published", version=version[:40], see="release").about(
            "version"
        )
    return row

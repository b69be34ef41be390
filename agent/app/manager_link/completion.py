"""Finished units that are safe to report to the manager.

Of a piece of a split host the manager must know every page that was found for the other pieces
before it hears that nothing is left of this one: else all could be at rest while a page is on its
way. So a piece is reported only when all URLs that were found before it came to rest are with
the manager, and only while it still rests.
Source: Dijkstra and Scholten (1980), termination detection for diffusing computations.
"""

from __future__ import annotations

from agent.app.session.session import CrawlSession
from agent.link.outbox import Outbox
from agent.modules.server_list.scope import Scope
from shared.wire.sync import FinishedUnit

__all__ = ["first_unsent", "reportable_units"]


def reportable_units(session: CrawlSession, outbox: Outbox, limit: int) -> tuple[FinishedUnit, ...]:
    """Return the units that are done and not acknowledged, as far as they may be reported now."""
    scope = session.scope
    pending = [one for one in session.reports.pending_finished(limit) if not _goes_on(one, scope)]
    pieces = {one.unit for one in pending if _is_piece(one, scope)}
    if not pieces:
        return tuple(pending)
    unsent = first_unsent(session, outbox)
    at_rest = {
        unit
        for unit in pieces
        if (unit in scope.resting or unit in scope.finished)
        and (unsent is None or session.reports.outside_before(unit) < unsent)
    }
    return tuple(one for one in pending if one.unit not in pieces or one.unit in at_rest)


def first_unsent(session: CrawlSession, outbox: Outbox) -> int | None:
    """Return the number of the oldest URL for M2 that is not with the manager; None: all are."""
    numbers = [int(one.key.split("-")[1]) for one in outbox.waiting() if one.kind == "hosts"]
    oldest = session.reports.oldest_outside()
    if oldest is not None:
        numbers.append(oldest)
    return min(numbers, default=None)


def _goes_on(one: FinishedUnit, scope: Scope) -> bool:
    """Return whether a unit was opened again since it was done."""
    job = scope.jobs.get(one.unit)
    if job is None or job.is_piece or (job.round, job.kind) != (one.round, one.kind):
        return False
    return one.unit not in scope.finished


def _is_piece(one: FinishedUnit, scope: Scope) -> bool:
    job = scope.jobs.get(one.unit)
    return job is not None and job.is_piece and (job.round, job.kind) == (one.round, one.kind)

"""Completion of jobs, checked at ticks when nothing of them is under way.

Invariant: a job is done only when nothing of it waits or is under way, or when it has stopped for
a reason and nothing is under way. One of which not a single page was had is not complete but
unreachable. A piece of a split host is done in the same way, but stays:
others may find more of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from agent.modules.counts import StopCounts
from agent.modules.frontier.queues import JobQueue
from agent.modules.frontier.registry import Registry
from agent.modules.limits import OUTSIDE_SCOPE
from agent.pipeline.handler import Output
from agent.pipeline.messages.jobs import Job, UnitFinished
from agent.pipeline.messages.robots import RulesDue
from shared.host_failures import HostFailure
from shared.urls import host_of

__all__ = ["JobCompletion"]

COMPLETE: Final = "complete"
LOOKED_AT_A_TICK: Final = 2000  # jobs: a list of a million begins at once


class JobCompletion:
    """Looks at jobs that may be done. given_up: counts URLs that are not fetched."""

    def __init__(self, registry: Registry, given_up: StopCounts) -> None:
        self._registry = registry
        self._given_up = given_up

    def finished(self) -> Iterator[Output]:
        """Report the jobs that are done. To be called when nothing is on its way inside."""
        registry = self._registry
        self._look_at_fresh()
        for number in list(islice(registry.dirty, LOOKED_AT_A_TICK)):
            registry.dirty.pop(number, None)
            queue = registry.address_memory.load_job(number)
            if queue is None:
                # Not placed, at least not here: done only if no URL of it passed the filters.
                job = registry.open_job(number)
                if job is not None and not registry.ledger.queued(number):
                    yield "finished", self._finished_asleep(job)
                continue
            reason = self._reason(queue)
            if reason:
                if queue.job.is_piece and reason == COMPLETE:
                    registry.let_rest(queue)
                else:
                    registry.drop_job(queue)
                yield "finished", self._finished(queue, reason)
            registry.address_memory.may_unload(queue.host.address)

    def _look_at_fresh(self) -> None:
        """Schedule some of the jobs that have just begun for a look."""
        fresh = self._registry.fresh
        while fresh and len(self._registry.dirty) < LOOKED_AT_A_TICK:
            numbers = fresh[0]
            self._registry.dirty.update(dict.fromkeys(numbers[-LOOKED_AT_A_TICK:]))
            del numbers[-LOOKED_AT_A_TICK:]
            if not numbers:
                fresh.popleft()

    def _finished_asleep(self, job: Job) -> UnitFinished:
        """Return the end of a job without a URL of which nothing is awake."""
        row = self._registry.ledger.job(job.number)
        if row is None or not row.address:
            return UnitFinished.of(job, host_of(job.unit), "nothing to fetch")
        reason, failure = COMPLETE, None
        if row.pages and not row.kept and not job.is_piece:
            reason, failure = "unreachable: no page answered", HostFailure.UNREACHABLE
        return UnitFinished.of(job, row.host, reason, failure, row.pages, row.response_bytes)

    def _finished(self, queue: JobQueue, reason: str) -> UnitFinished:
        """Return the end of a job that was awake."""
        row = self._registry.ledger.job(queue.job.number)
        failure = queue.failure if queue.stopped else None
        if row is not None and row.kept > queue.faults:
            failure = None
        elif not queue.stopped and self._no_page(queue):
            failure = HostFailure.UNREACHABLE
        host, pages, size_bytes = queue.host, queue.pages, queue.response_bytes
        delay_s = host.crawl_delay_s if host.rules == "known" else None
        return UnitFinished.of(queue.job, host.name, reason, failure, pages, size_bytes, delay_s)

    def _reason(self, queue: JobQueue) -> str:
        """Return why a job is done; "": it is not."""
        host, number = queue.host, queue.job.number
        rules_under_way = host.in_flight and isinstance(host.address.holder, RulesDue)
        if queue.under_way or host.leaves_to or rules_under_way:
            return ""
        if not queue.stopped and not queue.at_limit:
            if queue.waits:
                return ""
            if not self._registry.ledger.queued(number):
                return self._no_page(queue) or COMPLETE
            assert queue.front is not None  # nothing waits
            queue.front.begin_again()
            self._registry.turns.offer_job(queue)
            return ""
        left = self._registry.ledger.queued(number)
        if not left and not queue.stopped:
            return self._no_page(queue) or COMPLETE
        at_limit = "page limit" if queue.limit else OUTSIDE_SCOPE
        reason = queue.stopped or self._no_page(queue) or at_limit
        if left:
            kind, _, why = reason.partition(": ")
            unit = queue.job.unit
            self._given_up.add(kind, f"{unit} ({why})" if why else unit, left)
        return reason

    def _no_page(self, queue: JobQueue) -> str:
        """Return why not a single page of a job was had; "": one was, or there was none.

        A piece of a split host continues, whatever its first pages were: others find more of it.
        """
        if queue.job.is_piece:
            return ""
        row = self._registry.ledger.job(queue.job.number)
        if row is None or not row.pages or row.kept > queue.faults:
            return ""
        return f"unreachable: {queue.trouble or 'no page answered'}"

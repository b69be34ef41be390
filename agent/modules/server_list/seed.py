"""Turns the manager's list into jobs, and says when one is done.

A list comes in slices (`list_change`), so that requests are sent between them. A job in both
lists keeps its seen-set, queue and counters. A list may come at any time, and as often as it
likes; it is compared with the part of the one before that was carried out.

Invariant: ledger and scope hold the same jobs, also between two slices. A job is reported as
finished exactly once, and one that left the list as closed exactly once: when no request to its
host is under way that a job which left the list began.
A piece of a split host is not finished but rests when nothing of it is left: its queue and
seen-set stay, and a list that has a new start page for it wakes it. A whole host that was crawled
to its end is done, and its seen-set stays for the round: a list that has a page for it that it
never met opens it again (ADR 203). A probe that ended as it should keeps its queue too: a list
that has its unit to crawl in that round makes it the crawl, which fetches nothing twice (ADR 204).
Leaves to others: whether a URL is worth fetching (filter), and when nothing is left (frontier).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from agent.modules.server_list.scope import Scope
from agent.pipeline.handler import Input, Inputs, Output
from agent.pipeline.ledger import Ledger, QueuedUrl
from agent.pipeline.messages.hosts import HostFailed
from agent.pipeline.messages.jobs import Job, ListChanged, ListSlice, UnitClosed, UnitFinished
from agent.pipeline.messages.pages import RULES_DEPTH, Links
from shared.archive.errors import DiskFullError
from shared.urls import canonical, host_of

__all__ = ["Seed"]

NOTHING_LEFT: Final = ("complete", "nothing to fetch")
"""Reasons after which a unit may continue; the others are limits and failures."""

PROBED: Final = ("complete", "page limit")
"""Reasons after which a crawl may continue a probe."""


class Seed:
    """The module `seed`."""

    def __init__(self, ledger: Ledger, scope: Scope) -> None:
        """Take up the list in force."""
        self._ledger = ledger
        self.scope = scope  # what the agent holds now
        self.shares_hosts = ledger.shares_hosts()
        self.probes_finished = 0  # since the process started, and those that it found finished
        self._count_probes(scope.finished)
        self._closing: dict[str, set[int]] = {}  # by host: jobs of which a frontier has something
        self._held_back: dict[str, list[UnitClosed]] = {}  # by host: until those are closed

    def inputs(self) -> Inputs:
        """Return the inputs by name."""
        return {
            "list": Input(ListSlice, self.handle_list),
            "finished": Input(UnitFinished, self.handle_finished),
            "failed": Input(HostFailed, self.handle_failed),
            "quiet": Input(UnitClosed, self.handle_quiet),
        }

    def handle_failed(self, failures: Sequence[HostFailed]) -> Iterator[Output]:
        """Finish the jobs of hosts that have no address."""
        return self.handle_finished([unit for one in failures for unit in self._failed(one)])

    def handle_list(self, batch: Sequence[ListSlice]) -> Iterator[Output]:
        """Carry out slices of a list."""
        for one in batch:
            yield from self._take_slice(one)

    def _take_slice(self, one: ListSlice) -> Iterator[Output]:
        self.shares_hosts = one.shares_hosts or (self.shares_hosts and not one.last)
        altered, lost = self._with_probes(one.altered)
        ended, closed = self._end((*one.ended, *(job.number for job in lost)))
        new_pages: dict[str, Sequence[tuple[str, str | None]]] = {}
        probed = tuple(job for job in altered if self.scope.jobs[job.unit].kind != job.kind)
        for job in altered:
            new_pages[job.unit] = self._alter(job)
        for job in probed:
            self._continue_probe(job)
        reopened = tuple(job for job in altered if self._reopens(job, new_pages[job.unit]))
        first = (*one.begun, *((job, None) for job in lost))
        begun = [self._begin(job) for job, _ in first]
        for job in begun:
            new_pages[job.unit] = job.start_pages
        woken = tuple(job for job in altered if self._wakes(job, new_pages[job.unit]))
        if begun or ended or altered or one.last:
            yield (
                "changed",
                ListChanged(
                    (*begun, *reopened, *probed),
                    tuple(ended),
                    frozenset(closed),
                    woken=woken,
                    altered=altered,
                    probed=probed,
                    last=one.last,
                ),
            )
        yield from self._close(ended, closed)
        for job, (_, referer) in zip(begun, first, strict=True):
            if job.kind != "refetch" and (not job.is_piece or job.unit == host_of(job.unit)):
                yield "links", Links((canonical(job.unit),), referer, 0, 0)
        for unit, pages in new_pages.items():
            if unit not in self.scope.finished:
                for url, referer in pages:
                    yield "links", Links((url,), referer, 0, 0)

    def _with_probes(self, altered: Sequence[Job]) -> tuple[tuple[Job, ...], tuple[Job, ...]]:
        """Return the jobs that continue, and crawls whose probes cannot be counted.

        Where the disk has no room for the line that counts the probe, the crawl starts again: the
        log must account for all of its pages.
        """
        lost: list[Job] = []
        for job in altered:
            if self.scope.jobs[job.unit].kind == job.kind:
                continue
            try:
                self._ledger.count_probe(job.unit, job.round)
            except DiskFullError:
                lost.append(job)
        return tuple(job for job in altered if job not in lost), tuple(lost)

    def _continue_probe(self, job: Job) -> None:
        """Make a probe that is done the crawl of its unit, which first asks for the host's rules.

        A probe takes neither sitemaps nor well-known files, and its queue may be empty.
        """
        self._ledger.reopen_job(job.number)
        self.scope.units.reopen(job.unit)
        rules = canonical(host_of(job.unit)) + "robots.txt"
        self._ledger.push([QueuedUrl(0, rules, job.number, RULES_DEPTH, 0, None)])

    def _end(self, numbers: Iterable[int]) -> tuple[list[Job], set[int]]:
        """Drop jobs; return them, and the numbers of those that no frontier has anything of."""
        ended: list[Job] = []
        closed: set[int] = set()
        for number in numbers:
            row = self._ledger.job(number)
            if row is None:
                continue
            ended.append(row.job)
            if row.finished or not row.address:
                closed.add(number)
            self._ledger.drop_job(number)
            self.scope.units.end(row.job.unit)
            self.scope.jobs.forget(number)
            self.scope.resting.discard(row.job.unit)
        return ended, closed

    def _alter(self, job: Job) -> list[tuple[str, str | None]]:
        """Put a job under other orders; return the start pages that it did not have before."""
        before = self.scope.jobs[job.unit]
        self._ledger.open_job(job)
        self.scope.jobs.forget(job.number)
        known = {url for url, _ in before.start_pages}
        return [page for page in job.start_pages if page[0] not in known]

    def _begin(self, job: Job) -> Job:
        job = replace(job, number=self._ledger.new_job_number())
        self._ledger.open_job(job)
        self.scope.units.begin(job.number, job.unit)
        return job

    def _wakes(self, job: Job, new_pages: Iterable[object]) -> bool:
        """Return whether a job ends its rest: it may have something to fetch."""
        if job.unit not in self.scope.resting or not new_pages:
            return False
        self.scope.resting.discard(job.unit)
        return True

    def _reopens(self, job: Job, new_pages: Sequence[tuple[str, str | None]]) -> bool:
        """Return whether a job that was done continues: others found pages that it never met."""
        if job.unit not in self.scope.finished:
            return False
        if all(self._ledger.has_met(job.number, url) for url, _ in new_pages):
            return False
        if not self._ledger.reopen_job(job.number):
            return False
        self.scope.units.reopen(job.unit)
        return True

    def _close(self, ended: Sequence[Job], closed: set[int]) -> Iterator[Output]:
        for job in ended:
            if job.number not in closed:
                self._closing.setdefault(host_of(job.unit), set()).add(job.number)
        for job in ended:
            if job.number in closed:
                unit = UnitClosed(job.number, job.unit, host_of(job.unit))
                if unit.host in self._closing:
                    self._held_back.setdefault(unit.host, []).append(unit)
                else:
                    yield "closed", unit

    def handle_quiet(self, batch: Sequence[UnitClosed]) -> Iterator[Output]:
        """Report ended jobs as closed, with those that waited for the last one of their host."""
        for unit in batch:
            yield "closed", unit
            others = self._closing.get(unit.host, set())
            others.discard(unit.job)
            if not others:
                self._closing.pop(unit.host, None)
                for held_back in self._held_back.pop(unit.host, ()):
                    yield "closed", held_back

    def _count_probes(self, units: Iterable[str]) -> None:
        jobs = self.scope.jobs
        self.probes_finished += sum(jobs[unit].kind != "crawl" for unit in units)

    def _failed(self, failure: HostFailed) -> Iterator[UnitFinished]:
        for unit in self.scope.units.of_host(failure.host):
            job = self.scope.jobs[unit]
            # Such a host was never placed: nothing of it was fetched.
            reason = f"unreachable: {failure.reason}"
            yield UnitFinished.of(job, failure.host, reason, failure.failure)

    def handle_finished(self, units: Sequence[UnitFinished]) -> Iterator[Output]:
        """Note that jobs are done, and report each once."""
        done: dict[str, UnitFinished] = {}
        for unit in units:
            job = self.scope.jobs.get(unit.unit)
            current = job is not None and job.number == unit.job
            if current and unit.unit not in self.scope.finished:
                done.setdefault(unit.unit, unit)
        if not done:
            return
        resting = {
            name
            for name, unit in done.items()
            if unit.reason in NOTHING_LEFT and self.scope.jobs[name].is_piece
        }
        news = [unit for unit in done.values() if unit.unit not in self.scope.resting]
        self.scope.resting.update(resting)
        ended = done.keys() - resting
        self.scope.resting.difference_update(ended)
        for name in ended:
            unit = done[name]
            may_reopen = unit.kind == "crawl" and unit.reason in NOTHING_LEFT
            keeps_queue = unit.kind == "probe" and unit.reason in PROBED and unit.round > 0
            self._ledger.finish_job(
                unit.job,
                may_reopen=may_reopen and unit.failure is None,
                keeps_queue=keeps_queue and unit.failure is None,
            )
            self.scope.units.finish(name)
        self._count_probes(ended)
        jobs = tuple(self.scope.jobs[unit] for unit in done if unit in ended)
        if jobs:
            yield "changed", ListChanged(done=jobs)
        for unit in news:
            yield "finished", unit

"""Turns the manager's list into jobs, and says when one is done.

A unit of the new list that was there before in the same round and kind goes on as the same job
(to fetch pages again: if they are the same pages): its seen-set, queue and counters stay.
Everything else that was there ends, everything else that is new begins. A list may come at any
time, and as often as it likes.

Invariant: a job is reported as finished exactly once, and one that left the list as closed exactly
once: when no request to its host is under way that a job which left the list began.
A piece of a split host is not finished but rests when nothing of it is left: its queue and
seen-set stay, and a list that has a new start page for it wakes it.
Leaves to others: whether a URL is worth fetching (filter), and when nothing is left (frontier).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from agent.modules.counts import StopCounts
from agent.modules.scope import scope_of
from agent.pipeline.messages import (
    HostFailed,
    Job,
    Links,
    ListChanged,
    Scope,
    ServerList,
    UnitClosed,
    UnitFinished,
)
from agent.pipeline.ports import Ledger
from agent.pipeline.spec import Output
from shared.errors import UrlError
from shared.units import UnitIndex, is_unit, unit_key
from shared.urls import canonical, host_of
from shared.wire.orders import Order

__all__ = ["Seed"]

NOTHING_LEFT: Final = ("complete", "nothing to fetch")
"""Reasons after which a piece may go on; the others are limits and failures."""


class Seed:
    """The module `seed`."""

    def __init__(self, ledger: Ledger, scope: Scope, skipped: StopCounts) -> None:
        """Take up the list in force.

        skipped: counts lines of a list that mean nothing here.
        """
        self._ledger = ledger
        self._skipped = skipped
        self._hold(scope, set())
        self.shares_hosts = ledger.shares_hosts()
        self.probes_finished = 0  # since the process started, and those that it found finished
        self._count_probes(scope.finished)
        self._closing: dict[str, set[int]] = {}  # by host: jobs of which a frontier has something
        self._held_back: dict[str, list[UnitClosed]] = {}  # by host: until those are closed

    @property
    def scope(self) -> Scope:
        """Return what the agent holds now."""
        return self._scope

    def _hold(self, scope: Scope, resting: set[str]) -> None:
        self._scope = replace(scope, resting=resting)
        self._resting_units = resting

    def handle(self, port: str, batch: Sequence[object]) -> Iterable[Output]:
        """Take a list, or the news that jobs are done, quiet, or on an unreachable host."""
        match port:
            case "list":
                # Only the newest counts: each list says everything.
                return self._new_list(cast(ServerList, batch[-1]))
            case "finished":
                return self._finished(cast(Sequence[UnitFinished], batch))
            case "quiet":
                return self._quiet(cast(Sequence[UnitClosed], batch))
            case _:
                failures = cast(Sequence[HostFailed], batch)
                return self._finished([unit for one in failures for unit in self._failed(one)])

    def _new_list(self, server_list: ServerList) -> Iterator[Output]:
        round_number = server_list.head.round or 0
        wanted = self._wanted(server_list.orders)
        new_pages: dict[str, list[tuple[str, str | None]]] = {}
        stays: set[str] = set()
        ended: list[Job] = []
        closed: set[int] = set()
        self.shares_hosts = False
        for row in self._ledger.each_job():
            before, want = row.job, wanted.get(row.job.unit)
            job = None if want is None else want.job(before.unit, round_number)
            if job is not None and _goes_on(before, job):
                stays.add(before.unit)
                self.shares_hosts |= job.is_piece
                job = replace(job, number=before.number)
                if job != before:
                    self._ledger.open_job(job)
                    new_pages[before.unit] = _new_pages(before, job)
                continue
            ended.append(before)
            if row.finished or not row.address:
                closed.add(before.number)
        begun: list[Job] = []
        for unit, want in wanted.items():
            if unit not in stays:
                job = replace(want.job(unit, round_number), number=self._ledger.new_job_number())
                self._ledger.open_job(job)
                begun.append(job)
                self.shares_hosts |= job.is_piece
                if job.start_pages:
                    new_pages[unit] = list(job.start_pages)
        for job in ended:
            self._ledger.drop_job(job.number)
        resting = self._scope.resting & stays
        woken = {unit for unit in resting if new_pages.get(unit)}
        self._hold(scope_of(self._ledger), set(resting - woken))
        yield (
            "changed",
            ListChanged(
                self._scope,
                tuple(begun),
                tuple(ended),
                frozenset(closed),
                woken=tuple(self._scope.jobs[unit] for unit in woken),
            ),
        )
        yield from self._close(ended, closed)
        for job in begun:
            top = job.kind != "refetch" and (not job.is_piece or job.unit == host_of(job.unit))
            if top:
                yield "links", Links((canonical(job.unit),), wanted[job.unit].referer, 0, 0)
        for unit in wanted:
            if unit not in self._scope.finished:
                for url, referer in new_pages.get(unit, ()):
                    yield "links", Links((url,), referer, 0, 0)

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

    def _quiet(self, batch: Sequence[UnitClosed]) -> Iterator[Output]:
        for unit in batch:
            yield "closed", unit
            others = self._closing.get(unit.host, set())
            others.discard(unit.job)
            if not others:
                self._closing.pop(unit.host, None)
                for held_back in self._held_back.pop(unit.host, ()):
                    yield "closed", held_back

    def _wanted(self, orders: Iterable[Order]) -> dict[str, _Want]:
        wanted: dict[str, _Want] = {}
        pages: list[tuple[str, str | None]] = []
        for order in orders:
            try:
                url = canonical(order.url)
                if not is_unit(url):
                    pages.append((url, order.referer))
                    continue
                wanted[unit_key(url)] = _Want(order, order.referer)
                top = url[: url.index("/", 8)]
                pages += ((canonical(top + path), referer) for path, referer in order.starts)
                pages += ((canonical(top + path), None) for path in order.only)
            except UrlError as error:
                self._skipped.add("list: no URL to crawl", str(error))
        index = UnitIndex(wanted)
        for url, referer in pages:
            unit = index.holding(url)
            if unit is None:
                self._skipped.add("list: start page of no unit of the list", url)
            else:
                wanted[unit].start_pages.append((url, referer))
        return wanted

    def _count_probes(self, units: Iterable[str]) -> None:
        jobs = self._scope.jobs
        self.probes_finished += sum(jobs[unit].kind != "crawl" for unit in units)

    def _failed(self, failure: HostFailed) -> Iterator[UnitFinished]:
        for unit in self._scope.units.of_host(failure.host):
            job = self._scope.jobs[unit]
            # Such a host was never placed: nothing of it was fetched.
            yield UnitFinished(
                job.number,
                unit,
                failure.host,
                job.kind,
                job.round,
                0,
                0,
                f"unreachable: {failure.reason}",
            )

    def _finished(self, units: Sequence[UnitFinished]) -> Iterator[Output]:
        done: dict[str, UnitFinished] = {}
        for unit in units:
            job = self._scope.jobs.get(unit.unit)
            current = job is not None and job.number == unit.job
            if current and unit.unit not in self._scope.finished:
                done.setdefault(unit.unit, unit)
        if not done:
            return
        resting = {
            name
            for name, unit in done.items()
            if unit.reason in NOTHING_LEFT and self._scope.jobs[name].is_piece
        }
        news = [unit for unit in done.values() if unit.unit not in self._resting_units]
        self._resting_units |= resting
        ended = done.keys() - resting
        self._resting_units -= ended
        for name in ended:
            self._ledger.finish_job(done[name].job)
            self._scope.units.finish(name)
        self._count_probes(ended)
        jobs = tuple(self._scope.jobs[unit] for unit in done if unit in ended)
        if jobs:
            yield "changed", ListChanged(self._scope, done=jobs)
        for unit in news:
            yield "finished", unit


@dataclass(slots=True)
class _Want:
    """What a list wants of one unit; the last line about it counts."""

    order: Order
    referer: str | None
    start_pages: list[tuple[str, str | None]] = field(default_factory=list)

    def job(self, unit: str, round_number: int) -> Job:
        order = self.order
        return Job(
            0,
            unit,
            order.kind,
            round_number,
            order.max_transfer,
            order.interval_ms,
            order.excepted,
            tuple(self.start_pages),
            order.share,
        )


def _goes_on(before: Job, job: Job) -> bool:
    """Tell whether a job of the new list is the one that was there. Of a refetch its pages say."""
    if (before.round, before.kind) != (job.round, job.kind):
        return False
    return job.kind != "refetch" or before.start_pages == job.start_pages


def _new_pages(before: Job, job: Job) -> list[tuple[str, str | None]]:
    known = {url for url, _ in before.start_pages}
    return [page for page in job.start_pages if page[0] not in known]

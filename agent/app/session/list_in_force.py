"""The server list that the crawl follows: replaced in slices, while requests continue."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable
from contextlib import suppress
from itertools import chain, islice
from typing import Final

from agent.adapters.pages.pool import WorkerPages
from agent.app.session.crawl_adapters import CrawlAdapters
from agent.modules.assemble import Crawl
from agent.modules.server_list.list_change import ListChange, wanted_of
from agent.pipeline.messages.jobs import ServerList, UnitFinished
from agent.runners.in_process import InProcessRunner
from shared.archive.errors import DiskFullError
from shared.urls import host_of
from shared.wire.orders import ListHead

__all__ = ["ListInForce"]

REPORTED_AT_ONCE: Final = 200  # units reported again before requests continue: 40 us each


class ListInForce:
    """The list of one crawl."""

    def __init__(
        self,
        adapters: CrawlAdapters,
        crawl: Crawl,
        runner: InProcessRunner,
        fail: Callable[[Exception], None],
    ) -> None:
        """fail: ends the crawl because of a defect; nothing of it is committed then."""
        self._adapters = adapters
        self._crawl = crawl
        self._runner = runner
        self._fail = fail
        self._finished_before = array("q")  # jobs of the list that were done when it came
        self.is_changing = False  # while a list is put in force not all of its units are known

    async def replace(self, server_list: ServerList) -> set[int]:
        """Put a list in force; return the jobs that ended and are not quiet yet.

        Each slice takes some hundredths of a second; requests continue between two of them. Each
        of the jobs is later among `reports.closed_jobs()`.
        """
        self.is_changing = True
        try:
            return await self._replace(server_list)
        finally:
            self.is_changing = False

    async def _replace(self, server_list: ServerList) -> set[int]:
        ledger, earlier = self._adapters.ledger, self._adapters.earlier
        wanted = await asyncio.to_thread(wanted_of, server_list)
        self._crawl.skipped.add_all(wanted.skipped)
        if earlier is not None:
            earlier.begin_list()
        if server_list.orders and isinstance(self._adapters.worker, WorkerPages):
            # Now, while nothing is fetched that its start would hold up.
            self._adapters.worker.begin()
        change = ListChange(ledger, wanted)
        self._finished_before = change.finished
        ended: set[int] = set()
        for one in change.slices():
            self._runner.post("seed.list", one)
            self._settle()
            ended.update(one.ended)
            await asyncio.sleep(0)
        with suppress(DiskFullError):  # the list itself is on the disk, and is read again
            ledger.commit()
        return ended

    def _settle(self) -> None:
        try:
            self._runner.settle()
        except Exception as error:
            self._fail(error)
            raise

    async def report_finished_again(self) -> None:
        """Report all finished units of the list again: its manager does not know them.

        A finished unit leaves the manager's list as soon as it counted there.
        """
        scope = self._crawl.scope
        resting = (scope.jobs[unit].number for unit in tuple(scope.resting))
        finished, self._finished_before = self._finished_before, array("q")
        numbers = chain(finished, resting)
        while part := tuple(islice(numbers, REPORTED_AT_ONCE)):
            for number in part:
                self._report_finished(number)
            await asyncio.sleep(0)

    def _report_finished(self, number: int) -> None:
        reports = self._adapters.reports
        row = self._adapters.ledger.job(number)
        resting = row is not None and row.job.unit in self._crawl.scope.resting
        if row is None or not (row.finished or resting):
            return  # its list opened it again
        if not reports.tells(row.job.unit):
            job = row.job
            reports.finished(
                UnitFinished(
                    job.number,
                    job.unit,
                    row.host or host_of(job.unit),
                    job.kind,
                    job.round,
                    max(0, row.pages - job.pages_before),
                    max(0, row.response_bytes - job.bytes_before),
                    "finished before",
                    reports.failure_of(job.number, job.unit),
                )
            )

    async def drop(self) -> set[int]:
        """Forget all units, queues and seen URLs, and finished units not yet reported.

        Returns the jobs that ended and are not quiet yet. Raises DiskFullError.
        """
        reports = self._adapters.reports
        ended = await self.replace(ServerList(ListHead(), ()))
        while units := reports.pending_finished(1000):
            reports.forget_finished(units)
            self._adapters.ledger.commit()
        return ended

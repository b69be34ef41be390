"""One crawl: ledger, adapters, modules and their loop, put together.

It is opened, run until it is halted, and closed; all that it knows is in the ledger, so the next
one continues from there. Between the last two it can still be asked what it knows.
Invariant: a crawl that failed is let go of without a commit: its last one is what counts.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from itertools import chain, islice
from pathlib import Path
from typing import Final, Self

from agent.adapters.curl import CurlFetcher
from agent.adapters.dns import DnsResolver, ResolverOptions
from agent.adapters.held_bytes import HeldBytes
from agent.adapters.last_captures import EarlierFile, remove_earlier
from agent.adapters.ledger import DATABASE, LedgerOptions, SqliteLedger
from agent.adapters.ledger.trash import Trash
from agent.adapters.pages.nursery import Nursery
from agent.adapters.pages.pool import WorkerPages
from agent.adapters.reports import DurableReports
from agent.app.startup.page_work import page_worker
from agent.app.startup.settings_mapping import (
    blocked_by,
    crawl_limits,
    fetch_options,
    politeness,
    segment_info,
)
from agent.modules.assemble import Crawl, CrawlPorts, CrawlState
from agent.modules.counts import StopCounts
from agent.modules.frontier import Wait
from agent.modules.server_list.list_change import ListChange
from agent.modules.server_list.list_units import wanted_of
from agent.pipeline.crawl import CRAWL
from agent.pipeline.messages.jobs import ServerList, UnitFinished
from agent.pipeline.ports.clock import Clock
from agent.pipeline.ports.pages import PageWorker
from agent.pipeline.scope import Scope
from agent.runners.crawl_loop import CrawlLoop
from agent.runners.in_process import InProcessRunner
from agent.runners.loop_pauses import Pauses
from agent.settings import Settings
from shared.archive.errors import DiskFullError
from shared.messages import Message
from shared.naming import KINDS, AddressRules, NameServers
from shared.urls import host_of
from shared.wire.orders import ListHead

__all__ = ["CrawlSession", "resolver_of"]

SEGMENTS: Final = "segments"
EARLIER: Final = "earlier.sqlite"
DRAIN_S: Final = 3.0  # a request that is nearly over may end; the others are sent again later
LOOK_UP_S: Final = 5.0  # for the first answer of a name server; twice as long with each try
LOOK_UP_TRIES: Final = 3
TOLD: Final = 200  # units reported again before requests continue: 40 us each
_LAST_S: Final = 2.0  # for the modules to take in how the last requests ended


def resolver_of(
    settings: Settings,
    rules: AddressRules,
    *,
    timeout_s: float = LOOK_UP_S,
    tries: int = LOOK_UP_TRIES,
) -> DnsResolver:
    """Return what looks names up for this site."""
    network = settings.network
    source = ip_address(network.source_address) if network.source_address else None
    kinds = KINDS
    if source is not None and not network.proxy:  # by which the proxy is called, not the host
        kinds = ("AAAA",) if isinstance(source, IPv6Address) else ("A",)
    options = ResolverOptions(kinds, proxied=bool(network.proxy))
    servers = NameServers(settings.dns.servers, timeout_s=timeout_s, tries=tries)
    return DnsResolver(servers, rules.refusal, options)


class CrawlSession:
    """Made by `open`, inside a running event loop."""

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        ledger: SqliteLedger,
        reports: DurableReports,
        held: HeldBytes,
        fetcher: CurlFetcher,
        resolver: DnsResolver,
        worker: PageWorker,
        earlier: EarlierFile | None,
        crawl: Crawl,
        loop: CrawlLoop,
        runner: InProcessRunner,
    ) -> None:
        """Use `open`."""
        self.settings = settings
        self._folder = folder
        self.ledger = ledger
        self.reports = reports
        self._held = held
        self._fetcher = fetcher
        self._resolver = resolver
        self._worker = worker
        self._earlier = earlier
        self._crawl = crawl
        self._loop = loop
        self._runner = runner
        self._stop = asyncio.Event()
        self._ended = asyncio.Event()
        self._failed = False
        self.taking = False
        """Return whether a list is being taken: what it says is not known of all units yet."""
        self._finished_before = array("q")  # jobs of the list that were done when it came

    @classmethod
    def open(
        cls,
        settings: Settings,
        folder: Path,
        name: str,
        clock: Clock,
        *,
        permitted: Callable[[], bool],
        fetching: Callable[[], bool],
        nursery: Nursery | None = None,
    ) -> Self:
        """Take up the crawl where its last commit left it.

        permitted: whether a request may be sent; fetching: whether one should be begun. nursery:
        forks page workers. Raises HomeError, DiskFullError, SettingError.
        """
        blocked = blocked_by(settings.politeness.blocked_url_patterns)
        rules = AddressRules(settings.dns.allowed_networks)
        if not (folder / DATABASE).exists():
            # The segments that it tells of went with another ledger. It goes before there is one:
            # after a kill no process could see that it did not.
            remove_earlier(folder / EARLIER)
        ledger = SqliteLedger.open(
            folder,
            LedgerOptions(
                agent=name,
                info=segment_info(settings, name),
                max_segment_bytes=settings.disk.segment_bytes,
            ),
            clock,
        )
        reports = DurableReports(ledger.database)
        held = HeldBytes(settings.limits.body_memory_bytes)
        fetcher = CurlFetcher(fetch_options(settings), permitted, rules.refusal, clock, held)
        resolver = resolver_of(settings, rules)
        remarks = StopCounts()
        worker = page_worker(settings, remarks.add, nursery, held)
        whole_days = settings.disk.full_capture_days
        earlier = EarlierFile(folder / EARLIER, clock, whole_days) if whole_days else None
        ports = CrawlPorts(
            ledger=ledger,
            fetcher=fetcher,
            resolver=resolver,
            worker=worker,
            reports=reports,
            clock=clock,
            earlier=earlier,
        )
        crawl = Crawl(
            ports,
            politeness(settings),
            crawl_limits(settings),
            settings.robot.product_token,
            blocked,
            remarks=remarks,
        )
        runner = InProcessRunner(CRAWL, crawl.make)
        loop = CrawlLoop(
            runner, crawl, ledger, clock, fetching, commit_s=settings.disk.commit_interval_s
        )
        return cls(
            settings,
            folder,
            ledger,
            reports,
            held,
            fetcher,
            resolver,
            worker,
            earlier,
            crawl,
            loop,
            runner,
        )

    async def run(self) -> None:
        """Crawl until `halt`; then keep and commit all fetched pages.

        Raises what a defect of a module raises; the ledger then keeps its last commit.
        """
        try:
            await self._loop.run(self._stop, DRAIN_S + _LAST_S)
        except BaseException:
            self._failed = True
            raise
        finally:
            self._ended.set()

    async def halt(self) -> None:
        """Begin nothing more, let requests that are under way end, or be sent again later."""
        self._stop.set()
        await self._fetcher.drain(DRAIN_S)
        await self._ended.wait()

    async def close(self) -> None:
        """Close everything."""
        self._fetcher.close()
        self._worker.close()
        await self._resolver.close()
        try:
            if self._failed:
                self.ledger.abandon()
            else:
                self.ledger.close()
                if self._earlier is not None:
                    self._earlier.committed()
        finally:
            if self._earlier is not None:
                self._earlier.close()

    @property
    def passed_bytes(self) -> int:
        """Return how many bytes came in under a limit of the rate; 0: none was set yet."""
        return self._fetcher.passed_bytes

    @property
    def held_bytes(self) -> int:
        """Return how many bytes of bodies come in or wait to be read."""
        return self._held.sum

    def retune(self, settings: Settings) -> None:
        """Apply other settings; requests under way end under the earlier ones."""
        self.settings = settings
        blocked = blocked_by(settings.politeness.blocked_url_patterns)
        self._crawl.retune(politeness(settings), crawl_limits(settings), blocked)
        self._fetcher.limit_rate(settings.network.bytes_per_s)
        self._held.limit(settings.limits.body_memory_bytes)

    async def take_list(self, server_list: ServerList) -> set[int]:
        """Put a list in force; return the jobs that ended and are not quiet yet.

        Requests continue meanwhile: it is taken in slices, each of which is over within some
        hundredths of a second. Each of the jobs is later among `reports.closed_jobs()`.
        """
        self.taking = True
        try:
            return await self._take(server_list)
        finally:
            self.taking = False

    async def _take(self, server_list: ServerList) -> set[int]:
        wanted = await asyncio.to_thread(wanted_of, server_list)
        self._crawl.skipped.add_all(wanted.skipped)
        if self._earlier is not None:
            self._earlier.begin_list()
        if server_list.orders and isinstance(self._worker, WorkerPages):
            self._worker.begin()  # now, while nothing is fetched that its start would hold up
        taking = ListChange(self.ledger, wanted)
        self._finished_before = taking.finished
        ended: set[int] = set()
        for one in taking.slices():
            self._runner.post("seed.list", one)
            self._settle()
            ended.update(one.ended)
            await asyncio.sleep(0)
        with suppress(DiskFullError):  # the list itself is on the disk, and is read again
            self.ledger.commit()
        return ended

    def _settle(self) -> None:
        try:
            self._runner.settle()
        except Exception as error:
            self._failed = True  # what it did half must not be committed
            self._loop.fail(error)
            raise

    async def tell_again(self) -> None:
        """Report all finished units of the list again: its manager does not know them.

        A finished unit leaves the manager's list as soon as it counted there.
        """
        jobs = self.scope.jobs
        resting = (jobs[unit].number for unit in tuple(self.scope.resting))
        told, self._finished_before = self._finished_before, array("q")
        numbers = chain(told, resting)
        while part := tuple(islice(numbers, TOLD)):
            for number in part:
                self._tell_finished(number)
            await asyncio.sleep(0)

    def _tell_finished(self, number: int) -> None:
        row = self.ledger.job(number)
        if row is not None and not self.reports.tells(row.job.unit):
            job = row.job
            self.reports.finished(
                UnitFinished(
                    job.number,
                    job.unit,
                    row.host or host_of(job.unit),
                    job.kind,
                    job.round,
                    row.pages,
                    row.response_bytes,
                    "finished before",
                    self.reports.failure_of(job.number, job.unit),
                )
            )

    async def drop(self) -> set[int]:
        """Forget all units, queues and seen URLs, and finished units not yet reported.

        Returns the jobs that ended and are not quiet yet. Raises DiskFullError.
        """
        ended = await self.take_list(ServerList(ListHead(), ()))
        while units := self.reports.pending_finished(1000):
            self.reports.forget_finished(units)
            self.ledger.commit()
        return ended

    def drop_pages(self) -> None:
        """Delete all pages that were collected here. Raises DiskFullError."""
        self.ledger.seal_segment()
        if self._earlier is not None:
            self._earlier.clear()
        for path in (self._folder / SEGMENTS).iterdir():
            path.unlink()
        trash = Trash(self._folder)
        for path in list(trash.files()):
            trash.delete(path)

    @property
    def scope(self) -> Scope:
        """Return what the agent holds."""
        return self._crawl.scope

    @property
    def shares_hosts(self) -> bool:
        """Return whether others crawl parts of its hosts at the same time."""
        return self._crawl.shares_hosts

    @property
    def crawl(self) -> Crawl:
        """Return the counts of URLs not fetched, by reason."""
        return self._crawl

    def forget_hosts(self, hosts: Sequence[str]) -> None:
        """Take note that captures of hosts are deleted: nothing may refer to them."""
        if self._earlier is not None:
            self._earlier.forget(hosts)

    @property
    def paused(self) -> Message | None:
        """Return why nothing is fetched, as far as disk and modules know; None: it may be."""
        return self._loop.paused

    @property
    def pauses(self) -> Pauses:
        """Return for how long the loop was held up."""
        return self._loop.pauses

    @property
    def turns(self) -> int:
        """Return how many turns the loop has taken."""
        return self._loop.turns

    @property
    def page_workers(self) -> tuple[int, int]:
        """Return how many processes read pages, and how many a page ended."""
        worker = self._worker
        return (len(worker.workers), worker.replaced) if isinstance(worker, WorkerPages) else (0, 0)

    def state(self) -> CrawlState:
        """Return the present state of the crawl."""
        return self._crawl.state()

    def waits(self, limit: int) -> list[Wait]:
        """Return hosts that wait for their next request, the longest first."""
        return self._crawl.waits(limit)

    @property
    def quiet(self) -> bool:
        """Return whether no request, page or result just received is under way."""
        idle = self._runner.idle
        return idle and not self._crawl.at_work and not self.state().under_way

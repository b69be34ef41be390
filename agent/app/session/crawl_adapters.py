"""Adapters of one crawl: opened together from the settings, and closed in order.

Invariant: a crawl that failed is closed without a commit: its last one is what counts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from agent.adapters.curl import CurlFetcher
from agent.adapters.dns import DnsResolver
from agent.adapters.held_bytes import HeldBytes
from agent.adapters.last_captures import EarlierFile, remove_earlier
from agent.adapters.ledger import DATABASE, LedgerOptions, SqliteLedger
from agent.adapters.pages.nursery import Nursery
from agent.adapters.reports import DurableReports
from agent.app.session.resolver import resolver_of
from agent.app.startup.page_work import page_worker
from agent.app.startup.settings_mapping import fetch_options, segment_info
from agent.modules.assemble import CrawlPorts
from agent.modules.counts import StopCounts
from agent.pipeline.ports import Clock, PageWorker
from agent.settings import Settings
from shared.frozen import frozen
from shared.naming import AddressRules

__all__ = ["EARLIER", "CrawlAdapters"]

EARLIER: Final = "earlier.sqlite"


@frozen
class CrawlAdapters:
    """Files, network and workers of one crawl. remarks: of the page workers, for the status."""

    ledger: SqliteLedger
    reports: DurableReports
    held: HeldBytes
    fetcher: CurlFetcher
    resolver: DnsResolver
    worker: PageWorker
    earlier: EarlierFile | None
    remarks: StopCounts

    @classmethod
    def open(
        cls,
        settings: Settings,
        folder: Path,
        name: str,
        clock: Clock,
        *,
        may_send: Callable[[], bool],
        nursery: Nursery | None = None,
    ) -> Self:
        """Open all, inside a running event loop. may_send: asked before each request.

        Raises HomeError, DiskFullError, SettingError.
        """
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
        held, remarks = HeldBytes(settings.limits.body_memory_bytes), StopCounts()
        whole_days = settings.disk.full_capture_days
        return cls(
            ledger=ledger,
            reports=DurableReports(ledger.database),
            held=held,
            fetcher=CurlFetcher(fetch_options(settings), may_send, rules.refusal, clock, held),
            resolver=resolver_of(settings, rules),
            worker=page_worker(settings, remarks.add, nursery, held),
            earlier=EarlierFile(folder / EARLIER, clock, whole_days) if whole_days else None,
            remarks=remarks,
        )

    def ports(self, clock: Clock) -> CrawlPorts:
        """Return the ports of the crawl's modules."""
        return CrawlPorts(
            ledger=self.ledger,
            fetcher=self.fetcher,
            resolver=self.resolver,
            worker=self.worker,
            reports=self.reports,
            clock=clock,
            earlier=self.earlier,
        )

    async def close(self, *, failed: bool) -> None:
        """Close everything; failed: without a commit."""
        self.fetcher.close()
        self.worker.close()
        await self.resolver.close()
        try:
            if failed:
                self.ledger.abandon()
            else:
                self.ledger.close()
                if self.earlier is not None:
                    self.earlier.committed()
        finally:
            if self.earlier is not None:
                self.earlier.close()

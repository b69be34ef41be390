"""Adapters of one crawl: opened together from the settings, and closed in order.

Invariant: a crawl that failed is closed without a commit: its last one is what counts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from agent.adapters.body_memory import BodyMemory
from agent.adapters.curl import CurlFetcher
from agent.adapters.last_captures import EarlierFile, remove_earlier
from agent.adapters.ledger import DATABASE, LedgerOptions, SqliteLedger
from agent.adapters.pages.fork_server import ForkServer
from agent.adapters.reports import DurableReports
from agent.adapters.rules_file import RulesFile
from agent.app.startup.page_work import page_worker
from agent.app.startup.settings_mapping import fetch_options, resolver_of, segment_info
from agent.modules.assemble import CrawlPorts
from agent.modules.counts import StopCounts
from agent.pipeline.ports import Clock
from agent.settings import Settings
from shared.naming import AddressRules

__all__ = ["EARLIER", "CrawlAdapters"]

EARLIER: Final = "earlier.sqlite"


class CrawlAdapters:
    """Files, network and workers of one crawl. remarks: of the page workers, for the status."""

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        name: str,
        clock: Clock,
        *,
        may_send: Callable[[], bool],
        fork_server: ForkServer | None = None,
    ) -> None:
        """Open all, inside a running event loop. may_send: asked before each request.

        Raises HomeError, DiskFullError, SettingError.
        """
        rules = AddressRules(settings.dns.allowed_networks)
        if not (folder / DATABASE).exists():
            # The segments that it tells of went with another ledger. It goes before there is one:
            # after a kill no process could see that it did not.
            remove_earlier(folder / EARLIER)
        options = LedgerOptions(
            agent=name,
            info=segment_info(settings, name),
            max_segment_bytes=settings.disk.segment_bytes,
        )
        self.ledger = SqliteLedger.open(folder, options, clock)
        self.reports = DurableReports(self.ledger.database)
        self.held = held = BodyMemory(settings.limits.body_memory_bytes)
        self.remarks = StopCounts()
        self.fetcher = CurlFetcher(fetch_options(settings), may_send, rules.refusal, clock, held)
        self.resolver = resolver_of(settings, rules)
        self.worker = page_worker(settings, self.remarks.add, fork_server, held)
        self.rules = RulesFile(folder)
        days = settings.disk.full_capture_days
        self.earlier = EarlierFile(folder / EARLIER, clock, days) if days else None

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
            rules=self.rules,
        )

    async def close(self, *, failed: bool) -> None:
        """Close everything; failed: without a commit."""
        self.fetcher.close()
        self.worker.close()
        self.rules.close()
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

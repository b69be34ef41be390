"""One crawl: adapters, modules and their loop, put together.

It is opened, run until it is halted, and closed; all that it knows is in the ledger, so the next
one continues from there. Between the last two it still answers questions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from agent.adapters.ledger.trash import Trash
from agent.adapters.pages.fork_server import ForkServer
from agent.adapters.pages.pool import WorkerPages
from agent.app.session.crawl_adapters import CrawlAdapters
from agent.app.session.list_in_force import ListInForce
from agent.app.session.shared_rules import HeardRules, read_rules, write_rules
from agent.app.startup.settings_mapping import blocked_by, crawl_limits, politeness
from agent.modules.assemble import Crawl
from agent.modules.limits import CrawlLimits
from agent.modules.server_list.scope import Scope
from agent.pipeline.crawl import CRAWL
from agent.pipeline.ports import Clock
from agent.runners.crawl_loop import CrawlLoop
from agent.runners.in_process import InProcessRunner
from agent.settings import Settings
from shared.crawl_scope.evaluation import EVERYTHING, ScopeRules

__all__ = ["CrawlSession"]

SEGMENTS: Final = "segments"
DRAIN_S: Final = 3.0  # a request that is nearly over may end; the others are sent again later
_LAST_S: Final = 2.0  # for the modules to take in how the last requests ended


class CrawlSession:
    """One crawl. Make it inside a running event loop."""

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        name: str,
        clock: Clock,
        *,
        may_send: Callable[[], bool],
        may_start: Callable[[], bool],
        fork_server: ForkServer | None = None,
        scope_rules: ScopeRules = EVERYTHING,
    ) -> None:
        """Take up the crawl where its last commit left it.

        may_send: whether a request may be sent; may_start: whether one should be begun.
        fork_server: forks page workers. scope_rules: scope of the whole crawl. Raises HomeError,
        DiskFullError, SettingError.
        """
        blocked = blocked_by(settings.politeness.blocked_url_patterns)
        self.settings = settings
        self._scope_rules = scope_rules
        self.adapters = adapters = CrawlAdapters(
            settings, folder, name, clock, may_send=may_send, fork_server=fork_server
        )
        self.ledger, self.reports = adapters.ledger, adapters.reports
        heard = read_rules(folder)
        self.crawl = crawl = Crawl(
            adapters.ports(clock),
            politeness(settings),
            self._limits(),
            settings.robot.product_token,
            blocked,
            remarks=adapters.remarks,
            shared=heard.rules,
        )
        self.heard_rules, self._rules_held = heard, heard.number
        self._folder = folder
        self._runner = runner = InProcessRunner(CRAWL, crawl.make)
        commit_s = settings.disk.commit_interval_s
        self.loop = CrawlLoop(runner, crawl, self.ledger, clock, may_start, commit_s=commit_s)
        self.list = ListInForce(adapters, crawl, runner, self._fail)
        self._stop = asyncio.Event()
        self._ended = asyncio.Event()
        self._failed = False

    def take_rules(self, heard: HeardRules) -> None:
        """Keep the rules of shared addresses, and let the next tick put them in force.

        Raises DiskFullError: then nothing changes.
        """
        write_rules(self._folder, heard)
        self.heard_rules = heard
        self.crawl.set_shared(heard.rules)

    @property
    def shared_held(self) -> int:
        """Return the number of the newest rules of shared addresses in force."""
        if self.crawl.shared_in_force:
            self._rules_held = self.heard_rules.number
        return self._rules_held

    async def run(self) -> None:
        """Crawl until `halt`; then keep and commit all fetched pages.

        Raises what a defect of a module raises; the ledger then keeps its last commit.
        """
        try:
            await self.loop.run(self._stop, DRAIN_S + _LAST_S)
        except BaseException:
            self._failed = True
            raise
        finally:
            self._ended.set()

    async def halt(self) -> None:
        """Begin nothing more, let requests that are under way end, or be sent again later."""
        self._stop.set()
        await self.adapters.fetcher.drain(DRAIN_S)
        await self._ended.wait()

    async def close(self) -> None:
        """Close everything."""
        await self.adapters.close(failed=self._failed)

    def _fail(self, error: Exception) -> None:
        self._failed = True  # what it did half must not be committed
        self.loop.fail(error)

    def retune(self, settings: Settings) -> None:
        """Apply other settings; requests under way end under the earlier ones."""
        self.settings = settings
        blocked = blocked_by(settings.politeness.blocked_url_patterns)
        self.crawl.retune(politeness(settings), self._limits(), blocked)
        self.adapters.fetcher.limit_rate(settings.network.bytes_per_s)
        self.adapters.held.limit(settings.limits.body_memory_bytes)

    def use_scope_rules(self, rules: ScopeRules) -> None:
        """Go by another scope of the crawl; requests under way end under the earlier one."""
        self._scope_rules = rules
        self.retune(self.settings)

    def _limits(self) -> CrawlLimits:
        return replace(crawl_limits(self.settings), scope=self._scope_rules)

    def drop_pages(self) -> None:
        """Delete all pages that were collected here. Raises DiskFullError."""
        self.ledger.seal_segment()
        if self.adapters.earlier is not None:
            self.adapters.earlier.clear()
        for path in (self._folder / SEGMENTS).iterdir():
            path.unlink()
        trash = Trash(self._folder)
        for path in list(trash.files()):
            trash.delete(path)

    def forget_hosts(self, hosts: Sequence[str]) -> None:
        """Take note that captures of hosts are deleted: nothing may refer to them."""
        if self.adapters.earlier is not None:
            self.adapters.earlier.forget(hosts)

    @property
    def scope(self) -> Scope:
        """Return the units of the agent."""
        return self.crawl.scope

    @property
    def page_workers(self) -> tuple[int, int]:
        """Return how many processes read pages, and how many a page ended."""
        worker = self.adapters.worker
        return (len(worker.workers), worker.replaced) if isinstance(worker, WorkerPages) else (0, 0)

    @property
    def is_quiet(self) -> bool:
        """Return whether no request, page or result just received is under way."""
        idle = self._runner.idle
        return idle and not self.crawl.at_work and not self.crawl.state().under_way

    @property
    def is_worked_off(self) -> bool:
        """Return whether all units of the list are finished or rest, and nothing is under way."""
        if self.list.is_changing:
            return False
        scope = self.scope
        return len(scope.finished) + len(scope.resting) == len(scope.jobs) and self.is_quiet

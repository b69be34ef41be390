"""Updates of the server list (M1): resumed from the disk, fetched from the manager, dropped."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from agent.app.manager_link.permit_use import PermitUse
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.errors import LinkError
from agent.link.client import ManagerClient
from agent.link.link_memory import Memory
from agent.link.manager_list import ManagerList
from agent.link.poller import ListNumber, Poller
from agent.pipeline.messages.jobs import ServerList
from shared.archive.errors import DiskFullError
from shared.errors import FormatError, LimitError
from shared.wire.orders import ListHead

__all__ = ["ListUpdates"]

URL_CHARS: Final = 4000  # of a unit: sync takes 4096, with the port written out


class ListUpdates:
    """Puts lists in force and reports that to the poller."""

    def __init__(
        self,
        runtime: Runtime,
        client: ManagerClient,
        poller: Poller,
        server_list: ManagerList,
        session: CrawlSession,
        memory: Memory,
        permits: PermitUse,
    ) -> None:
        """permits: uses the permit of a new list."""
        self._runtime = runtime
        self._client = client
        self._poller = poller
        self._server_list = server_list
        self._session = session
        self._memory = memory
        self._permits = permits

    async def resume(self) -> None:
        """Resume the list that is on the disk, as after a crash; a permit must come first.

        The manager is called behind it: to it, a new process follows that list from the start.
        """
        held = await asyncio.to_thread(self._server_list.held)
        if held == ListNumber():
            return
        try:
            server_list = await asyncio.to_thread(self._read, held)
        except (FormatError, LimitError) as error:
            # As after a lower limit, or the release before: no start would get past it.
            await asyncio.to_thread(self._server_list.drop)
            self._poller.list_dropped((), self._runtime.clock.boottime_s())
            self._runtime.log_line(
                f"list {held.generation} of round {held.round} cannot be read ({error}); "
                "it is requested from the manager again"
            )
            return
        await self._session.list.replace(server_list)
        if self._memory.kept.list_told != _name(held):
            await self._report_finished_again(held)
        self._runtime.log_line(f"continuing with list {held.generation} of round {held.round}")

    async def fetch(self) -> None:
        """Fetch the manager's list and put it in force."""
        clock = self._runtime.clock
        try:
            target = self._server_list.new_list_path
            await self._client.take_list(target, limit_bytes=self._server_list.limit_bytes)
            held = await asyncio.to_thread(self._server_list.accept)
        except (LinkError, DiskFullError) as problem:
            error = problem if isinstance(problem, LinkError) else LinkError(problem.message)
            self._permits.carry_out(self._poller.list_failed(error, clock.boottime_s()))
            self._runtime.log_line(f"list: {self._poller.trouble}")
            return
        server_list = await asyncio.to_thread(self._read, held)
        closing = await self._session.list.replace(server_list)
        # Before any other task has a turn: the poller learns of each job that becomes quiet.
        self._permits.carry_out(self._poller.list_in_force(held, closing, clock.boottime_s()))
        self._runtime.log_line(
            f"list {held.generation} of round {held.round}: {len(server_list.orders)} lines"
        )
        await self._report_finished_again(held)

    async def drop(self) -> None:
        """Drop the list and all that the crawl knows of its units. Raises DiskFullError."""
        await asyncio.to_thread(self._server_list.drop)
        closing = await self._session.list.drop()
        self._poller.list_dropped(closing, self._runtime.clock.boottime_s())

    async def _report_finished_again(self, held: ListNumber) -> None:
        """Report units finished under an earlier list; they are kept until all are reported."""
        await self._session.list.report_finished_again()
        with contextlib.suppress(DiskFullError):  # the next process reports them once more
            self._session.ledger.commit()
            self._memory.remember_list(_name(held))

    def _read(self, held: ListNumber) -> ServerList:
        orders = list(self._server_list.orders())
        usable = tuple(order for order in orders if len(order.url) <= URL_CHARS)
        if len(usable) < len(orders):
            count = len(orders) - len(usable)
            self._runtime.log_line(f"{count} lines of the list have too long a URL")
        return ServerList(ListHead(held.round, held.generation), usable)


def _name(held: ListNumber) -> str:
    return f"{held.round} {held.generation}"

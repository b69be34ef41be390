"""Loop that delivers reports: works the outbox off when it is woken, and every few seconds."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from agent.app.runtime import Runtime
from agent.link.report_delivery import Sender
from shared.archive.errors import DiskFullError

__all__ = ["ReportLoop"]

LONGEST_REST_S: Final = 5.0  # the outbox is looked through so often


class ReportLoop:
    """Delivers reports until the agent stops."""

    def __init__(self, runtime: Runtime, sender: Sender) -> None:
        self._runtime = runtime
        self._sender = sender
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Work the outbox off now: something was put into it."""
        self._wake.set()

    def retry_now(self) -> None:
        """Work the outbox off now, also what waited: the manager has answered."""
        self._sender.retry_now()
        self._wake.set()

    async def run(self) -> None:
        """Deliver reports whenever there are new ones, or the time of one has come."""
        while not self._runtime.stopping.is_requested:
            self._wake.clear()
            try:
                await self._sender.send_due()
            except DiskFullError as error:  # the reason of a refused report, or a folder that grows
                self._runtime.log_line(f"reports: {error}")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_REST_S):
                    await self._wake.wait()

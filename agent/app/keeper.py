"""Keeps one crawl session going, and begins a new one when its settings change.

Invariant: whoever works with the session holds the lock, so that it is not closed under anybody's
hands. A session that failed is let go of without a commit: its last one is what counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agent.app.session import CrawlSession
from agent.pipeline.messages import ServerList
from agent.settings import Home, Settings
from shared.wire.orders import ListHead

__all__ = ["SessionKeeper"]

Open = Callable[[Settings], CrawlSession]


class SessionKeeper:
    """The crawl, over all its sessions. Make it inside a running event loop."""

    def __init__(self, settings: Settings, home: Home, open_session: Open) -> None:
        """Open the first session; it is at rest until `run`."""
        self.lock = asyncio.Lock()
        self.settings = settings
        self._home = home
        self._open = open_session
        self.session = open_session(settings)
        self._running: asyncio.Task[None] | None = None
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closed_before: list[int] = []

    async def run(self) -> None:
        """Crawl until `halt`, over all sessions; raises what ended one of them."""
        self._begin()
        await self._ended

    async def halt(self) -> None:
        """Begin nothing any more, keep and commit what is under way, and end `run`.

        The session can still be asked what it knows, until `close`.
        """
        async with self.lock:
            await self._rest()
            if not self._ended.done():
                self._ended.set_result(None)

    async def close(self) -> None:
        """Let go of the session."""
        failed = self._ended.done() and self._ended.exception() is not None
        await self.session.close(commit=not failed)

    async def renew(self, settings: Settings) -> None:
        """Go on under other settings; every address rests once before its next request."""
        # A stop must not come between the old session and the new one.
        await asyncio.shield(asyncio.ensure_future(self._renew(settings)))

    async def _renew(self, settings: Settings) -> None:
        async with self.lock:
            await self._rest()
            if self._ended.done():
                return
            self._closed_before += self.session.reports.closed_jobs()
            await self.session.close()
            self.settings = settings
            self.session = self._open(settings)
            self._begin()

    async def take_list(self, server_list: ServerList, *, new: bool) -> set[int]:
        """Put a list in force; return the jobs that ended and may not be quiet yet.

        new: it came from the manager just now, and is not the one of before a restart.
        """
        async with self.lock:
            ended = self.session.take_list(server_list)
            if new:
                self.session.tell_again()
            return ended

    async def drop(self, *, pages: bool) -> set[int]:
        """Forget all units, queues and seen URLs, and the pages too where that is asked.

        Returns the jobs that ended and may not be quiet yet. Raises DiskFullError.
        """
        async with self.lock:
            session = self.session
            ended = session.take_list(ServerList(ListHead(), ()))
            while units := session.reports.pending_finished(1000):
                session.reports.forget_finished(units)
                session.ledger.commit()
            if pages:
                session.drop_pages(self._home.crawl)
            return ended

    def closed_jobs(self) -> list[int]:
        """Return the jobs that became quiet since the last call, over all sessions."""
        before, self._closed_before = self._closed_before, []
        return before + self.session.reports.closed_jobs()

    def _begin(self) -> None:
        self._running = asyncio.get_running_loop().create_task(self.session.run())
        self._running.add_done_callback(self._note_end)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._ended.done():
            self._ended.set_exception(error)

    async def _rest(self) -> None:
        task, self._running = self._running, None
        if task is not None:
            await self.session.stop()
            await asyncio.wait([task])

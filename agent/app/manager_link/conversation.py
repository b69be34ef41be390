"""Conversation with the manager: sends syncs when the poller says so, and acts on the answers.

Everything that asks the manager and changes the agent's work happens here, one thing after the
other; so a permit that was answered before the work was handed back cannot come after it.
"""

from __future__ import annotations

import contextlib
from typing import Final

from agent.app.manager_link.completion import reportable_units
from agent.app.manager_link.fetch_permission import Permission
from agent.app.manager_link.manager_actions import ManagerActions
from agent.app.manager_link.membership import Membership
from agent.app.manager_link.sync_exchange import SyncExchange
from agent.app.reporting.reports import Reports
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.control.launcher_program import LauncherProgram, note_synced
from agent.settings.user_agent import version
from shared.archive.errors import DiskFullError
from shared.wire.sync_bounds import MAX_ITEMS

__all__ = ["Conversation"]

NO_ROOM_S: Final = 10.0  # what needs room on the disk is tried again so often
PAUSE_S: Final = 1.0  # a machine that slept finds out within this
CONFLICT: Final = 409  # the manager takes this process for a copy of another, or the reverse


class Conversation:
    """The loop that calls the manager."""

    def __init__(
        self,
        runtime: Runtime,
        session: CrawlSession,
        exchange: SyncExchange,
        actions: ManagerActions,
        membership: Membership,
        permission: Permission,
        reports: Reports,
    ) -> None:
        self._runtime = runtime
        self._session = session
        self._exchange = exchange
        self._actions = actions
        self._membership = membership
        self._permission = permission
        self._reports = reports
        self._launcher = LauncherProgram(runtime.home.path)
        self._is_resumed = False  # the list that was on the disk is in force
        self._is_synced = False  # the proof of a sync is written
        self._was_news = False
        self.calls = 0  # that are over, whether answered or not

    async def run(self) -> None:
        """Resume the list on the disk, then call the manager until the agent stops."""
        stopping, clock = self._runtime.stopping, self._runtime.clock
        await self._actions.lists.resume()
        self._is_resumed = True
        while not stopping.is_requested:
            wait_s = self._exchange.poller.next_s - clock.boottime_s()
            if wait_s > 0:
                await stopping.pause(min(wait_s, PAUSE_S))
                continue
            try:
                await self._membership.update()
                await self._call()
            except DiskFullError as error:
                self._runtime.log_line(f"the manager was not called: {error}")
                await stopping.pause(NO_ROOM_S)
            self.calls += 1

    async def close(self) -> None:
        """Send the final sync."""
        for action in await self._exchange.send_final(with_finished=self._is_resumed):
            self._actions.forget_reported(action)

    async def check(self) -> None:
        """Call the manager before its time where it waits for news, once for each piece of it."""
        session = self._session
        finished = len(reportable_units(session, self._reports.outbox, MAX_ITEMS))
        over = session.is_worked_off or not self._permission.window_open
        is_news = (
            finished >= MAX_ITEMS // 10
            or (finished > 0 and over)
            or (finished > 0 and bool(session.scope.resting))  # the others' pieces wait for it
            or self._membership.must_leave
            or self._membership.must_join
        )
        if is_news and not self._was_news:
            self._exchange.poller.call_soon(self._runtime.clock.boottime_s())
        self._was_news = is_news

    async def _call(self) -> None:
        """Send one sync and do what its answer asks for."""
        actions = await self._exchange.send(self._actions.commands.update_result)
        refusal = self._exchange.refusal
        if refusal is not None and refusal.status == CONFLICT:
            self._actions.permits.note_conflict()
        await self._actions.carry_out(actions)
        if self._exchange.is_answered:
            self._follow_up()

    def _follow_up(self) -> None:
        """Do what an answer makes possible: the launcher, the proof of a sync, delayed reports."""
        self._launcher.start_if_due(is_open=self._permission.window_open)
        if not self._is_synced:
            self._is_synced = True
            with contextlib.suppress(DiskFullError):
                note_synced(self._runtime.home.synced, version(), self._runtime.clock.epoch_ms())
        self._reports.retry_now()

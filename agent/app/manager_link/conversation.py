"""Conversation with the manager: sends syncs when the poller says so, and acts on the answers.

Everything that asks the manager and changes the agent's work happens here, one thing after the
other; so a permit that was answered before the work was handed back cannot come after it.
"""

from __future__ import annotations

from typing import Final

from agent.app.manager_link.list_updates import ListUpdates
from agent.app.manager_link.manager_actions import ManagerActions
from agent.app.manager_link.manager_commands import ManagerCommands
from agent.app.manager_link.membership import Membership
from agent.app.manager_link.permit_use import PermitUse
from agent.app.manager_link.sync_exchange import SyncExchange
from agent.app.manager_link.sync_followup import SyncFollowUp
from agent.app.runtime import Runtime
from shared.archive.errors import DiskFullError

__all__ = ["Conversation"]

NO_ROOM_S: Final = 10.0  # what needs room on the disk is tried again so often
PAUSE_S: Final = 1.0  # a machine that slept finds out within this
CONFLICT: Final = 409  # the manager takes this process for a copy of another, or the reverse


class Conversation:
    """The loop that calls the manager."""

    def __init__(
        self,
        runtime: Runtime,
        exchange: SyncExchange,
        actions: ManagerActions,
        permits: PermitUse,
        lists: ListUpdates,
        commands: ManagerCommands,
        membership: Membership,
        follow_up: SyncFollowUp,
    ) -> None:
        self._runtime = runtime
        self._exchange = exchange
        self._actions = actions
        self._permits = permits
        self._lists = lists
        self._commands = commands
        self._membership = membership
        self._follow_up = follow_up
        self._is_resumed = False  # the list that was on the disk is in force
        self.calls = 0  # that are over, whether answered or not

    async def run(self) -> None:
        """Resume the list on the disk, then call the manager until the agent stops."""
        stopping, clock = self._runtime.stopping, self._runtime.clock
        await self._lists.resume()
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

    async def _call(self) -> None:
        """Send one sync and do what its answer asks for."""
        actions = await self._exchange.send(self._commands.update_result)
        refusal = self._exchange.refusal
        if refusal is not None and refusal.status == CONFLICT:
            self._permits.note_conflict()
        await self._actions.carry_out(actions)
        if self._exchange.is_answered:
            self._follow_up.run()

"""Commands of the manager: restart (M4), update, pause, drain, resume."""

from __future__ import annotations

from agent.app.manager_link.fetch_permission import Permission
from agent.app.manager_link.list_updates import ListUpdates
from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.control.drain import Holds, change_holds
from agent.control.launcher_program import start_launcher
from agent.errors import HomeError
from agent.link.actions import RunCommand
from agent.link.link_memory import Memory
from agent.link.poller import Poller
from shared.archive.errors import DiskFullError
from shared.messages import Message

__all__ = ["ManagerCommands"]


class ManagerCommands:
    """Runs each command once."""

    def __init__(
        self,
        runtime: Runtime,
        poller: Poller,
        memory: Memory,
        permission: Permission,
        session: CrawlSession,
        lists: ListUpdates,
    ) -> None:
        self._runtime = runtime
        self._poller = poller
        self._memory = memory
        self._permission = permission
        self._session = session
        self._lists = lists
        self.update_result: Message | None = None  # why the launcher did not start

    async def run(self, command: RunCommand) -> None:
        """Run a command and report it to the poller."""
        name, argument = command.name, command.argument
        self._runtime.log_line(f"command of the manager: {name} {argument}".rstrip())
        try:
            if name == "restart":
                await self._restart(drop_pages=argument == "confirmed")
            elif name == "update":
                self._update()
            else:
                self._change_holds(name)
            self._memory.remember_command(command.id)
        except DiskFullError as error:
            self._runtime.log_line(f"command {name}: {error}")
            self._poller.command_failed()
            return
        self._poller.command_finished(command.id, self._runtime.clock.boottime_s())

    async def _restart(self, *, drop_pages: bool) -> None:
        await self._lists.drop()
        if drop_pages:
            self._session.drop_pages()

    def _update(self) -> None:
        """Start the launcher, which may stop this agent and tells the manager how it went."""
        try:
            start_launcher(self._runtime.home.path)
        except HomeError as error:
            self.update_result = error.message

    def _change_holds(self, name: str) -> None:
        change = {"pause": Holds.pause, "drain": Holds.drain}.get(name, Holds.resume)
        self._permission.holds = change_holds(
            self._runtime.home.hold, lambda holds: change(holds, "manager")
        )

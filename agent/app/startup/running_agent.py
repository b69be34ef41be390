"""One run of an agent: its components run side by side, and end in order.

The end: nothing new is begun, requests under way get a few seconds, fetched pages are committed,
the manager is notified. None of it is needed for safety: after kill -9 the next process continues
from the last commit, with the list on the disk, and waits for a new permit.
"""

from __future__ import annotations

import asyncio
from typing import Final

from agent.app.collection.collection import AgentCollection
from agent.app.manager_link.conversation import Conversation
from agent.app.reporting.reports import Reports
from agent.app.session.session import CrawlSession
from agent.app.session.single_run import SingleRun
from agent.app.session.supervision import Supervisor
from agent.control.stop import StopRequest
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["RunResult", "RunningAgent"]

GRACE_S: Final = 1.0  # an exchange with the manager that takes longer is given up at a stop


@frozen
class RunResult:
    """Reason for which an agent stopped; refused: the manager's refusal, where that was the reason.

    unreached: its own manager did not answer, but another one, and nothing was left to do.
    """

    reason: Message
    refused: Message | None = None
    unreached: Message | None = None


@frozen
class RunningAgent:
    """The components that have a loop or an end. single_run: ends a run with `--once`."""

    stopping: StopRequest
    session: CrawlSession
    conversation: Conversation
    collection: AgentCollection
    reports: Reports
    supervisor: Supervisor
    single_run: SingleRun | None

    async def run(self) -> RunResult:
        """Run until the agent is to stop, or a component fails; then end in order."""
        try:
            await self.reports.hand_over_logs("written before the last crash")
            await self._run_side_by_side()
            await self.supervisor.check()
            await self.conversation.close()
        finally:
            await self.session.close()
        reason = self.stopping.reason or Message("agent.stop_error")
        if self.single_run is None:
            return RunResult(reason)
        return RunResult(reason, self.single_run.refused, self.single_run.unreached)

    async def _run_side_by_side(self) -> None:
        loop = asyncio.get_running_loop()
        loops = (
            self.session.run(),
            self.conversation.run(),
            self.supervisor.run(),
            self.reports.run(),
            self.collection.run(),
        )
        tasks = [loop.create_task(one) for one in loops]
        stop = loop.create_task(self.stopping.wait())
        await asyncio.wait([*tasks, stop], return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        self.stopping.request(Message("agent.stop_error"))
        await self.session.halt()
        _, late = await asyncio.wait(tasks, timeout=GRACE_S)
        for task in late:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                raise outcome

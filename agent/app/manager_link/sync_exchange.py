"""Exchange of one sync: the request, its answer, and the result of the last one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from agent.app.runtime import Runtime
from agent.errors import LinkError, RefusedError
from agent.link.actions import Action, ForgetReported, View
from agent.link.client import ManagerClient
from agent.link.link_memory import Memory
from agent.link.manager_time import ManagerTime
from agent.link.poller import Poller
from shared.messages import Message

__all__ = ["SyncExchange"]

FINAL_S: Final = 3.0  # for the last sync of a process


class SyncExchange:
    """Sends syncs, one at a time."""

    def __init__(
        self,
        runtime: Runtime,
        client: ManagerClient,
        poller: Poller,
        memory: Memory,
        manager_time: ManagerTime,
        view: Callable[[], View],
    ) -> None:
        """view: returns the agent's present state."""
        self._clock = runtime.clock
        self._log_line = runtime.log_line
        self._client = client
        self.poller = poller
        self._memory = memory
        self._manager_time = manager_time
        self._view = view
        self.answers = 0  # syncs that were answered
        self.is_answered = False  # the last one
        self.refusal: RefusedError | None = None  # the last answer, where it was a no
        self.foreign: LinkError | None = None  # the last answer, where it was another manager's

    async def send(self, update_result: Message | None) -> list[Action]:
        """Send one sync; return what its answer, or its failure, asks for."""
        sequence = self._memory.next_sequence()
        view = replace(self._view(), update_result=update_result)
        sent_s = self._clock.boottime_s()
        request = self.poller.request(sequence, view, sent_s)
        self.is_answered = False
        try:
            answer = await self._client.sync(request)
        except LinkError as error:
            # Another installation's no is none of this agent's matters.
            self.foreign = error if error.is_foreign else None
            self.refusal = None
            if isinstance(error, RefusedError) and not error.is_foreign:
                self.refusal = error
            actions = self.poller.failed(sequence, error, self._clock.boottime_s())
            self._log_line(f"manager: {self.poller.trouble}")
            return list(actions)
        self.is_answered, self.refusal, self.foreign = True, None, None
        self.answers += 1
        self._manager_time.note(answer.server_time_ms, sent_s)
        return self.poller.answered(sequence, answer, self._clock.boottime_s())

    async def send_final(self, *, with_finished: bool) -> list[ForgetReported]:
        """Report the end of this agent, for which the manager gets little time to answer.

        with_finished: name finished units; some may be under a list that is not resumed yet.
        """
        sequence = self._memory.next_sequence()
        view = self._view()
        if not with_finished:
            view = replace(view, finished=())
        request = self.poller.request(sequence, view, self._clock.boottime_s())
        try:
            async with asyncio.timeout(FINAL_S):
                answer = await self._client.sync(request)
        except (LinkError, TimeoutError):
            return []
        actions = self.poller.answered(sequence, answer, self._clock.boottime_s())
        return [action for action in actions if isinstance(action, ForgetReported)]

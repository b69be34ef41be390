"""One sync and no more: `prs sync`, by which a new release shows that it reaches its manager.

It says what a process says first that begins: which list is on the disk, nothing under way, nothing
done. A permit that comes is not used; the next process asks for its own.
"""

from __future__ import annotations

import asyncio
import random
import uuid

from agent.adapters.clock import SystemClock
from agent.app.site.site import capacity_of
from agent.app.startup.agent_run import identity_of
from agent.control.launcher_program import note_synced
from agent.control.load import LoadGuard
from agent.control.lock import HomeLock
from agent.link.actions import View
from agent.link.call_schedule import Backoff, CallSchedule
from agent.link.client import client_of
from agent.link.link_memory import Memory
from agent.link.manager_list import ManagerList
from agent.link.poller import Caller, Poller, ResumedLink
from agent.settings import Home, Settings, check_can_run
from agent.settings.user_agent import version
from shared.messages import Message
from shared.wire.sync import SyncAnswer

__all__ = ["sync_once"]


def sync_once(settings: Settings) -> SyncAnswer:
    """Call the manager once. Raises HomeError (an agent works here), LinkError, SettingError."""
    home = Home(settings.home)
    check_can_run(settings)
    identity = identity_of(settings)
    home.make()
    lock = HomeLock.take(home.lock)
    clock, rng = SystemClock(), random.SystemRandom()
    try:
        memory = Memory.open(home.link_state, epoch_ms=clock.epoch_ms(), rng=rng)
        held = ManagerList(home.list, limit_bytes=settings.limits.server_list_bytes).held()
        backoff = Backoff(settings.manager.backoff_s, settings.manager.max_backoff_s)
        poller = Poller(
            Caller(identity.name, version(), uuid.uuid4().hex),
            CallSchedule(backoff, rng, clock.boottime_s()),
            ResumedLink(held, memory.kept.command_done),
            capacity_of(settings, LoadGuard(settings.pages.max_load_per_core, home.load).calm),
        )
        view = View("starting", clock.epoch_ms(), Message("agent.single_sync"))
        request = poller.request(memory.next_sequence(), view, clock.boottime_s())

        async def call() -> SyncAnswer:
            async with client_of(settings, identity) as client:
                return await client.sync(request)

        answer = asyncio.run(call())
        note_synced(home.synced, version(), clock.epoch_ms())
        return answer
    finally:
        lock.release()

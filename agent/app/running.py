"""Start an agent: may this process work in this home at all? Then live.

Invariant: whatever is missing is said with the command that mends it, before anything is begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agent.adapters.clock import SystemClock
from agent.adapters.memory import keep_freed_memory
from agent.adapters.pages.nursery import Nursery
from agent.app.files import allow_files
from agent.app.life import Ended, live
from agent.app.mapping import blocked_by
from agent.app.parts import Say
from agent.control.lock import HomeLock, end, holder_of
from agent.control.status import Status
from agent.errors import HomeError
from agent.link.keys import Identity, read_identity
from agent.runners.gathering import gathering_loop
from agent.settings import Home, Settings, check_can_run, check_manager_url

__all__ = ["identity_of", "run_agent"]


def run_agent(
    settings: Settings,
    *,
    once: bool,
    replace: bool,
    say: Say,
    show: Callable[[Status], None],
    reread: Callable[[], Settings] | None = None,
    nursery: Nursery | None = None,
) -> Ended:
    """Run the agent of a home until it is told to stop, or a single run is done.

    replace: end a process that works in this home already. reread: reads the settings again, with
    what the command line said over them; None: they never change. nursery: forks page workers.
    Raises HomeError, SettingError.
    """
    home = Home(settings.home)
    check_can_run(settings)
    identity = identity_of(settings)
    blocked_by(settings.politeness.blocked)
    home.make()
    if replace and holder_of(home.lock) is not None:
        say("ending the process that works here")
        if not end(home.lock, by_force=True):
            raise HomeError(f"{home.path}: the process that works here could not be ended")
    keep_freed_memory()
    lock = HomeLock.take(home.lock)
    try:
        allow_files(settings, say)
        with asyncio.Runner(loop_factory=gathering_loop) as runner:
            return runner.run(
                live(
                    settings,
                    identity,
                    SystemClock(),
                    once=once,
                    say=say,
                    show=show,
                    reread=reread or (lambda: settings),
                    nursery=nursery,
                )
            )
    finally:
        lock.release()


def identity_of(settings: Settings) -> Identity:
    """Return who this home is enrolled as. Raises HomeError where it is not, or as another."""
    identity = read_identity(Home(settings.home))
    if identity is None:
        raise HomeError(
            f"{settings.home}: this agent has no key; ask the administrator of the crawl for a "
            "join token and run: prs enrol URL TOKEN"
        )
    site = settings.manager
    for name, wanted, known in (
        ("url", site.url and check_manager_url(site.url), identity.manager),
        ("name", site.name, identity.name),
    ):
        if wanted and wanted != known:
            raise HomeError(
                f'manager.{name} = "{wanted}", but the key of this home is for {known}: correct '
                "prs.toml, or enrol anew with: prs enrol URL TOKEN"
            )
    return identity

"""Start an agent: may this process work in this home at all? Then live.

Invariant: a message names each missing thing and the command that mends it, before any start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from agent.adapters.allocator import keep_freed_memory
from agent.adapters.clock import SystemClock
from agent.adapters.pages.nursery import Nursery
from agent.app.startup.agent_parts import Say
from agent.app.startup.composition import Ended, live
from agent.app.startup.file_limits import allow_files
from agent.app.startup.key_change import renew_key
from agent.app.startup.settings_mapping import blocked_by
from agent.control.lock import HeldError, Holder, HomeLock, end, holder_of, hung_process
from agent.control.notify import tell_systemd
from agent.control.robot_log import RobotLog
from agent.control.status import Status
from agent.errors import HomeError, LinkError
from agent.link.keys import Identity, is_renewing, read_identity
from agent.runners.event_gathering import new_event_loop
from agent.settings import Home, Settings, check_can_run, check_manager_url
from shared.messages import Message
from shared.settings import Renamed

__all__ = ["Replace", "identity_of", "run_agent"]

Replace = Literal["never", "hung", "always"]


def run_agent(
    settings: Settings,
    *,
    once: bool,
    replace: Replace,
    say: Say,
    show: Callable[[Status], None],
    reread: Callable[[], Settings] | None = None,
    renamed: Callable[[], tuple[Renamed, ...]] = tuple,
    nursery: Nursery | None = None,
) -> Ended:
    """Run the agent of a home until it receives a stop, or a single run is done.

    replace: end a process that works in this home already: always, never, or where it hangs; then
    one that is well continues, and this one has nothing to do. reread: reads the settings again,
    with the command line's values over them; None: they never change. renamed: finds the settings
    that are given by old names. nursery: forks page workers.
    Raises HomeError, SettingError.
    """
    home = Home(settings.home)
    check_can_run(settings)
    identity = identity_of(settings)
    blocked_by(settings.politeness.blocked)
    home.make()
    well = _make_way(home, replace, say)
    if well is not None:
        return Ended(Message("agent.works_already", pid=well.pid))
    keep_freed_memory()
    log = RobotLog(home.robot_log)
    try:
        lock = HomeLock.take(home.lock, signs=True)
    except HeldError:
        if replace != "hung":
            raise
        # Two starts at a time, as cron's and a person's: one of them is enough.
        log.say("another process of this agent already runs here; this one ends")
        return Ended(Message("agent.another_came_first"))

    def tell(text: str) -> None:
        log.say(text)
        say(text)

    def show_life(status: Status) -> None:
        if not status.stuck:
            lock.alive()
            tell_systemd()
        show(status)

    try:
        identity = _with_key(settings, identity, tell)
        allow_files(settings, tell)
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            ended = runner.run(
                live(
                    settings,
                    identity,
                    SystemClock(),
                    once=once,
                    say=tell,
                    show=show_life,
                    reread=reread or (lambda: settings),
                    renamed=renamed,
                    nursery=nursery,
                )
            )
        log.say(f"stopped: {ended.reason}")
    except BaseException as error:
        log.say(f"ended by {error!r}")
        raise
    else:
        return ended
    finally:
        lock.release()


def _with_key(settings: Settings, identity: Identity, say: Say) -> Identity:
    """Return who works here; a change of the key that was begun is ended first."""
    if not is_renewing(Home(settings.home)):
        return identity
    try:
        return renew_key(settings, identity)
    except LinkError as error:  # the next start tries again
        say(f"the new key of `prs rekey` is not in use yet: {error}")
        return identity


def _make_way(home: Home, replace: Replace, say: Say) -> Holder | None:
    """Return the process that works here and may continue; None: none is left.

    Raises HomeError where one cannot be ended.
    """
    holder = holder_of(home.lock)
    if holder is None or replace == "never":
        return None  # where there is one, the lock says so
    only = None
    if replace == "hung" and (only := hung_process(home.lock)) is None:
        return holder_of(home.lock)
    say(f"ending process {holder.pid}, which runs here" + " and hangs" * (replace == "hung"))
    if not end(home.lock, only=only, by_force=True):
        raise HomeError("agent_errors.process_not_ended", home=str(home.path), pid=holder.pid)
    return None


def identity_of(settings: Settings) -> Identity:
    """Return who this home is enrolled as. Raises HomeError where it is not, or as another."""
    identity = read_identity(Home(settings.home))
    if identity is None:
        raise HomeError("agent_errors.no_key", home=str(settings.home))
    site = settings.manager
    for name, wanted, known in (
        ("url", site.url and check_manager_url(site.url), identity.manager),
        ("name", site.name, identity.name),
    ):
        if wanted and wanted != known:
            raise HomeError(
                "agent_errors.key_of_another", name=f"manager.{name}", value=wanted, known=known
            )
    return identity

"""Start of an agent: checks that this process may work in this home, ends a change of its key
(docs/adr/0154), then runs it.

Invariant: a message names each missing thing and the command that mends it, before any start.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import random
import socket
from typing import Literal

from agent.adapters.allocator import keep_freed_memory
from agent.adapters.clock import SystemClock
from agent.app.site.site import allow_files
from agent.app.startup.composition import RunOptions, run_until_stopped
from agent.app.startup.running_agent import RunResult
from agent.app.startup.settings_mapping import blocked_by
from agent.control.lock import HeldError, Holder, HomeLock, end, holder_of, hung_process
from agent.control.robot_log import LineLogger, RobotLog
from agent.control.status import Status
from agent.errors import HomeError, LinkError, RefusedError
from agent.link.client import client_of
from agent.link.keys import UNKNOWN_KEY, Identity, is_renewing, read_identity, renew
from agent.link.link_memory import Memory
from agent.runners.event_gathering import new_event_loop
from agent.settings import Home, Settings, check_can_run, check_manager_url
from shared.messages import Message
from shared.wire.names import hash_of_key

__all__ = ["Replace", "identity_of", "notify_systemd", "renew_key", "run_agent"]

Replace = Literal["never", "hung", "always"]


def run_agent(
    settings: Settings, options: RunOptions, *, replace: Replace, log_line: LineLogger
) -> RunResult:
    """Run the agent of a home until it is asked to stop, or a single run is done.

    replace: end a process that works in this home already: always, never, or where it hangs; then
    a healthy one continues, and this one has nothing to do. log_line: to the terminal; the home's
    log file gets the same. Raises HomeError, SettingError.
    """
    home = Home(settings.home)
    check_can_run(settings)
    identity = identity_of(settings)
    blocked_by(settings.politeness.blocked_url_patterns)
    home.make()
    other = _end_other(home, replace, log_line)
    if other is not None:
        return RunResult(Message("agent.works_already", pid=other.pid))
    keep_freed_memory()
    log = RobotLog(home.robot_log)
    try:
        lock = HomeLock.take(home.lock, signs=True)
    except HeldError:
        if replace != "hung":
            raise
        # Two starts at a time, as cron's and a person's: one of them is enough.
        log.append("another process of this agent already runs here; this one ends")
        return RunResult(Message("agent.another_came_first"))

    def log_to_both(text: str) -> None:
        log.append(text)
        log_line(text)

    def show_life(status: Status) -> None:
        if not status.stuck:
            lock.alive()
            notify_systemd()
        options.show_status(status)

    try:
        identity = _with_key(settings, identity, log_to_both)
        allow_files(settings, log_to_both)
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            result = runner.run(
                run_until_stopped(
                    settings,
                    identity,
                    log_to_both,
                    dataclasses.replace(options, show_status=show_life),
                )
            )
        log.append(f"stopped: {result.reason}")
    except BaseException as error:
        log.append(f"ended by {error!r}")
        raise
    else:
        return result
    finally:
        lock.release()


def notify_systemd(text: str = "WATCHDOG=1") -> None:
    """Send a state to the service manager that started this process, by sd_notify(3).

    Without one, do nothing.
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):  # a name that is in no file system
        address = "\0" + address[1:]
    with (
        contextlib.suppress(OSError),
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender,
    ):
        sender.sendto(text.encode(), address)


def _with_key(settings: Settings, identity: Identity, log_line: LineLogger) -> Identity:
    """Return the identity; a change of the key that was begun is ended first."""
    if not is_renewing(Home(settings.home)):
        return identity
    try:
        return renew_key(settings, identity)
    except LinkError as error:  # the next start tries again
        log_line(f"the new key of `prs rekey` is not in use yet: {error}")
        return identity


def renew_key(settings: Settings, identity: Identity) -> Identity:
    """Replace the key, or end what an earlier try began; the caller holds the home's lock.

    Raises HomeError, LinkError: the home is unchanged.
    """
    home = Home(settings.home)

    async def hand_in(key: str) -> None:
        async with client_of(settings, identity) as client:
            await client.change_key(key)

    async def is_known(coming: Identity) -> bool:
        try:
            async with client_of(settings, coming) as client:
                await client.is_restart()
        except RefusedError as error:
            if error.status == UNKNOWN_KEY:
                return False
            raise
        return True

    renewed = asyncio.run(renew(home, identity, hand_in, is_known))
    _keep_place(home, identity, renewed)
    return renewed


def _keep_place(home: Home, before: Identity, now: Identity) -> None:
    """Record for the new key where the old one was used (docs/adr/0109).

    As another key it would wait for no copy, and one may be at work with a permit of the old key.
    """
    clock, rng = SystemClock(), random.SystemRandom()
    memory = Memory.open(home.link_state, epoch_ms=clock.epoch_ms(), rng=rng)
    key_hash, _, place = memory.kept.place.partition(" ")
    if key_hash == hash_of_key(before.key):
        memory.remember_location(f"{hash_of_key(now.key)} {place}")


def _end_other(home: Home, replace: Replace, log_line: LineLogger) -> Holder | None:
    """Return the process that works here and may continue; None: none is left.

    Raises HomeError where one cannot be ended.
    """
    holder = holder_of(home.lock)
    if holder is None or replace == "never":
        return None  # where there is one, the lock says so
    only = None
    if replace == "hung" and (only := hung_process(home.lock)) is None:
        return holder_of(home.lock)
    log_line(f"ending process {holder.pid}, which runs here" + " and hangs" * (replace == "hung"))
    if not end(home.lock, only=only, by_force=True):
        raise HomeError("agent_errors.process_not_ended", home=str(home.path), pid=holder.pid)
    return None


def identity_of(settings: Settings) -> Identity:
    """Return the identity of this home. Raises HomeError where it is not, or as another."""
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

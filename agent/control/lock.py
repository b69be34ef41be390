"""One process a home, held by the kernel: a crash leaves no stale lock.

The file says who holds it, for messages and for `--replace`; whether it is held only flock knows.
A process that promised signs of life writes them into it, in place, and leaves its length as it
is: neither a sign nor a start needs room on a full disk. They are seconds of CLOCK_MONOTONIC:
all processes of a machine share it, no setting of the clock moves it, and it stands while the
machine sleeps; no lock outlives its boot.
Invariant: no process is killed but the one that wrote itself into the file and still runs under
the same id (its start time is compared), while the lock is held; and the processes of its group
where it leads one.
Source: seed 004, 5.1.5 (a process that hangs is ended by the one that starts at midnight).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from agent.errors import HomeError
from agent.settings.home import full_disk_said
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "HUNG_S",
    "HeldError",
    "Holder",
    "HomeLock",
    "end",
    "healthy_holder",
    "holder_of",
    "hung_process",
    "lead_a_group",
]

PATIENCE_S: Final = 15.0  # an agent stops within seconds; one that does not, hangs
HUNG_S: Final = 900.0  # silence of one that hangs; opening ten million URLs takes minutes
LOOK_AGAIN_S: Final = 3.0
_KILLED_S: Final = 5.0
_STEP_S: Final = 0.05
_TRIES: Final = 3
_LINE_BYTES: Final = 200  # each sign of life is as long as the last one

Kill = Callable[[int, int], None]


@frozen
class Holder:
    """The process that works in a home. `started`: as the kernel counts it, to tell ids apart.

    leads: whether its process group is its own. alive_s: its last sign of life; None: it promised
    none, and it cannot be judged to hang.
    """

    pid: int
    started: int
    leads: bool = False
    alive_s: float | None = None


class HeldError(HomeError):
    """Another process works in the home."""


class HomeLock:
    """The lock of a home, held until the process ends or `release` is called."""

    def __init__(self, handle: int) -> None:
        pid = os.getpid()
        self._handle = handle
        self._holder = Holder(pid, _started(pid), os.getpgrp() == pid)

    @classmethod
    def take(cls, path: Path, *, signs: bool = False) -> HomeLock:
        """Lock a home for this process. Raises HomeError (of a held one HeldError), DiskFullError.

        signs: promise to call `alive` again and again, as long as this process is well.
        """
        with full_disk_said(path):
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(handle)
        except BlockingIOError as error:
            os.close(handle)
            raise HeldError(_held(path)) from error
        except OSError as error:
            os.close(handle)
            raise HomeError("agent_errors.lock_failed", path=str(path), why=str(error)) from error
        lock = cls(handle)
        try:
            with full_disk_said(path):
                lock._write(time.monotonic() if signs else None)
                os.ftruncate(handle, _LINE_BYTES)
        except BaseException:
            os.close(handle)
            raise
        return lock

    def alive(self) -> None:
        """Give a sign of life."""
        with contextlib.suppress(OSError):  # a disk that fails is another's news
            self._write(time.monotonic())

    def _write(self, alive_s: float | None) -> None:
        values = asdict(replace(self._holder, alive_s=alive_s))
        os.pwrite(self._handle, json.dumps(values).ljust(_LINE_BYTES).encode(), 0)

    def release(self) -> None:
        """Release the home."""
        with contextlib.suppress(OSError):  # in place: the next start may find no room for a line
            os.pwrite(self._handle, b" " * _LINE_BYTES, 0)
        os.close(self._handle)


def holder_of(path: Path) -> Holder | None:
    """Return the process that works in a home; None: there is none. An unnamed holder has pid 0."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        pass
    else:
        return None
    finally:
        os.close(handle)
    try:
        values = json.loads(path.read_bytes())
        alive_s = values.get("alive_s")
        return Holder(
            int(values["pid"]),
            int(values["started"]),
            bool(values.get("leads")),
            None if alive_s is None else float(alive_s),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Holder(0, 0)


def hung_process(
    path: Path,
    *,
    sleep: Callable[[float], None] = time.sleep,
    now_s: Callable[[], float] = time.monotonic,
) -> Holder | None:
    """Return the process that works in a home, promised signs of life and gives none.

    It is looked at twice, because a machine that just woke up needs a moment.
    """
    holder = holder_of(path)
    if holder is None or holder.alive_s is None or now_s() - holder.alive_s < HUNG_S:
        return None
    sleep(LOOK_AGAIN_S)
    return holder if holder_of(path) == holder else None


def healthy_holder(path: Path) -> Holder | None:
    """Return the process that works in a home and does not hang; None: there is none."""
    return holder_of(path) if hung_process(path) is None else None


def end(
    path: Path,
    *,
    only: Holder | None = None,
    patience_s: float = PATIENCE_S,
    by_force: bool = False,
    kill: Kill = os.kill,
    sleep: Callable[[float], None] = time.sleep,
    started: Callable[[int], int] | None = None,
) -> bool:
    """Ask the process that works in a home to stop, and wait; tell whether it is gone.

    only: this one, and none that came after it; None: who works here now. by_force: one that does
    not stop in time is killed, with the processes that it started where they are of its group; that
    loses nothing that was committed.
    """
    started = started or _started
    holder = only or holder_of(path)
    if holder is None:
        return True
    for number, wait_s in ((signal.SIGTERM, patience_s), (signal.SIGKILL, _KILLED_S)):
        if not _same(holder_of(path), holder):
            return True
        if number == signal.SIGKILL and not by_force:
            return False
        if holder.pid <= 0 or started(holder.pid) != holder.started:
            return False
        with contextlib.suppress(ProcessLookupError):
            whole_group = number == signal.SIGKILL and holder.leads
            kill(-holder.pid if whole_group else holder.pid, number)
        for _ in range(round(wait_s / _STEP_S)):
            if not _same(holder_of(path), holder):
                return True
            sleep(_STEP_S)
    return not _same(holder_of(path), holder)


def lead_a_group() -> None:
    """Make this process and those that it will start a process group.

    On a terminal the shell has done so; elsewhere no Ctrl-C stops it.
    """
    if os.getpgrp() != os.getpid() and not any(os.isatty(number) for number in range(3)):
        with contextlib.suppress(OSError):  # a session's first process leads one already
            os.setpgid(0, 0)


def _same(one: Holder | None, other: Holder) -> bool:
    return one is not None and (one.pid, one.started) == (other.pid, other.started)


def _lock(handle: int) -> None:
    """Lock a file; whoever only looks at it (`holder_of`) holds it for a moment."""
    for _ in range(_TRIES):
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_STEP_S)
    return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _held(path: Path) -> Message:
    holder, home = holder_of(path), str(path.parent)
    if holder is None or not holder.pid:
        return Message("agent_errors.home_held", home=home)
    return Message("agent_errors.home_held_by", home=home, pid=holder.pid)


def _started(pid: int) -> int:
    """Return when a process was started, in clock ticks since boot; -1: it does not run.

    That of its first thread: an emulated process (qemu-user, as containers of another processor
    have it) sees its own `stat`, which no other process sees, a tick off.
    """
    try:
        # The name in brackets may hold anything; field 22 counts from behind it.
        text = Path(f"/proc/{pid}/task/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return -1
    return int(text.rpartition(")")[2].split()[19])

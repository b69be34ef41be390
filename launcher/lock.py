"""One launcher at a time, held by the kernel; one that hangs is ended by the next.

Invariant: only the process is ended that wrote itself into the lock, holds it, and still runs under
the same number (its start time is compared). Killed anywhere, it leaves a release that works.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

__all__ = ["take_lock"]

HANGS_S: Final = 9 * 3600.0
"""More than all limits of an update together (`time_limits`, `bundle`, `switch`); while awake."""

ENDED_S: Final = 5.0
LOOK_S: Final = 0.05


def take_lock(path: Path, log_line: Callable[[str], None]) -> int | None:
    """Return a handle that holds the lock while it is open; None: another launcher has it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    if not _locks(handle) and not _end_hung_holder(handle, log_line):
        os.close(handle)
        return None
    pid = os.getpid()
    said = {"pid": pid, "started": _started(pid), "since_s": time.monotonic()}
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(said).encode(), 0)
    return handle


def _end_hung_holder(handle: int, log_line: Callable[[str], None]) -> bool:
    """End the holder of the lock where it hangs; return whether this process holds it then."""
    try:
        said = json.loads(os.pread(handle, 1000, 0))
        pid, started = int(said["pid"]), int(said["started"])
        held_s = time.monotonic() - float(said["since_s"])
    except (ValueError, KeyError, TypeError):
        log_line("lock: another update is under way")
        return False
    if held_s < HANGS_S or pid <= 0 or _started(pid) != started:
        log_line(f"lock: another update is under way, process {pid} for {held_s / 60:.0f} minutes")
        return False
    log_line(
        f"lock: process {pid} has been at an update for {held_s / 3600:.0f} hours; it is ended"
    )
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError as error:
        log_line(f"lock: process {pid}: {error.strerror}")
    for _ in range(round(ENDED_S / LOOK_S)):
        if _locks(handle):
            return True
        time.sleep(LOOK_S)
    log_line(f"lock: process {pid} does not end")
    return False


def _locks(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _started(pid: int) -> int:
    """Return when a process was started, in ticks since boot; -1: it does not run."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return -1
    return int(text.rpartition(")")[2].split()[19])  # field 22: the name may hold anything

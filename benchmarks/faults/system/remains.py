"""End what a process left behind that did not end its own: processes, mounts, namespaces.

The process that calls `adopt` inherits every orphan of its descendants (PR_SET_CHILD_SUBREAPER), so
none can get lost, whatever session or group it made for itself.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from benchmarks.faults.system.replica import children
from benchmarks.faults.transit.wire import RUN, device_prefix, namespace_prefix

__all__ = ["adopt", "end_children", "mounts_below", "remove_networks", "unmount_below"]

PR_SET_CHILD_SUBREAPER: Final = 36
WAIT_S: Final = 20.0


def adopt() -> None:
    """Become the parent of whatever descendants leave behind."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children() -> int:
    """End all descendants of this process by SIGKILL and take leave of them; return how many."""
    ended: set[int] = set()
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        living = children(os.getpid())
        if not living:
            break
        for pid in living:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        ended.update(living)
        _reap()
        time.sleep(0.02)
    return len(ended)


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def mounts_below(folder: Path) -> list[Path]:
    """Return what is mounted below a folder, the innermost first."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        place = Path(line.split()[4].encode().decode("unicode_escape"))
        if folder in place.parents:
            found.append(place)
    return sorted(found, key=lambda place: len(place.parts), reverse=True)


def unmount_below(folder: Path) -> int:
    """Unmount it; return how many."""
    found = mounts_below(folder)
    for place in found:
        subprocess.run(["umount", "--lazy", str(place)], capture_output=True, check=False)
    return len(found)


def remove_networks(pid: int) -> int:
    """Remove the namespaces and devices that a process made (`wire`); return how many."""
    count = 0
    for name in _names(RUN, namespace_prefix(pid)):
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
        count += 1
    for name in _names(Path("/sys/class/net"), device_prefix(pid)):
        subprocess.run(["ip", "link", "del", name], capture_output=True, check=False)
        count += 1
    return count


def _names(folder: Path, prefix: str) -> Iterator[str]:
    if folder.is_dir():
        yield from sorted(one.name for one in folder.iterdir() if one.name.startswith(prefix))

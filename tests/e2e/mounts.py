"""Mounts for tests, by the system calls themselves: `mount` asks /etc/fstab and /run, too.

A test that may not mount is skipped with the kernel's own reason; one that lacks a program of
Debian with the command that installs it (`tests.programs`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.programs import program

__all__ = ["in_own_namespace", "read_only_for", "remount", "small_file_system"]

_CALLS: Final = """
import ctypes, os, sys

READ_ONLY, REMOUNT, BIND, DETACH, NEWNS = 1, 32, 4096, 2, 0x20000
libc = ctypes.CDLL(None, use_errno=True)

def call(name, *arguments):
    if getattr(libc, name)(*arguments):
        error = ctypes.get_errno()
        sys.exit(f"{name}: {os.strerror(error)}")

def mount(source, folder, kind, flags, data=None):
    call("mount", source, folder, kind, ctypes.c_ulong(flags), data)

def enter(process):
    # Flags that a sandbox locks must be given again, or the kernel refuses the remount.
    descriptor = os.open(f"/proc/{process}/ns/mnt", os.O_RDONLY)
    call("setns", descriptor, NEWNS)

folder, *more = (text.encode() for text in sys.argv[2:])
locked = os.statvfs(folder).f_flag & (2 | 4 | 8)
match sys.argv[1]:
    case "tmpfs":
        mount(b"tmpfs", folder, b"tmpfs", 0, more[0])
    case "umount":
        call("umount2", folder, DETACH)
    case "remount":
        mount(None, folder, None, REMOUNT | locked | READ_ONLY * (more[0] == b"ro"))
    case "bind read-only":
        enter(int(more[0]))
        mount(folder, folder, None, BIND)
        mount(None, folder, None, REMOUNT | BIND | READ_ONLY | locked)
    case "unbind":
        enter(int(more[0]))
        call("umount2", folder, DETACH)
"""


@contextmanager
def small_file_system(folder: Path, options: str) -> Iterator[Path]:
    """Mount a file system in memory at a folder while the block runs. options: as `size=64m`."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a file system; run this test as root")
    folder.mkdir()
    _call("tmpfs", folder, options)
    try:
        yield folder
    finally:
        _call("umount", folder, must=True)


def remount(folder: Path, how: str) -> None:
    """Mount what is mounted at a folder again, `ro` or `rw`; nothing may be open for writing."""
    _call("remount", folder, how, must=how == "rw")


def in_own_namespace() -> str:
    """Return shell words for `ManagerProcess`: what follows sees mounts that nobody else does."""
    return f'set -- {program("unshare")} --mount "$@"'


@contextmanager
def read_only_for(process: int, folder: Path) -> Iterator[None]:
    """Let a folder be read-only for a process with mounts of its own, open files or not."""
    _call("bind read-only", folder, str(process))
    try:
        yield
    finally:
        _call("unbind", folder, str(process), must=True)


def _call(what: str, folder: Path, *more: str, must: bool = False) -> None:
    """Make a call in a process of its own; skip the test where that is not allowed.

    must: it takes back what was allowed, so a failure is one of the test.
    """
    done = subprocess.run(
        [sys.executable, "-c", _CALLS, what, str(folder), *more],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not (must and done.returncode), done.stderr
    if done.returncode:
        pytest.skip(f"this system lets no test mount ({what}): {done.stderr.strip()}")

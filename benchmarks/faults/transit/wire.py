"""A network of two machines: this one, and a namespace whose only way here is a pair of devices.

What listens in the namespace is reached over packets that the kernel carries, so the line can be
cut, throttled (`tc tbf`) and made to lose packets (nftables; kernels without netem can do that
too). Only root may make one. The process stays here: a thread enters the namespace and opens the
socket, which stays there.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from benchmarks.faults.fault import FaultError

__all__ = ["RUN", "Wire", "device_prefix", "namespace_prefix", "needs_namespaces", "wire"]

CLONE_NEWNET: Final = 0x40000000
RUN: Final = Path("/run/netns")
NUMBERS: Final = itertools.count()
LATENCY: Final = "400ms"  # a packet that would wait longer is lost, as at a real router


def namespace_prefix(pid: int) -> str:
    """Return how the names of all namespaces of a process begin; those of no other do."""
    return f"prsm-{pid}-"


def device_prefix(pid: int) -> str:
    """Return the same for devices, whose names have at most 15 bytes."""
    return f"pf{pid}-"


def needs_namespaces(*programs: str) -> str:
    """Return why no wire can be made here, or nothing. programs: that are needed beside `ip`."""
    if os.geteuid() != 0:
        return "network namespaces are root's: run it as root"
    for name in ("ip", *programs):
        if shutil.which(name) is None:
            return f"no command {name}: `make test-packages ARGS=all` installs it on Debian"
    name = f"{namespace_prefix(os.getpid())}try"
    done = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"this system makes no network namespaces ({done.stderr.strip()})"
    subprocess.run(["ip", "netns", "del", name], check=True)
    return ""


class Wire:
    """Made by `wire`. near: the address of this machine on it; far: that of the other end."""

    def __init__(self) -> None:
        number = next(NUMBERS) % 200
        self.name = f"{namespace_prefix(os.getpid())}n{number}"
        device = device_prefix(os.getpid())
        self._here, self._there = f"{device}h{number}", f"{device}t{number}"
        # Suites that run side by side should not meet.
        here = os.getpid() + number
        network = f"10.{200 + here // 250 % 50}.{here % 250}"
        self.near, self.far = f"{network}.1", f"{network}.2"

    def make(self) -> None:
        """Make the namespace and both devices. Raises FaultError."""
        _run("ip", "netns", "add", self.name)
        _run("ip", "link", "add", self._here, "type", "veth", "peer", "name", self._there)
        _run("ip", "link", "set", self._there, "netns", self.name)
        _run("ip", "addr", "add", f"{self.near}/30", "dev", self._here)
        _run("ip", "link", "set", self._here, "up")
        self._in("ip", "addr", "add", f"{self.far}/30", "dev", self._there)
        self._in("ip", "link", "set", "lo", "up")
        self._in("ip", "link", "set", self._there, "up")

    def remove(self) -> None:
        """Take it down; the devices go with the namespace."""
        with suppress(FaultError):
            _run("ip", "link", "del", self._here)
        with suppress(FaultError):
            _run("ip", "netns", "del", self.name)

    def cut(self) -> None:
        """Pull the plug at the far end."""
        self._in("ip", "link", "set", self._there, "down")

    def mend(self) -> None:
        """Put the plug in again."""
        self._in("ip", "link", "set", self._there, "up")

    def lose(self, percent: int) -> None:
        """Lose so many of a hundred packets, each way, chosen at random."""
        chance = ("numgen", "random", "mod", "100", "<", str(percent)) if percent < 100 else ()
        self._in("nft", "add", "table", "inet", "faults")
        for hook in ("input", "output"):
            place = f"{{ type filter hook {hook} priority 0; }}"
            self._in("nft", "add", "chain", "inet", "faults", hook, place)
            self._in("nft", "add", "rule", "inet", "faults", hook, *chance, "drop")

    def lose_nothing(self) -> None:
        """Pass all packets again."""
        self._in("nft", "delete", "table", "inet", "faults")

    def throttle(self, kbit_s: int) -> None:
        """Pass so many kbit/s each way, and keep no long queue."""
        shape = ("root", "tbf", "rate", f"{kbit_s}kbit", "burst", "4kb", "latency", LATENCY)
        _run("tc", "qdisc", "replace", "dev", self._here, *shape)
        self._in("tc", "qdisc", "replace", "dev", self._there, *shape)

    def full_speed(self) -> None:
        """Throttle no more."""
        _run("tc", "qdisc", "del", "dev", self._here, "root")
        self._in("tc", "qdisc", "del", "dev", self._there, "root")

    def listener(self) -> socket.socket:
        """Return a socket that listens at `far`, on a free port."""
        made: list[socket.socket] = []
        failed: list[OSError] = []

        def enter() -> None:
            try:
                with (RUN / self.name).open("rb") as namespace:
                    libc = ctypes.CDLL(None, use_errno=True)
                    if libc.setns(namespace.fileno(), CLONE_NEWNET):  # of this thread only
                        failed.append(OSError(ctypes.get_errno(), "setns"))
                        return
                made.append(socket.create_server((self.far, 0), backlog=64))
            except OSError as error:
                failed.append(error)

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        if failed:
            raise FaultError(f"no socket in namespace {self.name}: {failed[0]}")
        return made[0]

    def _in(self, *words: str) -> None:
        _run("ip", "netns", "exec", self.name, *words)


@contextmanager
def wire() -> Iterator[Wire]:
    """Make a line, and take it down. Raises FaultError."""
    made = Wire()
    try:
        made.make()
        yield made
    finally:
        made.remove()


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FaultError(f"{' '.join(words)}: {done.stderr.strip()}")

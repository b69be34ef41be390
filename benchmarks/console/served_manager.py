"""The shipped manager over a filled database of either kind, and what both use of the processor."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.console.data import Filled, fill
from manager.store import Layout
from tests.e2e.manager_process import ManagerProcess, running_manager
from tests.postgres import running_server

__all__ = ["KINDS", "SERVER", "Served", "serve"]

KINDS: Final = ("sqlite", "postgresql")
SETTINGS: Final = ("policy.tick_s=5",)  # as shipped
SERVER: Final = ("listen_addresses=", "fsync=off", "shared_buffers=256MB", "max_connections=100",
                 "max_wal_size=8GB")  # fmt: skip
BACKGROUND_S: Final = 10.0
SETTLED: Final = 0.25
"""Of a core. A manager does more at first over a million hosts that were never served before."""
SETTLING_MOST_S: Final = 600.0


@dataclass
class Served:
    """A manager at work. pids: its process, and that of its database's server."""

    manager: ManagerProcess
    pids: tuple[int, ...]
    fill_s: float

    @property
    def cpu_ms(self) -> float:
        """Return the CPU time that all of it used so far; threads that ended are left out."""
        return sum(map(_cpu_ns, self.pids)) / 1e6

    def settle(self) -> float:
        """Wait until the manager has done what it begins with; return the seconds.

        Raises TimeoutError where that does not end: it would disturb the measured pages.
        """
        begun = time.monotonic()
        while self.background() > SETTLED:
            if time.monotonic() - begun > SETTLING_MOST_S:
                raise TimeoutError(f"over {SETTLED} of a core for {SETTLING_MOST_S:.0f} s, unasked")
        return time.monotonic() - begun

    def background(self) -> float:
        """Return the share of a core that it uses without requests for pages, in some seconds."""
        begun, used_ms = time.monotonic(), self.cpu_ms
        time.sleep(BACKGROUND_S)
        return (self.cpu_ms - used_ms) / 1000 / (time.monotonic() - begun)


def _cpu_ns(pid: int) -> int:
    """Return what the threads of a process and of all below it ran so far: proc(5), schedstat.

    Processes count whole ticks of 10 ms, which is more than many a page takes.
    """
    found = 0
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):  # it ended meanwhile
            found += int((task / "schedstat").read_text().split()[0])
            found += sum(_cpu_ns(int(one)) for one in (task / "children").read_text().split())
    return found


@contextmanager
def serve(kind: str, data: Path, filled: Filled) -> Iterator[Served]:
    """Fill a database of a kind, and serve it. data: the manager's folder, to be made."""
    layout = Layout(data)
    layout.create()
    with _database(kind, data) as (url, servers):
        begun = time.monotonic()
        fill(url, layout, filled, time.time_ns() // 1_000_000)
        fill_s = time.monotonic() - begun
        settings = SETTINGS if kind == "sqlite" else (*SETTINGS, f"database.url={url}")
        with running_manager(data, *settings) as manager:
            yield Served(manager, (manager.process.pid, *servers), fill_s)
            manager.kill()  # its data are thrown away; a tick over a million units ends late


@contextmanager
def _database(kind: str, data: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    if kind == "sqlite":
        yield f"sqlite:///{data}/prsm.sqlite", ()
        return
    with running_server(SERVER) as server:
        server.run_sql("CREATE DATABASE prsm")
        assert server.process is not None
        yield server.url("prsm"), (server.process.pid,)

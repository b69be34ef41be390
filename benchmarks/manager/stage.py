"""The participants: shipped managers, PostgreSQL, nginx; and their CPU time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from benchmarks.manager.data import Filled, fill
from tests.e2e.manager_process import ManagerProcess, running_manager
from tests.e2e.nginx import nginx_in_front, wait_for_front
from tests.postgres import running_server
from tools.held_port import HeldPort

__all__ = ["Stage", "bare_server", "cpu_s", "one_manager", "peak_mb", "two_managers"]

TICKS: Final = os.sysconf("SC_CLK_TCK")
SETTINGS: Final = (
    "policy.tick_s=5",  # as shipped
    'dns.servers=["127.0.0.1:9"]',  # no server there: found hosts are not looked up
    "dns.timeout_s=0.1",
    "limits.discoveries_per_day=100000000",
    "limits.uploads_per_minute=1000",
)
DURABLE: Final = ("listen_addresses=", "shared_buffers=256MB", "max_connections=100")


@dataclass(frozen=True, slots=True)
class Stage:
    """Managers that serve one database, and where to reach them.

    port: of the only manager, or of nginx before them. processes: who shares the processors.
    """

    managers: tuple[ManagerProcess, ...]
    port: int
    tls: bool
    processes: dict[str, tuple[int, ...]]

    def client(self) -> httpx.Client:
        """Return a client of the address that agents use."""
        scheme = "https" if self.tls else "http"
        return httpx.Client(base_url=f"{scheme}://127.0.0.1:{self.port}", verify=False, timeout=600)

    def used_s(self) -> dict[str, float]:
        """Return the CPU seconds of each so far."""
        return {name: sum(map(cpu_s, pids)) for name, pids in self.processes.items()}


@contextmanager
def one_manager(folder: Path, filled: Filled, now_ms: int) -> Iterator[Stage]:
    """Serve a filled SQLite database by one process, as `prsm serve` does."""
    data = folder / "one"
    data.mkdir()
    fill(f"sqlite:///{data}/prsm.sqlite", filled, now_ms)
    with running_manager(data, *SETTINGS) as manager:
        pid = manager.process.pid
        yield Stage((manager,), manager.port, tls=False, processes={"prsm": (pid,)})


@contextmanager
def two_managers(folder: Path, filled: Filled, now_ms: int) -> Iterator[Stage]:
    """Serve a filled PostgreSQL by two processes behind the shipped nginx."""
    with ExitStack() as stack:
        server = stack.enter_context(running_server(DURABLE))
        server.run_sql("CREATE DATABASE prsm")
        url = server.url("prsm")
        fill(url, filled, now_ms)
        shared = (*SETTINGS, f"database.url={url}", f"database.files_folder={folder}/files",
                  "server.behind_tls_proxy=true")  # fmt: skip
        managers = tuple(
            stack.enter_context(running_manager(folder / name, *shared))
            for name in ("two", "three")
        )
        port = stack.enter_context(HeldPort())
        stack.enter_context(
            nginx_in_front(
                folder / "nginx", managers[0].port, folder, port, others=[managers[1].port]
            )
        )
        nginx = int((folder / "nginx" / "pid").read_text())
        assert server.process is not None
        yield Stage(
            managers,
            port,
            tls=True,
            processes={
                "prsm": tuple(each.process.pid for each in managers),
                "postgres": (server.process.pid,),
                "nginx": (nginx,),
            },
        )


@contextmanager
def bare_server() -> Iterator[Stage]:
    """Serve the same route by uvicorn and FastAPI alone."""
    with HeldPort() as port:
        command = [sys.executable, "-m", "benchmarks.manager.limit", str(port)]
        with tempfile.TemporaryDirectory(prefix="prsm-limit-") as name:
            with (Path(name) / "out").open("wb") as out:
                process = subprocess.Popen(command, stdout=out, stderr=out)
            try:
                wait_for_front(port, process, Path(name))
                yield Stage((), port, tls=False, processes={"bare": (process.pid,)})
            finally:
                process.terminate()
                process.wait(30)


def cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process and all below it, those that ended too."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = {int(one) for task in threads for one in (task / "children").read_text().split()}
    except OSError:
        return 0.0
    # utime, stime, and both of the children that were waited for: proc(5).
    return sum(map(int, fields[11:15])) / TICKS + sum(map(cpu_s, children))


def peak_mb(pid: int, *, reset: bool = False) -> float:
    """Return the most memory that a process had since the last reset, in MB."""
    if reset:
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    found = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1000

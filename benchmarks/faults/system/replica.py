"""A manager of several: the shipped `prsm serve`, its way to PostgreSQL a line that can be cut."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import httpx

from benchmarks.faults.fault import FaultError
from benchmarks.faults.system.postgres import Postgres
from benchmarks.faults.transit.line import Line
from tests.e2e.commands import AskedManager
from tools.demo.system import wait_for

__all__ = ["START_S", "Replica"]

START_S: Final = 300.0

SETTINGS: Final = """\
[server]
behind_tls_proxy = true

[database]
url = "{url}"
files_folder = "{files}"

[policy]
tick_s = 0.5
sync_interval_s = 1.0
pending_sync_interval_s = 0.5
syncs_per_s = 1000.0
permit_s = {permit_s}
grace_s = 1.0
max_tick_gap_s = {gap_s}
log_timeout_s = 10.0
refetch_share = 0.0

[limits]
reserve_bytes = {reserve_bytes}
uploads_per_minute = 100000

[dns]
servers = ["127.0.0.1:{dns_port}"]
allowed_networks = ["127.0.0.0/8"]
"""


class Replica(AskedManager):
    """One manager. `prsm` asks it; `start`, `kill` and so on are those of its process."""

    def __init__(self, data: Path, postgres: Postgres, name: str, settings: Mapping[str, object]):
        """settings: for SETTINGS, without its url."""
        self.name = name
        self.line = Line(postgres.port)
        super().__init__(
            data, SETTINGS.format(url=postgres.url_at(self.line.port, name), **settings)
        )
        self.program.log = data.with_name(f"{name}.log")
        self.plain_environment = dict(self.program.environment)

    @property
    def port(self) -> int:
        """Return where it listens."""
        return int(self.url.rpartition(":")[2])

    @property
    def pid(self) -> int:
        """Return its process."""
        assert self.program.process is not None
        return self.program.process.pid

    def start(self) -> Replica:
        """Start it and wait until it answers, however busy the machine is."""
        self.program.start()
        wait_for(f"manager {self.name}", self._answers_or_ended, seconds=START_S)
        return self

    def _answers_or_ended(self) -> bool:
        if not self.program.running:
            raise FaultError(f"{self.name} ended: {self.program.log.read_text()[-2000:]}")
        return self.answers()

    def start_with(self, environment: Mapping[str, str]) -> None:
        """Start it with more in its environment, and wait until it answers."""
        self.program.environment = self.plain_environment | dict(environment)
        self.start()

    def begin(self) -> None:
        """Start it, in the same way as the last time, and do not wait."""
        self.program.start()

    def send(self, number: signal.Signals) -> None:
        """Send it and its children a signal."""
        for pid in (self.pid, *children(self.pid)):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue

    def call(self, method: str, path: str, /, **json: Any) -> Any:
        """Ask it by its Unix socket, from any thread. Raises FaultError."""
        way = httpx.HTTPTransport(uds=str(self.data / "prsm.sock"))
        try:
            with httpx.Client(transport=way, base_url="http://prsm/api/v1", timeout=30) as client:
                answer = client.request(method, path, json=json or None)
        except httpx.HTTPError as error:
            raise FaultError(f"{self.name}: {method} {path}: {error!r}") from error
        if answer.is_error:
            raise FaultError(f"{self.name}: {method} {path}: {answer.text}")
        return answer.json()

    def answers(self) -> bool:
        """Return whether it answers."""
        try:
            self.call("GET", "/managers")
        except FaultError:
            return False
        return True

    def leads(self, leader: str) -> bool:
        """Return whether it is who the row of the leader names."""
        return self.program.running and f"-{self.pid}-" in leader

    def close(self) -> None:
        """End it."""
        if self.program.running:
            self.send(signal.SIGCONT)
            self.line.mend()
        self.stop()
        self.line.close()


def children(pid: int) -> list[int]:
    """Return the children of a process and theirs."""
    found: list[int] = []
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return found
    for thread in threads:
        try:
            listed = (thread / "children").read_text().split()
        except OSError:
            continue
        for each in listed:
            found += [int(each), *children(int(each))]
    return found

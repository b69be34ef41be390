"""Start the shipped `prsm serve` as a process of its own, and talk to it over loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
from click.testing import CliRunner

from manager.cli import main
from manager.store import Layout
from shared.wire.names import hash_of_key, new_key
from tests.empty_database import new_database

__all__ = ["ManagerProcess", "prsm", "prsm_program", "running_manager"]

READY_S = 60.0
STOP_S = 30.0
CODE = "import sys; from manager.cli import main; sys.exit(main())"


class ManagerProcess:
    """A manager that serves a folder on a free port."""

    def __init__(self, data: Path, *settings: str, before: str = "") -> None:
        """before: shell words that are run in its shell first, as `ulimit -f 1000`."""
        self.data = data
        self._settings = settings
        self._before = before
        proxied = "server.behind_tls_proxy=true" in settings
        self._headers = {"X-Forwarded-Proto": "https"} if proxied else {}
        self._process: subprocess.Popen[str] | None = None
        self._ready: dict[str, Any] = {}

    def start_again(self) -> ManagerProcess:
        """Start it at the port that it had."""
        return self.start(self.port)

    def start(self, port: int = 0) -> ManagerProcess:
        """Start it and wait until it serves."""
        command = [sys.executable, "-c", CODE, "--data", str(self.data), "serve", "--json"]
        command += ["--listen", f"127.0.0.1:{port}"]
        for setting in ("limits.reserve_bytes=0", "policy.tick_s=0.2", *self._settings):
            command += ["--set", setting]
        if self._before:
            command = ["/bin/sh", "-c", f'{self._before}; exec "$@"', "sh", *command]
        with self.log_path.open("a") as log:
            self._process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"prsm serve did not start:\n{self.log}"
        self._ready = json.loads(line)
        return self

    @property
    def log_path(self) -> Path:
        """Return where its standard error goes."""
        return self.data.with_name(self.data.name + ".log")

    @property
    def log(self) -> str:
        """Return what it wrote to standard error."""
        return self.log_path.read_text()

    @property
    def url(self) -> str:
        """Return where it listens."""
        return str(self._ready["url"])

    @property
    def port(self) -> int:
        """Return its TCP port."""
        return httpx.URL(self.url).port or 0

    @property
    def process(self) -> subprocess.Popen[str]:
        """Return the process."""
        assert self._process is not None
        return self._process

    def stop(self) -> int:
        """End it with SIGTERM and return its exit code."""
        self.process.terminate()
        return self.ended()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.ended()

    def close(self) -> None:
        """End it, whatever state it is in, and all that it started."""
        if self._process is None:
            return
        try:
            if self._process.poll() is None:
                self.stop()
        finally:
            # Whoever takes too long to stop is told of, but not left behind.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()

    def ended(self) -> int:
        """Wait until it has ended and return its exit code."""
        code = self.process.wait(STOP_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def client(self, **options: Any) -> httpx.Client:
        """Return a client of its TCP listener; it is the proxy where one is configured."""
        headers = {**self._headers, **options.pop("headers", {})}
        return httpx.Client(base_url=self.url, timeout=600, headers=headers, **options)

    def agent(self, name: str, kind: str = "plain") -> httpx.Client:
        """Let an agent join by the protocol, and return a client with its key."""
        token = prsm(self.data, "agents", "token", name).strip()
        key = new_key()
        body = {"agent": name, "token": token, "key_hash": hash_of_key(key), "kind": kind}
        answer = httpx.post(f"{self.url}api/v1/enrol", json=body, headers=self._headers)
        assert answer.status_code == 200, answer.text
        return self.client(headers={"Authorization": f"Bearer {key}"})


@contextmanager
def running_manager(
    data: Path, *settings: str, before: str = "", first: bool = False
) -> Iterator[ManagerProcess]:
    """Serve a folder while the block runs.

    first: the manager makes its database itself; else a new folder gets one that is ready.
    """
    is_new = not data.exists() or not any(data.iterdir())
    if is_new and not first and not any(one.startswith("database.") for one in settings):
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = Layout(data).database
        path.touch(mode=0o600)
        path.write_bytes(new_database())
    manager = ManagerProcess(data, *settings, before=before)
    try:
        yield manager.start()
    finally:
        manager.close()


def prsm(data: Path, *arguments: str, stdin: str = "", code: int = 0) -> str:
    """Do what a `prsm` command does, in this process, and return its standard output."""
    done = CliRunner().invoke(main, ["--data", str(data), *arguments], input=stdin)
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.stderr


def prsm_program(data: Path, *arguments: str, stdin: str = "", code: int = 0) -> str:
    """Run a `prsm` command as an administrator would, and return its standard output."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, "--data", str(data), *arguments],
        input=stdin, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr

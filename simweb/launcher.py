"""Start a simulated web from Python, as a separate process, and take it down again.

    with SimulatedWeb(folder, hosts=20, seed=7, trouble_scale=0) as web:
        crawl(web.seeds, web.port, dns=("127.0.0.1", web.dns_port))
        assert web.expected().captures == ...
        assert web.judge(interval_ms=100).ok

Options are those of the command line, `-` written as `_`; a list is a repeated option. The
process also ends by itself when the process that started it ends.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from shared.errors import PrsmError
from simweb.judging.judge import judge_log
from simweb.judging.verdict import Verdict
from simweb.sites.builder import build_world
from simweb.sites.expectation import Expected, expect_world
from simweb.sites.options import WorldOptions, flag_of
from simweb.sites.plan import HostPlan, World

__all__ = ["SimulatedWeb", "StartError"]

_READY_S = 300.0
_STOP_S = 10.0

Value = str | int | float | bool | Iterable[str]


class StartError(PrsmError):
    """The simulated web ended before it was ready; the message is what it said."""


class SimulatedWeb:
    """A running `python -m simweb`; a context manager."""

    def __init__(self, folder: Path, /, **options: Value) -> None:
        self.folder = folder
        self.log_path = folder / "requests.jsonl"
        self._options = options
        self._process: subprocess.Popen[str] | None = None
        self._ready: dict[str, Any] = {}

    def start(self) -> SimulatedWeb:
        """Start it and wait until everything listens. Raises StartError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "simweb", "--until-eof"]
        command += ["--write", str(self.folder), "--log", str(self.log_path)]
        for name, value in self._options.items():
            command += _arguments(name, value)
        errors = self.folder / "simweb.err"
        with errors.open("w") as stderr:
            process = subprocess.Popen(  # noqa: S603 - our own module with our own options
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True
            )
        self._process = process
        line = _first_line(process)
        if not line.startswith("READY "):
            self.stop()
            raise StartError(f"simweb did not start: {errors.read_text().strip() or line}")
        self._ready = json.loads(line.removeprefix("READY "))
        return self

    def stop(self) -> None:
        """End it; the log and the plan stay."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()

    def kill(self) -> None:
        """End it as a power cut would (SIGKILL)."""
        if self._process is not None:
            self._process.kill()
        self.stop()

    def __enter__(self) -> SimulatedWeb:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def process(self) -> subprocess.Popen[str]:
        """Return the running process. Raises StartError when there is none."""
        if self._process is None:
            raise StartError("simweb does not run: call start() first")
        return self._process

    @property
    def complaints(self) -> str:
        """Return what it wrote to standard error: nothing, if all is well."""
        return (self.folder / "simweb.err").read_text()

    @property
    def port(self) -> int:
        """Return the port of every host."""
        return int(self._ready["port"])

    @property
    def dns_port(self) -> int:
        """Return the port of the name server at 127.0.0.1, by UDP and TCP."""
        return int(self._ready["dns_port"])

    @property
    def control_port(self) -> int:
        """Return the port of the control at 127.0.0.1."""
        return int(self._ready["control_port"])

    @cached_property
    def world(self) -> World:
        """Return the world it serves, built again here from the options in hosts.json."""
        plan = json.loads((self.folder / "hosts.json").read_text())
        return build_world(WorldOptions.from_json(plan["options"]))

    @property
    def hosts(self) -> list[HostPlan]:
        """Return the plan of every host."""
        return self.world.hosts

    @property
    def seeds(self) -> list[str]:
        """Return the URLs of the seed file."""
        return (self.folder / "seeds.txt").read_text().split()

    def url(self, host: HostPlan, path: str = "/") -> str:
        """Return the URL of a path of a host."""
        return host.url(self.port, path)

    def expected(self, hosts: Iterable[HostPlan] | None = None, strict: bool = False) -> Expected:
        """Return what an honest, complete crawl of these hosts (default: all) gets."""
        return expect_world(self.world, self.port, hosts, strict)

    def requests(self) -> list[dict[str, Any]]:
        """Return the requests logged so far."""
        lines = self.log_path.read_text().splitlines()
        events = (json.loads(line) for line in lines if line.endswith("}"))
        return [event for event in events if event["event"] == "request"]

    def judge(self, interval_ms: float, **rules: Any) -> Verdict:
        """Judge the log so far; `rules` are the other fields of `judge.Rules`."""
        return judge_log(self.log_path, interval_ms=interval_ms, **rules)

    def stats(self) -> dict[str, Any]:
        """Return the counters."""
        return self._call("GET", "/stats")

    def fault(self, host: HostPlan, kind: str = "") -> None:
        """Put a host in trouble, or (empty) heal it."""
        self._call("POST", f"/hosts/{host.name}/fault", {"kind": kind})

    def move(self, host: HostPlan) -> str:
        """Give a host a new address; return it."""
        return str(self._call("POST", f"/hosts/{host.name}/move")["address"])

    def change(self, share: float = 1.0, host: HostPlan | None = None) -> None:
        """Give a share of the pages a new version."""
        self._call("POST", "/change", {"share": share, "host": host.name if host else None})

    def _call(self, method: str, path: str, values: dict[str, Any] | None = None) -> dict[str, Any]:
        body = json.dumps(values or {}).encode() if method == "POST" else None
        url = f"http://127.0.0.1:{self.control_port}{path}"
        request = Request(url, data=body, method=method)
        try:
            with urlopen(request, timeout=_STOP_S) as answer:  # noqa: S310 - always http
                found: dict[str, Any] = json.load(answer)
        except HTTPError as error:
            with error:
                raise PrsmError(f"{method} {path}: {error.read().decode()}") from error
        return found


def _arguments(name: str, value: Value) -> list[str]:
    flag = flag_of(name)
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag[2:]}"]
    if isinstance(value, str | int | float):
        return [flag, str(value)]
    return [text for item in value for text in (flag, item)]


def _first_line(process: subprocess.Popen[str]) -> str:
    """Return the first line of output; empty when the process ends or takes too long."""
    assert process.stdout is not None
    timer = threading.Timer(_READY_S, process.kill)
    timer.start()
    try:
        return process.stdout.readline()
    finally:
        timer.cancel()

"""A whole manager in this process, on SQLite in a folder, with a clock that tests set."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import httpx
from starlette.types import ASGIApp

from manager.app.composition import Manager, layout_of, open_manager
from manager.app.web.web import build_app, wrapped
from manager.console import ConsoleServices
from manager.intake.uploads.uploads import UploadDesk
from manager.intake.workers.body_job import BodyJob, Reader
from manager.operations.actor import Actor
from manager.operations.hosts.addresses import Resolution, hosts_to_resolve, record_resolutions
from manager.operations.hosts.hosts import import_hosts
from manager.operations.identity.enrolment import AgentIdentity, AgentKind, enrol, issue_join_token
from manager.operations.planning.planners import InProcessPlanner
from manager.settings import read_settings
from shared.wire.crawl_log import Comment, LogLine, encode
from shared.wire.names import hash_of_key, new_key
from tests.empty_database import new_database
from tests.manager.asgi import Caller

__all__ = [
    "LOCAL",
    "START_MS",
    "Agent",
    "Clock",
    "Running",
    "fill",
    "log_body",
    "look_up",
    "running",
    "zipped",
]

Job = TypeVar("Job", bound=BodyJob)
Result = TypeVar("Result")

RESERVES = ("limits.reserve_bytes=0", "collection.reserve_bytes=0")
START_MS = 1_790_000_000_000
LOCAL = Actor("local", "test")


@dataclass
class Clock:
    """A clock that stands still until it is set."""

    now_ms: int = START_MS

    def __call__(self) -> int:
        return self.now_ms

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now_ms += round(seconds * 1000)


@dataclass
class Agent:
    """An agent with its key, as it calls the manager."""

    identity: AgentIdentity
    call: Caller

    @property
    def name(self) -> str:
        """Return its name."""
        return self.identity.name

    def send_log(self, body: bytes) -> httpx.Response:
        """Send M3."""
        return self.call.post("/servlets/submitlog", body)


async def read_here(function: Callable[[Job], Result], job: Job) -> Result:
    """Read a body in this process."""
    return function(job)


@dataclass
class Running:
    """A manager, and callers of it: from loopback, from elsewhere, by the Unix socket."""

    manager: Manager
    clock: Clock
    public: ASGIApp = field(init=False)
    console: ConsoleServices = field(init=False)
    manager_desk: UploadDesk = field(init=False)
    anybody: Caller = field(init=False)
    outside: Caller = field(init=False)
    local: Caller = field(init=False)

    def __post_init__(self) -> None:
        app = build_app(self.manager)
        self.manager_desk = app.state.agent_services.desk
        self.console = app.state.console_services
        # Answers are read whole here: an event stream ends after its first word.
        self.console.streams.close()
        self.public = wrapped(app, self.manager, local=False)
        self.anybody = Caller(self.public)
        self.outside = Caller(self.public, address="192.0.2.7")
        self.local = Caller(wrapped(app, self.manager, local=True))

    def agent(self, name: str = "a.example", kind: AgentKind = "plain") -> Agent:
        """Let an agent join."""
        db, key = self.manager.db, new_key()
        token = issue_join_token(db, name, LOCAL, self.clock())
        joined = enrol(db, name, token.token, hash_of_key(key), self.clock(), kind)
        headers = {"Authorization": f"Bearer {key}"}
        return Agent(joined.agent, Caller(self.public, headers=headers))

    def files(self, folder: str) -> list[Path]:
        """Return what lies in a folder of the data directory."""
        return sorted(p for p in (self.manager.layout.data / folder).rglob("*") if p.is_file())


@contextmanager
def running(folder: Path, *overrides: str, read: Reader = read_here) -> Iterator[Running]:
    """Open a manager in a folder; overrides are settings as `limits.log_bytes=1000`."""
    clock = Clock()
    settings = read_settings(folder, overrides=[*RESERVES, *overrides])
    database = layout_of(settings).database
    if not database.exists():
        database.parent.mkdir(parents=True, exist_ok=True)
        database.write_bytes(new_database())
    manager = open_manager(settings, read, InProcessPlanner(), clock)
    try:
        yield Running(manager, clock)
    finally:
        manager.close()


def fill(prsm: Running, *hosts: str) -> None:
    """Make hosts known, with an address each."""
    manager = prsm.manager
    import_hosts(manager.db, enumerate(hosts, 1), LOCAL, prsm.clock(), manager.policy)
    look_up(prsm)


def look_up(prsm: Running) -> None:
    """Give each host that waits for it an address."""
    manager = prsm.manager
    due = hosts_to_resolve(manager.db, prsm.clock(), 100)
    resolved = [
        Resolution(host.host_id, host.key, (f"133.9.1.{index}",)) for index, host in enumerate(due)
    ]
    record_resolutions(manager.db, resolved, prsm.clock(), manager.policy)


def log_body(agent: str, lines: list[LogLine | Comment], minute: str = "202611211000") -> bytes:
    """Return the body of an M3."""
    return f"{agent}.{minute}\n".encode() + b"".join(encode(lines))


def zipped(*lines: str) -> bytes:
    """Return the body of an M2."""
    return gzip.compress("".join(f"{line}\n" for line in lines).encode())

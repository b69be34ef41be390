"""A manager on loopback that says what a test wants, and keeps what agents say.

It speaks sync and the messages as docs/protocol.md has them, and can lose answers, refuse, be slow
or be away. What it decides is the test's business: it only keeps the agent's side honest by
recording everything with its time.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from shared.wire.crawl_log import LogLine, LogName, decode, decode_name
from shared.wire.installation import HEADER
from shared.wire.names import hash_of_key
from shared.wire.orders import ListHead, Order, head_lines, order_lines
from shared.wire.server_list import UrlLine, encode
from shared.wire.server_list import decode as decode_list
from shared.wire.sync import Command, Permit, Settings, SyncAnswer, SyncRequest
from shared.wire.sync_json import json_of, read_message

__all__ = ["MARK", "Call", "FakeManager", "answer", "hang_up", "refuse", "take_and_hang_up"]

MARK = "0123456789abcdef"
INSTALLATION = "11111111-2222-4333-8444-555555555555"
"""As a manager names each request."""

Fault = Callable[["Handler", str, bytes], bool]
"""Called with a path's last part and the body before a request is answered; True: dealt with."""


@dataclass
class Call:
    """One request that came in."""

    at: float
    path: str
    body: bytes
    key: str


@dataclass
class FakeManager:
    """Its fields may be changed at any time; a context manager."""

    name: str = "prs1"
    token: str = "token-1"
    units: tuple[Order, ...] = ()
    round: int = 1
    generation: int = 1
    epoch: int = 1
    permit_s: float | None = 3600.0
    next_poll_s: float = 0.3
    settings: Settings = field(default_factory=Settings)
    command: Command | None = None
    message: str = ""
    joined: bool = True
    calls: list[Call] = field(default_factory=list)
    syncs: list[SyncRequest] = field(default_factory=list)
    logs: dict[str, bytes] = field(default_factory=dict)  # by first line
    repeats: int = 0
    finished: dict[str, int] = field(default_factory=dict)  # unit: times it was said
    key_hashes: dict[str, str] = field(default_factory=dict)  # by token
    faults: dict[str, list[Fault]] = field(default_factory=dict)  # by the path's last part
    away: bool = False
    installation: str = INSTALLATION  # of its database, which each answer says

    def __post_init__(self) -> None:
        self.lock = threading.RLock()
        self._scheme = "http"
        handler = type("Bound", (Handler,), {"manager": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}"

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Speak TLS from now on."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._scheme = "https"

    def __enter__(self) -> FakeManager:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def fail(self, path: str, *faults: Fault) -> None:
        """Let the next requests to a path go wrong, one after the other."""
        self.faults.setdefault(path, []).extend(faults)

    def give(self, *units: str | Order) -> None:
        """Hand a new list out."""
        with self.lock:
            self.units = tuple(Order(unit) if isinstance(unit, str) else unit for unit in units)
            self.generation += 1

    def log_lines(self) -> Iterator[LogLine]:
        """Yield the lines of all logs that came, in the order of their names."""
        for name in sorted(self.logs):
            for line in decode([self.logs[name]]):
                if isinstance(line, LogLine):
                    yield line

    def records(self) -> list[str]:
        """Return the URLs that came by M2."""
        return [
            line.url
            for call in self.calls
            if call.path == "/servlets/record"
            for line in decode_list([call.body])
            if isinstance(line, UrlLine)
        ]

    def paths(self) -> list[str]:
        """Return the last parts of the paths that were asked for, syncs left out."""
        names = [call.path.rpartition("/")[2] for call in self.calls]
        return [name for name in names if name != "sync"]

    # what it says

    def sync(self, request: SyncRequest) -> SyncAnswer:
        """Answer a sync."""
        self.syncs.append(request)
        for unit in request.finished:
            self.finished[unit.unit] = self.finished.get(unit.unit, 0) + 1
        if self.command is not None and request.command_done == self.command.id:
            self.command = None
        permit = None
        if self.permit_s is not None and self.joined:
            permit = Permit(epoch=self.epoch, duration_s=self.permit_s)
        return SyncAnswer(
            server_time_ms=time.time_ns() // 1_000_000,
            next_poll_s=self.next_poll_s,
            round=self.round,
            generation=self.generation,
            permit=permit,
            settings=self.settings,
            command=self.command,
            message=self.message,
        )

    def list(self) -> bytes:
        """Return M1."""
        head = head_lines(ListHead(self.round, self.generation))
        return b"".join(encode([*head, *order_lines(self.units)]))

    def take_log(self, body: bytes) -> int:
        """Take M3; return the status."""
        first, _, packed = body.partition(b"\n")
        name: LogName = decode_name(first)
        key = f"{name.agent}.{name.minute}"
        if key in self.logs:
            self.repeats += 1
            return 200 if self.logs[key] == packed else 409
        self.logs[key] = packed
        return 200

    def enrol(self, body: bytes) -> tuple[int, dict[str, Any]]:
        """Take a join token."""
        asked = json.loads(body)
        if asked["token"] != self.token:
            return 401, {"detail": "join token: unknown; ask the administrator for a new one"}
        known = self.key_hashes.setdefault(asked["token"], asked["key_hash"])
        if known != asked["key_hash"]:
            return 409, {"detail": "join token: was used with another key"}
        return 200, {"agent": asked["agent"], "repeated": False}


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    manager: FakeManager
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) == length:  # otherwise whoever sent it was killed
            self._answer(body)
        else:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def say(self, status: int, body: bytes = b"OK\n", **headers: str) -> None:
        """Send an answer."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Request-Id", MARK)
        self.send_header(HEADER, self.manager.installation)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def drop(self) -> None:
        """Hang up without a word."""
        self.close_connection = True

    def _answer(self, body: bytes) -> None:
        manager = self.manager
        path = urlsplit(self.path).path
        name = path.rpartition("/")[2]
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        with manager.lock:
            manager.calls.append(Call(time.monotonic(), path, body, key))
            if manager.away:
                self.drop()
                return
            faults = manager.faults.get(name)
            fault = faults.pop(0) if faults else None
        if fault is not None and fault(self, name, body):
            return
        if name != "enrol" and hash_of_key(key) not in manager.key_hashes.values():
            self.say(401, b"unknown key: join with a new token\n")
            return
        with manager.lock:
            status, said = self.said(name, body)
        self.say(status, said)

    def said(self, name: str, body: bytes) -> tuple[int, bytes]:
        manager = self.manager
        match name:
            case "sync":
                answer = manager.sync(read_message(SyncRequest, body))
                return 200, json_of(answer)
            case "list":
                return 200, manager.list()
            case "submitlog":
                return manager.take_log(body), b"taken\n"
            case "record":
                return 200, b"taken\n"
            case "enrol":
                status, values = manager.enrol(body)
                return status, json.dumps(values).encode()
            case "key":
                shown = hash_of_key(self.headers["Authorization"].removeprefix("Bearer "))
                for token, known in manager.key_hashes.items():
                    if known == shown:
                        manager.key_hashes[token] = json.loads(body)["key_hash"]
                return 200, b"{}"
            case "subscribe" | "unsubscribe":
                manager.joined = name == "subscribe"
                manager.epoch += 1
                manager.generation += 1
                return 200, b"OK\n"
            case "isrestart":
                return 200, b"CONTINUE\n"
        return 404, b"no such page\n"


def answer(_handler: Handler, _name: str, _body: bytes) -> bool:
    """Let a request be answered as ever."""
    return False


def hang_up(handler: Handler, _name: str, _body: bytes) -> bool:
    """Break the connection off before anything was taken."""
    handler.drop()
    return True


def take_and_hang_up(handler: Handler, name: str, body: bytes) -> bool:
    """Take what came, and lose the answer."""
    with handler.manager.lock:
        handler.said(name, body)
    handler.drop()
    return True


def refuse(status: int, reason: str, **headers: str) -> Fault:
    """Answer with a no."""

    def fault(handler: Handler, _name: str, _body: bytes) -> bool:
        handler.say(status, reason.encode(), **headers)
        return True

    return fault

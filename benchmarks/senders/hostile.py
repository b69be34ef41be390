"""Hostile senders: each is a way to hold others up, done by one agent, or by one address.

They send as fast as they may, and again where they are refused, until they are stopped. Their
connections come from 127.0.0.2, so that they are another address than the honest agents'.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable
from typing import Final

from benchmarks.senders.bodies import (
    bomb_of_comments,
    bomb_of_log,
    false_message,
    false_sync,
    large_log,
)

__all__ = ["WAYS", "Hostile"]

ADDRESS: Final = "127.0.0.2"
AT_ONCE: Final = 16
CONNECTIONS: Final = 3000
AGAIN_S: Final = 0.2
MB, GB = 1000**2, 1000**3


class Hostile:
    """One hostile agent at work, in threads."""

    def __init__(self, port: int, agent: str, key: str) -> None:
        self._port = port
        self.agent = agent
        self._key = key
        self.over = threading.Event()
        self._threads: list[threading.Thread] = []
        self.lines: list[socket.socket] = []
        self.answers: dict[str, int] = {}

    def start(self, way: Callable[[Hostile, int], None], threads: int) -> None:
        """Do something in some threads until `stop`."""
        for number in range(threads):
            thread = threading.Thread(target=self._run, args=(way, number), daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Close all connections, and end."""
        self.over.set()
        for line in list(self.lines):
            with_no_error(line.close)
        for thread in self._threads:
            thread.join(5)

    def connect(self, receive_bytes: int = 0) -> socket.socket:
        """Return a new connection. receive_bytes: that it takes unread; 0: as ever."""
        line = socket.socket()
        line.settimeout(30)
        if receive_bytes:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        line.bind((ADDRESS, 0))
        line.connect(("127.0.0.1", self._port))
        self.lines.append(line)
        return line

    def give_back(self, line: socket.socket) -> None:
        """Close a connection."""
        line.close()
        if line in self.lines:
            self.lines.remove(line)

    def note(self, line: socket.socket) -> None:
        """Wait for an answer, count its status, and close the connection."""
        try:
            line.settimeout(300)
            self.told(line.recv(65536))
        finally:
            self.give_back(line)

    def told(self, answer: bytes) -> None:
        """Count the status of an answer; raises OSError where the connection has ended."""
        if answer and not answer.startswith(b"HTTP/"):
            return  # the rest of one that was counted
        status = answer[9:12].decode("ascii", "replace") or "closed"
        self.answers[status] = self.answers.get(status, 0) + 1
        if not answer:
            raise ConnectionResetError

    def head(self, path: str, size: int) -> bytes:
        """Return the head of a request with a body."""
        return (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self._key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {size}\r\n\r\n"
        ).encode()

    def post(self, path: str, body: bytes, *, waits: bool = True) -> None:
        """Send a body, and wait for its answer, or be gone."""
        line = self.connect()
        try:
            line.sendall(self.head(path, len(body)) + body)
            if waits:
                line.settimeout(300)
                self.told(line.recv(65536))
        finally:
            self.give_back(line)

    def _run(self, way: Callable[[Hostile, int], None], number: int) -> None:
        while not self.over.is_set():
            with contextlib.suppress(OSError, ValueError):
                way(self, number)
            self.over.wait(AGAIN_S)


def with_no_error(close: Callable[[], None]) -> None:
    """Close what may be closed already."""
    with contextlib.suppress(OSError):
        close()


_count = iter(range(10**9))


def _comments(hostile: Hostile, _: int) -> None:
    hostile.post("/servlets/record", bomb_of_comments(240 * MB))


def _log(hostile: Hostile, _: int) -> None:
    hostile.post("/servlets/submitlog", bomb_of_log(hostile.agent, next(_count), 12 * GB))


def _lines(hostile: Hostile, _: int) -> None:
    hostile.post("/servlets/submitlog", large_log(hostile.agent, next(_count), 600_000))


def _gone(hostile: Hostile, _: int) -> None:
    body = large_log(hostile.agent, next(_count), 600_000)
    hostile.post("/servlets/submitlog", body, waits=False)
    hostile.post("/servlets/record", bomb_of_comments(200 * MB, b"#" * 200 + b"\n"), waits=False)


def _drip(hostile: Hostile, _: int) -> None:
    line = hostile.connect()
    line.sendall(hostile.head("/servlets/record", 60 * MB))
    while not hostile.over.wait(1.0):
        line.sendall(b"x" * 150)


def _many(hostile: Hostile, number: int) -> None:
    """Hold a share of many connections that never end the head of a request."""
    share = []
    try:
        for _ in range(CONNECTIONS // AT_ONCE):
            line = hostile.connect()
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-")
            share.append(line)
        hostile.over.wait(20)
    finally:
        for line in share:
            line.close()


def _syncs(hostile: Hostile, _: int) -> None:
    hostile.post("/api/v1/sync", false_sync(hostile.agent))


def _messages(hostile: Hostile, _: int) -> None:
    """Send a megabyte of mistakes, as anybody may."""
    hostile.post("/api/v1/hosts/pin-many", false_message(990_000))


def _cookies(hostile: Hostile, _: int) -> None:
    """Send a cookie whose escapes Python undoes in quadratic time."""
    line = hostile.connect()
    line.sendall(
        b"GET /api/v1/hosts HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: x=\"" + rb"\0" * 31_000
        + b"\"\r\n\r\n"
    )  # fmt: skip
    hostile.note(line)


def _unread(hostile: Hostile, _: int) -> None:
    """Ask for a long answer on many connections, and read none."""
    share = []
    try:
        for _number in range(CONNECTIONS // AT_ONCE):
            line = hostile.connect(receive_bytes=4096)
            line.sendall(b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 8)
            share.append(line)
        hostile.over.wait(20)
    finally:
        for line in share:
            hostile.give_back(line)


def _joins(hostile: Hostile, number: int) -> None:
    """Join with tokens that were never issued, one behind the other on a connection."""
    body = json.dumps({"agent": f"x{number}.example", "token": "0" * 40, "key_hash": "0" * 64})
    line = hostile.connect()
    try:
        while not hostile.over.is_set():
            line.sendall(hostile.head("/api/v1/enrol", len(body)) + body.encode())
            hostile.told(line.recv(65536))
    finally:
        hostile.give_back(line)


def _logins(hostile: Hostile, number: int) -> None:
    body = json.dumps({"name": f"user{number}", "password": "wrong " * 4}).encode()
    hostile.post("/api/v1/login", body)


def _keys(hostile: Hostile, _: int) -> None:
    """Use a key that no agent has: each needs a look-up in the database, and a thread."""
    line = hostile.connect()
    try:
        while not hostile.over.is_set():
            line.sendall(
                b"GET /api/v1/changes HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                b"Authorization: Bearer x\r\n\r\n"
            )
            hostile.told(line.recv(65536))
    finally:
        hostile.give_back(line)


WAYS: Final[dict[str, tuple[str, Callable[[Hostile, int], None] | None, int]]] = {
    "quiet": ("no hostile sender", None, 0),
    "comments": ("16 M2 of 250 KB, 240 MB of comments each", _comments, AT_ONCE),
    "log-bomb": ("an M3 of 12.5 MB, 12 GB of comments", _log, 1),
    "slow-logs": ("16 M3 of 600,000 lines, within all limits", _lines, AT_ONCE),
    "gone": ("16 clients that leave behind their bodies", _gone, AT_ONCE),
    "drip": ("16 M2 at 150 bytes/s", _drip, AT_ONCE),
    "connections": ("3,000 connections without a request", _many, AT_ONCE),
    "syncs": ("syncs of 5 MB with 80,000 mistakes", _syncs, 4),
    "messages": ("16 strangers' messages of 1 MB with 110,000 mistakes", _messages, AT_ONCE),
    "cookies": ("16 cookies of 62 KB with escapes", _cookies, AT_ONCE),
    "unread": ("3,000 connections that read no answer", _unread, AT_ONCE),
    "joins": ("64 connections of joins with false tokens", _joins, 64),
    "keys": ("64 connections with keys that no agent has", _keys, 64),
    "logins": ("30 connections of wrong logins", _logins, 30),
}
"""What is done, how, and by how many threads."""


def settled(used_s: Callable[[], float], most_s: float) -> float:
    """Return how long processes continue to work, by their CPU seconds."""
    begun = time.monotonic()
    while time.monotonic() - begun < most_s:
        before, since = used_s(), time.monotonic()
        time.sleep(1)
        if used_s() - before < 0.3 * (time.monotonic() - since):
            return since - begun
    return most_s

"""Carries messages between agents and a manager, and does with them what a `Way` says.

It speaks HTTP on both sides, so it can lose an answer that the manager has written, bring a message
twice, or bring it after a later one; and it is the witness of each acknowledgement.
"""

from __future__ import annotations

import hashlib
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from benchmarks.faults.evidence.observations import Acknowledged

__all__ = ["Answer", "Courier", "Deliver", "Message", "Way", "courier", "straight"]

OF_ONE_LINE: Final = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "proxy-connection", "host", "content-length"}
)
WAIT_S: Final = 120.0
HANDSHAKE_S: Final = 30.0


@dataclass(frozen=True)
class Answer:
    """An answer of the manager."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def with_body(self, body: bytes) -> Answer:
        """Return the same with another body."""
        return replace(self, body=body)


@dataclass
class Message:
    """A request as it came from an agent, and the answers to it."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    at_s: float = field(default_factory=time.monotonic)
    delivered: list[Answer] = field(default_factory=list)  # the manager's answers, in their order
    told: int = 0  # the status that the agent was given; 0: none

    @property
    def name(self) -> str:
        """Return the last part of the path: sync, list, submitlog, record."""
        return self.path.partition("?")[0].rpartition("/")[2]

    @property
    def sha256(self) -> str:
        """Return by what the manager knows a report."""
        return hashlib.sha256(self.body).hexdigest()


Deliver = Callable[[Message], Answer]
"""Brings a message to the manager. Raises OSError, http.client.HTTPException."""

Way = Callable[[Message, Deliver], Answer | None]
"""What is done with a message. None: the connection is broken off without an answer."""


def straight(message: Message, deliver: Deliver) -> Answer | None:
    """Bring it, and the answer back."""
    return deliver(message)


class Courier:
    """Made by `courier`. `way` may be changed at any time; `tls` too, which ends connections."""

    def __init__(
        self,
        listener: socket.socket,
        to_port: int,
        tls: ssl.SSLContext | None,
        *,
        front_tls: bool = False,
    ) -> None:
        """front_tls: whether https is spoken at `to_port`; its certificate is not looked at."""
        self.way: Way = straight
        self._far_tls = _trust_any_certificate() if front_tls else None
        self.tls = tls
        self.to_port = to_port
        self.messages: list[Message] = []
        self.lock = threading.Lock()
        handler = type("Bound", (_Handler,), {"courier": self})
        self._server = _Server(self, listener, handler)
        self.host, self.port = listener.getsockname()[:2]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        """Return where agents reach it."""
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    def close(self) -> None:
        """Carry no more messages."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def named(self, name: str) -> list[Message]:
        """Return the messages of one kind that came so far."""
        with self.lock:
            return [message for message in self.messages if message.name == name]

    def acknowledged(self, agent: str) -> list[Acknowledged]:
        """Return the reports that the agent was told to be taken."""
        return [
            Acknowledged(agent, message.sha256)
            for message in self.named("submitlog")
            if 200 <= message.told < 300
        ]

    def deliver(self, message: Message) -> Answer:
        """Bring a message to the manager; its answer. Raises OSError, HTTPException."""
        connection = self._connection()
        try:
            connection.request(message.method, message.path, message.body, dict(message.headers))
            got = connection.getresponse()
            kept = tuple((k, v) for k, v in got.getheaders() if k.lower() not in OF_ONE_LINE)
            answer = Answer(got.status, kept, got.read())
        finally:
            connection.close()
        with self.lock:
            message.delivered.append(answer)
        return answer

    def _connection(self) -> http.client.HTTPConnection:
        if self._far_tls is None:
            return http.client.HTTPConnection("127.0.0.1", self.to_port, timeout=WAIT_S)
        return http.client.HTTPSConnection(
            "127.0.0.1", self.to_port, timeout=WAIT_S, context=self._far_tls
        )


def _trust_any_certificate() -> ssl.SSLContext:
    """Return a client's side of TLS that believes any certificate: it is our own machine's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, courier: Courier, listener: socket.socket, handler: Any) -> None:
        super().__init__(listener.getsockname()[:2], handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self._courier = courier

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        # Here, not where connections are taken: a hanging handshake must not delay others.
        if self._courier.tls is not None:
            request.settimeout(HANDSHAKE_S)
            try:
                request = self._courier.tls.wrap_socket(request, server_side=True)
            except (OSError, ssl.SSLError):
                self.shutdown_request(request)
                return
            request.settimeout(None)
        super().process_request_thread(request, client_address)

    def handle_error(self, *_: Any) -> None:
        """Print nothing about connections that break: they are meant to."""


class _Handler(BaseHTTPRequestHandler):
    courier: Courier
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        """Remember with which certificate this connection was opened."""
        super().setup()
        self._tls = self.courier.tls

    def _carry(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length)
        if len(body) < length:  # whoever sent it was killed, or the line was cut
            self.close_connection = True
            return
        headers = tuple((k, v) for k, v in self.headers.items() if k.lower() not in OF_ONE_LINE)
        message = Message(self.command, self.path, headers, body)
        with self.courier.lock:
            self.courier.messages.append(message)
        try:
            answer = self.courier.way(message, self.courier.deliver)
        except (OSError, http.client.HTTPException):
            answer = None
        if answer is None:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers:
            if name.lower() not in ("server", "date"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        if self._tls is not self.courier.tls:
            self.send_header("Connection", "close")  # and the next one sees the new one
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)
        self.wfile.flush()
        message.told = answer.status

    do_GET = do_POST = do_PUT = do_PATCH = do_HEAD = do_DELETE = _carry  # noqa: N815 - http.server's

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def courier(
    to_port: int,
    listener: socket.socket | None = None,
    tls: ssl.SSLContext | None = None,
    *,
    front_tls: bool = False,
) -> Iterator[Courier]:
    """Carry to a port of loopback. listener: where it is reached; None: a free port of loopback."""
    heard = listener or socket.create_server(("127.0.0.1", 0), backlog=64)
    made = Courier(heard, to_port, tls, front_tls=front_tls)
    try:
        yield made
    finally:
        with suppress(OSError):
            made.close()

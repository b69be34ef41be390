"""The outermost layer of the web: what is known of a connection before anybody reads the request.

It states facts on `request.state`, for the routers to judge by:
`local` the request came over the Unix socket, so from this machine's administrator;
`line` whether others can read it, and the client's address (`manager.operations.transport`);
`request_id` names the request in answers, in the log and in the audit.
It caps bodies (a route that streams has its own limit), refuses U+0000, which no database of ours
keeps alike, marks every answer as not to be stored, tells browsers that came over TLS to use
nothing else, and gives senders who are refused in the middle of a body a moment to hear why.
Invariant: nothing that a client sends can set these facts.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manager.app.log_setup import REQUEST_ID
from manager.app.web.request_heads import check_parameters, plain_cookies
from manager.app.web.statuses import refuse
from manager.intake.body_errors import body_too_large
from manager.intake.body_receiver import REQUEST_BODY, SlowSenderError, check_rate
from manager.operations.people.login_throttle import source_of
from manager.operations.request_senders import work_for
from manager.operations.transport import (
    Line,
    LineKind,
    Network,
    local_line,
    networks,
    seen_line,
)
from shared.errors import Fault, FormatError, LimitError
from shared.frozen import frozen
from shared.messages.language import choose, speak
from shared.wire.installation import HEADER

__all__ = ["Connection", "Entrance"]

IDLE_S: Final = 60.0
LINGER_S: Final = 2.0
LINGER_BYTES: Final = 64 * 1024**2
"""What is read and dropped behind a refusal. A socket that is closed with bytes unread resets the
connection, and the sender never sees the answer."""

PIECE_BYTES: Final = 64 * 1024
"""Of an answer; as much as uvicorn writes ahead."""

PAGES: Final = "/console"
"""Prefix of the console. Its pages answer an invalid query themselves, as a page."""

_NUL_IN_JSON: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_BEGUN: Final = re.compile(rb"u0{0,3}\Z")

_ALWAYS: Final = {
    b"cache-control": b"no-store",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
}


LOOPBACK: Final = networks(("127.0.0.0/8", "::1/128"))


@frozen
class Entrance:
    """The listener that a request came by.

    behind_tls_proxy: a proxy ends TLS, from one of the addresses of `proxies`. hsts_s: for how long
    browsers must use TLS only; 0: no such header. installation: the id that each answer has.
    """

    local: bool
    behind_tls_proxy: bool = False
    proxies: tuple[Network, ...] = LOOPBACK
    hsts_s: int = 0
    installation: str = ""


@frozen
class Connection:
    """ASGI middleware around the whole application, one for each listener.

    body_limit: bytes for a path; None: the route counts, and waits, by itself. idle_s: how long the
    others wait for the next part of a body. least_bytes_per_s: how fast they want it, after a
    while.
    """

    app: ASGIApp
    entrance: Entrance
    body_limit: Callable[[str], int | None]
    idle_s: float = IDLE_S
    least_bytes_per_s: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            raise RuntimeError(f"ASGI {scope['type']}: this server speaks HTTP only")
        request_id = secrets.token_hex(8)
        scope["headers"] = plain_cookies(scope["headers"])
        headers = dict(scope["headers"])
        line = self._line(scope)
        work_for(f"address {source_of(line.client)}")
        scope["state"] = {
            **scope.get("state", {}),
            "local": line.kind is LineKind.LOCAL,
            "line": line,
            "request_id": request_id,
        }
        REQUEST_ID.set(request_id)
        # The console replaces it by the language that a person chose.
        speak(choose("", headers.get(b"accept-language", b"").decode("latin-1")))
        path = scope["path"]
        kinds = [value for name, value in scope["headers"] if name == b"content-type"]
        body = _Body(
            receive, self.body_limit(path), headers, kinds, self.idle_s, self.least_bytes_per_s
        )
        hsts_s = self.entrance.hsts_s if line.is_tls else 0
        said = _Answer(send, body, request_id, hsts_s, self.entrance.installation).send
        refusal = _refused_address(scope)
        if refusal is None:
            await self.app(scope, body.receive, said)
        else:
            await refusal(scope, body.receive, said)

    def _line(self, scope: Scope) -> Line:
        entrance = self.entrance
        version = scope.get("http_version", "1.1")
        if entrance.local:
            return local_line(version, scope["headers"])
        client = scope.get("client")
        return seen_line(
            scope["scheme"],
            client[0] if client is not None else "",
            version,
            scope["headers"],
            entrance.proxies if entrance.behind_tls_proxy else None,
        )


def _refused_address(scope: Scope) -> Response | None:
    """Return the answer to an address that cannot be."""
    path, query = scope["path"], scope["query_string"]
    try:
        check_parameters(query)
    except LimitError as too_many:
        return refuse(Request(scope), 414, too_many)
    if "\0" in path or (b"%00" in query and not path.startswith(PAGES)):
        error = FormatError("requests.nul_in_address", Fault.INVALID_VALUE)
        return refuse(Request(scope), 400, error)
    return None


class _Body:
    """The request's body as the application sees it: counted, and refused at its limit."""

    def __init__(
        self,
        receive: Receive,
        limit_bytes: int | None,
        headers: dict[bytes, bytes],
        kinds: Sequence[bytes],
        idle_s: float,
        least_bytes_per_s: int = 0,
    ) -> None:
        """kinds: all declared content types; a reader goes by one of them."""
        self._receive = receive
        self._limit_bytes = limit_bytes
        self._idle_s = idle_s
        self._least_bytes_per_s = least_bytes_per_s
        self._begun_s = time.monotonic()
        self._received_bytes = 0
        self._begun = b""  # of an escape, at the end of the last part
        self._may_be_json = not kinds or not all(map(_is_form, kinds))
        declared = headers.get(b"content-length", b"0")
        self._declared_bytes = int(declared) if declared.isdigit() else 0
        self.complete = self._declared_bytes == 0 and b"transfer-encoding" not in headers

    async def receive(self) -> Message:
        """Return the next part; raises LimitError over the limit, before reading if declared."""
        limit_bytes = self._limit_bytes
        if limit_bytes is not None and self._declared_bytes > limit_bytes:
            raise body_too_large(limit_bytes, self._declared_bytes)
        message = await self._next()
        self._note(message)
        if limit_bytes is not None:
            if not self.complete:
                elapsed_s = time.monotonic() - self._begun_s
                check_rate(REQUEST_BODY, self._received_bytes, elapsed_s, self._least_bytes_per_s)
            if self._received_bytes > limit_bytes:
                raise body_too_large(limit_bytes)
            if self._may_be_json:
                self._refuse_nul(message.get("body", b""))
        return message

    def _refuse_nul(self, part: bytes) -> None:
        """Raise FormatError where a text of JSON has the escape, or there is the byte itself: in
        UTF-16 and UTF-32, which readers take and the standard does not (RFC 8259), it is in all."""
        text = self._begun + part
        if b"\0" in part or (b"\\u0000" in text and _NUL_IN_JSON.search(text)):
            raise FormatError("requests.nul_in_body")
        self._begun = _begun(text)

    async def _next(self) -> Message:
        # Behind the body there is only the end of the connection, which may take its time.
        if self._limit_bytes is None or self.complete:
            return await self._receive()
        try:
            async with asyncio.timeout(self._idle_s):
                return await self._receive()
        except TimeoutError as error:
            raise SlowSenderError("requests.body_stalled", idle_s=self._idle_s) from error

    async def linger(self) -> None:
        """Read and drop what is still coming, for a moment."""
        self._received_bytes = 0
        try:
            async with asyncio.timeout(LINGER_S):
                while not self.complete and self._received_bytes < LINGER_BYTES:
                    self._note(await self._receive())
        except TimeoutError:
            return

    def _note(self, message: Message) -> None:
        self._received_bytes += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self.complete = True


class _Answer:
    """The answer as the client sees it, with the headers that every answer has."""

    def __init__(
        self, send: Send, body: _Body, request_id: str, hsts_s: int, installation: str
    ) -> None:
        self._send = send
        self._body = body
        self._added = [(b"x-request-id", request_id.encode())]
        if installation:
            self._added.append((HEADER.lower().encode(), installation.encode()))
        if hsts_s:
            self._added.append((b"strict-transport-security", b"max-age=%d" % hsts_s))
        self._closing = False

    async def send(self, message: Message) -> None:
        """Pass a part on; behind an answer that came before the body's end, close the line."""
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            added = [(name, value) for name, value in _ALWAYS.items() if name not in given]
            added += self._added
            self._closing = not self._body.complete
            if self._closing:
                added.append((b"connection", b"close"))
            await self._send({**message, "headers": [*message["headers"], *added]})
        elif self._closing and not message.get("more_body", False):
            await self._send({**message, "more_body": True})
            await self._body.linger()
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await self._send_in_pieces(message)

    async def _send_in_pieces(self, message: Message) -> None:
        """Pass a part of a body on so that the server waits until its client has taken some of it:
        else each client that reads nothing keeps a whole answer in memory."""
        body, start = message.get("body", b""), 0
        while len(body) - start > PIECE_BYTES:
            piece = bytes(body[start : start + PIECE_BYTES])
            await self._send({**message, "body": piece, "more_body": True})
            start += PIECE_BYTES
        await self._send({**message, "body": bytes(body[start:])} if start else message)


def _is_form(kind: bytes) -> bool:
    """Return whether a content type is a form's, which no reader takes for JSON."""
    name = kind.partition(b";")[0].strip().lower()
    return name == b"application/x-www-form-urlencoded" or name.startswith(b"multipart/")


def _begun(text: bytes) -> bytes:
    """Return what of an escape a text ends with. Of backslashes behind one another two are one."""
    digits = _BEGUN.search(text, max(0, len(text) - 4))
    end = len(text) if digits is None else digits.start()
    if not text.endswith(b"\\", 0, end):
        return b""
    if (end - len(text[:end].rstrip(b"\\"))) % 2:
        return text[end - 1 :]
    return b""

"""HTTP/1.1 of one connection: llhttp reads it, and it is bounded in time and in bytes.

uvicorn's protocol over httptools needs a fifth of the time of its h11 for a request, but sets no
limit to the time and size of the parts that no application sees: the head, the extension behind the
length of a chunk, the fields behind a body, requests sent ahead, and an answer that its client does
not take. Invariants: of these at most `BETWEEN_BYTES` and one read of the socket are ever kept; a
connection whose client takes nothing ends (`answer_pace`); if nearly all connections are taken, the
address that has the most gives some back, and of one address a few requests begin at a time
(`address_shares`).
Source: docs/adr/0158; RFC 9112.
"""

from __future__ import annotations

import asyncio
import http
from collections import Counter
from typing import Final

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from manager.app.web.address_shares import RequestTurns, make_room
from manager.app.web.answer_pace import AnswerPace
from manager.app.web.request_heads import FIELDS_MOST
from shared.messages import Message

__all__ = ["BETWEEN_BYTES", "BoundedProtocol"]

BETWEEN_BYTES: Final = 64 * 1024
"""Of a head, or between two parts of a body. Browsers and proxies stop far below it."""
CHUNKS_FREE: Final = 1_000
CHUNK_BYTES: Final = 16
"""Behind `CHUNKS_FREE` chunks of a body a chunk has so many bytes on average: each one costs as
much as a kilobyte."""
WAITING: Final = 16
"""Requests of one connection behind the one that is being answered. Browsers send none ahead."""

_TOO_LARGE: Final = (431, Message("app.head_too_large", most=BETWEEN_BYTES))
_TOO_MANY: Final = (400, Message("app.head_too_many_requests", most=WAITING))
_TOO_MANY_FIELDS: Final = (431, Message("app.head_too_many_fields", most=FIELDS_MOST))
_TOO_MANY_CHUNKS: Final = (
    400,
    Message("app.head_chunks_too_small", free=CHUNKS_FREE, least=CHUNK_BYTES),
)
_NO_HOST: Final = (400, Message("app.head_host_field"))


class BoundedProtocol(HttpToolsProtocol):
    """Gives up on who never ends the head of a request, and refuses what is too large to be one."""

    head_s: float
    answer_idle_s: float = 60.0
    least_bytes_per_s: int = 0
    """How fast an answer is to be taken, as `answer_pace` measures it; 0: some of it each time."""
    keeps_whole: bool = False
    """Return whether connections are those of a proxy, whose requests are different senders'."""
    most_connections: int = 0
    """Of all clients; 0: unlimited."""
    quiet: frozenset[str] = frozenset()
    """Paths whose answers are no lines of the log: whoever answers there says what is worth one."""

    since_s = 0.0
    _head_timer: asyncio.TimerHandle | None = None
    _pace: AnswerPace | None = None
    _between_bytes = 0
    _chunks = 0
    _body_bytes = 0
    _head_is_over = False
    _refusal: tuple[int, Message] | None = None
    _running: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Begin with a connection that was accepted."""
        super().connection_made(transport)
        self.since_s = self.loop.time()
        counts = _counts_of(self.server_state)
        counts[self.address] += 1
        # Of an address that is no proxy's at most half of all connections are kept.
        if not self.keeps_whole and 0 < self.most_connections / 2 < counts[self.address]:
            transport.abort()  # cheaper than an answer, of which there may be thousands a second
            return
        if self.most_connections:
            make_room(self.connections, self.most_connections, self.keeps_whole)
        self._head_timer = self.loop.call_later(self.head_s, self._give_up)

    @property
    def address(self) -> str:
        """Return the client's address."""
        return self.client[0] if self.client else ""

    @property
    def is_idle(self) -> bool:
        """Return whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def is_receiving(self) -> bool:
        """Return whether it waits for its client: a request, a body, or to take an answer."""
        cycle = self.cycle
        waits = cycle is None or cycle.response_complete or cycle.more_body
        return waits or self.flow.write_paused

    def give_back(self) -> None:
        """Close the connection for others' sake."""
        self._end()

    def pause_writing(self) -> None:
        """Wait until the client has taken all written bytes, as long as it takes some."""
        super().pause_writing()
        if self._pace is None:
            self._pace = AnswerPace(
                self.loop, self.transport, self.answer_idle_s, self.least_bytes_per_s
            )

    def resume_writing(self) -> None:
        """Resume writing."""
        self._stop_pace()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, also where its client has not taken its last answer."""
        self._end()

    def _end(self) -> None:
        # `close` would wait for as long as the client takes nothing.
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        elif not self.transport.is_closing():
            self.transport.close()

    def _stop_pace(self) -> None:
        if self._pace is not None:
            self._pace.stop()
            self._pace = None

    def connection_lost(self, exc: Exception | None) -> None:
        """End what the connection still does."""
        counts = _counts_of(self.server_state)
        counts[self.address] -= 1
        if counts[self.address] <= 0:
            del counts[self.address]
        self._stop_timer()
        self._stop_pace()
        running = self._running
        super().connection_lost(exc)
        if running is not None and not running.response_complete:
            # uvicorn tells the newest request only, which may still wait behind this one.
            running.disconnected = True
            running.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Parse bytes of requests."""
        if self.transport.is_closing():
            return  # refused already
        self._between_bytes += len(data)
        super().data_received(data)
        if self._between_bytes > BETWEEN_BYTES:
            self._refusal = self._refusal or _TOO_LARGE
            self.send_400_response("")
        waits = self.cycle is None or self.cycle.response_complete
        if not waits:
            self._stop_timer()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_s, self._give_up)

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._head_is_over = False
        self._chunks = self._body_bytes = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        # Fields behind a body would be taken for the head's.
        """Take a field of the head."""
        if self._head_is_over:
            return
        if len(self.headers) >= FIELDS_MOST:
            self._refusal = _TOO_MANY_FIELDS
            raise ValueError(_TOO_MANY_FIELDS[1])  # to the parser, which ends with it
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Hand the request to the application, or refuse its head."""
        self._between_bytes = 0
        self._head_is_over = True
        hosts = [name for name, _ in self.headers if name == b"host"]
        if len(hosts) > 1 or (not hosts and self.parser.get_http_version() == "1.1"):
            self._refusal = _NO_HOST
            raise ValueError(_NO_HOST[1])  # to the parser, which ends with it
        if len(self.pipeline) >= WAITING:
            self._refusal = _TOO_MANY
            raise ValueError(_TOO_MANY[1])
        super().on_headers_complete()
        if self.scope["path"] in self.quiet:
            self.cycle.access_log = False

    def on_chunk_header(self) -> None:
        """Count a chunk of a body."""
        self._chunks += 1
        if self._body_bytes < CHUNK_BYTES * (self._chunks - CHUNKS_FREE):
            self._refusal = _TOO_MANY_CHUNKS
            raise ValueError(_TOO_MANY_CHUNKS[1])  # to the parser, which ends with it

    def on_body(self, body: bytes) -> None:
        """Hand over a piece of the body."""
        self._between_bytes = 0
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._between_bytes = 0
        super().on_message_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle

        def begin() -> None:
            if not self.transport.is_closing():
                HttpToolsProtocol._start_asgi_task(self, cycle, app)

        _turns_of(self.server_state, self.loop).take(self.address, begin)

    def send_400_response(self, msg: str) -> None:
        """Answer with the reason, where no other answer has begun, and close."""
        running = self._running
        speaking = running and running.response_started and not running.response_complete
        if not speaking and not self.transport.is_closing():
            status, why = self._refusal or (400, Message.of_text(msg))
            self.transport.write(_answer(status, why))
        self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        # The parser has stopped: the next bytes belong to another protocol.
        if self.cycle is not None:
            self.cycle.keep_alive = False

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if not self.transport.is_closing():
            self.transport.close()


def _counts_of(state: ServerState) -> Counter[str]:
    """Return how many connections each address has."""
    counts: Counter[str] = vars(state).setdefault("addresses", Counter())
    return counts


def _turns_of(state: ServerState, loop: asyncio.AbstractEventLoop) -> RequestTurns:
    """Return the turns of a listener."""
    found: RequestTurns | None = vars(state).get("turns")
    if found is None:
        found = vars(state)["turns"] = RequestTurns(loop)
    return found


def _answer(status: int, message: Message) -> bytes:
    why = str(message)
    phrase = http.HTTPStatus(status).phrase
    head = (
        f"HTTP/1.1 {status} {phrase}\r\ncontent-type: text/plain; charset=utf-8\r\n"
        f"content-length: {len(why)}\r\nconnection: close\r\n\r\n"
    )
    return (head + why).encode("ascii")

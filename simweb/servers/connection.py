"""One HTTP/1.1 connection: read requests, pace answers by distance, break them when told to.

Requests are answered one after the other, also when they were pipelined. For the log a request
begins when its first byte arrives, and ends just before its last bytes go to the kernel (or, when
the kernel does not take them at once, when it has taken them). So the log shows a gap between
two requests at least as long as the client kept it, and never accuses wrongly.
"""

from __future__ import annotations

import asyncio
import math
import socket
import struct
import time
from collections.abc import Iterator
from email.utils import formatdate
from functools import lru_cache
from typing import Any, cast

from shared.errors import FormatError
from simweb.servers.answer import head_bytes, text_answer
from simweb.servers.context import Context
from simweb.servers.exchange import Exchange
from simweb.servers.request import HEAD_LIMIT_BYTES, Request, read_head
from simweb.servers.wire import wire_pieces
from simweb.sites.distance import Pace, region_of
from simweb.sites.plan import HostPlan

__all__ = ["Connection"]

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_LINGER_S = 1.0
_BODY_LIMIT_BYTES = 1_000_000
_AT_ONCE = Pace(0.0, math.inf)


class Connection(asyncio.Protocol):
    """The server's side of one connection."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._buffer = b""
        self._arrived: tuple[float, float] | None = None  # of the first byte in the buffer
        self._exchange: Exchange | None = None
        self._pieces: Iterator[tuple[float, bytes]] = iter(())
        self._piece_timer: asyncio.TimerHandle | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._active_mono = time.monotonic()
        self._requests = 0
        self._body_left = 0
        self._draining = self._refused = self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note who connects to what."""
        context = self._context
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=0)
        self._client, self._client_port = transport.get_extra_info("peername")[:2]
        self._server = str(transport.get_extra_info("sockname")[0])
        self._region = region_of(self._client, context.world.options.regions)
        self._number = next(context.numbers)
        context.connections.add(self)
        context.stats.opened(self._server)
        context.log.moment("open", **self._names())
        self._idle_timer = self._loop.call_later(context.idle_s, self._check_idle)

    def data_received(self, data: bytes) -> None:
        """Take bytes of requests; answer the first when nothing else is being answered."""
        self._active_mono = time.monotonic()
        if self._refused:
            return
        if self._body_left:
            skipped = min(self._body_left, len(data))
            self._body_left -= skipped
            data = data[skipped:]
        if not data:
            return
        if self._arrived is None:
            self._arrived = (time.time(), self._active_mono)
        self._buffer = self._buffer + data if self._buffer else data
        if self._exchange is None:
            self._next_request()
        elif len(self._buffer) > HEAD_LIMIT_BYTES:
            self._transport.pause_reading()

    def eof_received(self) -> None:
        """Take the client's end as the end of the connection, answered or not."""
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end of the connection."""
        self._end()
        self._context.connections.discard(self)

    def pause_writing(self) -> None:
        """Wait: the client does not read as fast as the pace allows."""
        self._draining = True

    def resume_writing(self) -> None:
        """Continue: all written data is with the kernel."""
        self._draining = False
        if self._exchange is not None:
            self._exchange.touch()
            self._send_next(self._exchange)

    def stop(self) -> None:
        """End the connection because the server stops."""
        self._end()
        self._transport.abort()

    def _next_request(self) -> None:
        head, end, rest = self._buffer.partition(b"\r\n\r\n")
        if not end:
            if len(self._buffer) > HEAD_LIMIT_BYTES:
                self._refuse(431, "request head over 64 KB\n")
            return
        now = (time.time(), time.monotonic())
        arrived = self._arrived or now
        self._buffer, self._arrived = rest, (now if rest else None)
        try:
            request = read_head(head.lstrip(b"\r\n"))
            self._skip_body(request.body_bytes)
        except FormatError as error:
            self._refuse(400, f"{error}\n")
            return
        self._answer(request, arrived)

    def _skip_body(self, size: int) -> None:
        if size > _BODY_LIMIT_BYTES:
            raise FormatError(f"a request body of {size} bytes: at most {_BODY_LIMIT_BYTES}")
        here = min(size, len(self._buffer))
        self._buffer = self._buffer[here:]
        self._body_left = size - here
        if not self._buffer:
            self._arrived = None

    def _refuse(self, status: int, text: str) -> None:
        self._buffer, self._arrived = b"", None
        answer = text_answer(status, text)
        date = formatdate(usegmt=True)
        head = head_bytes(answer, date, keep_alive=False, http_1_0=False)
        self._context.log.moment("malformed", status=status, problem=text.strip(), **self._names())
        self._transport.write(head + answer.body)
        # What the client still sends is read and dropped: closing now would reset the
        # connection and take the answer away from it.
        self._refused = True
        self._transport.write_eof()
        self._piece_timer = self._loop.call_later(_LINGER_S, self._transport.close)

    def _answer(self, request: Request, arrived: tuple[float, float]) -> None:
        context = self._context
        host = context.answers.host_of(request, self._server)
        wait_s = context.queues.enter(self._server, arrived[1])
        if wait_s is None:
            answer = context.answers.overloaded()
        else:
            answer = context.answers.answer(request, host, self._client)
        http_1_0 = request.version == "HTTP/1.0"
        delivery = answer.delivery
        keep_alive = (
            request.keep_alive
            and not answer.close
            and not (answer.chunked and http_1_0)
            and not (delivery.share < 1 or delivery.raw or delivery.length_error)
        )
        self._requests += 1
        self._exchange = Exchange(
            request=request,
            host=host,
            answer=answer,
            time_start=arrived[0],
            mono_start=arrived[1],
            disallowed=host is not None and context.answers.disallowed(host, request),
            keep_alive=keep_alive,
        )
        if delivery.hang:
            return
        self._pieces = wire_pieces(
            answer,
            self._pace(host, wait_s or 0.0),
            _http_date(int(arrived[0])),
            is_head=request.method == "HEAD",
            keep_alive=keep_alive,
            http_1_0=http_1_0,
        )
        self._send_next(self._exchange)

    def _pace(self, host: HostPlan | None, wait_s: float) -> Pace:
        pace = _AT_ONCE if host is None else self._context.pace(self._region, host)
        return Pace(pace.delay_s + wait_s, pace.bytes_per_s) if wait_s else pace

    def _send_next(self, exchange: Exchange) -> None:
        """Send the next piece when it is due; end the exchange when there is none left."""
        while True:
            due_s, data = next(self._pieces, (0.0, b""))
            if not data:
                self._finish(exchange)
                return
            wait_s = exchange.mono_start + due_s - time.monotonic()
            if wait_s > 0:
                self._piece_timer = self._loop.call_later(wait_s, self._send_due, data)
                return
            exchange.count_sent(len(data))
            self._transport.write(data)
            if self._draining:
                return

    def _send_due(self, data: bytes) -> None:
        exchange = self._exchange
        if exchange is None:
            return
        exchange.count_sent(len(data))
        self._transport.write(data)
        if not self._draining:
            self._send_next(exchange)

    def _finish(self, exchange: Exchange) -> None:
        self._exchange = None
        self._active_mono = time.monotonic()
        self._log_request(exchange, aborted=False)
        if exchange.answer.delivery.reset:
            sock = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            self._transport.abort()
        elif not exchange.keep_alive:
            self._transport.close()
        elif self._buffer:
            self._transport.resume_reading()
            self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        if self._exchange is None and self._buffer and not self._transport.is_closing():
            self._next_request()

    def _check_idle(self) -> None:
        left_s = self._context.idle_s - (time.monotonic() - self._active_mono)
        if self._exchange is None and left_s <= 0:
            self._transport.close()
            return
        wait_s = left_s if left_s > 0 else self._context.idle_s
        self._idle_timer = self._loop.call_later(wait_s, self._check_idle)

    def _end(self) -> None:
        """Log what is left to log, once."""
        if self._ended:
            return
        self._ended = True
        for timer in (self._piece_timer, self._idle_timer):
            if timer is not None:
                timer.cancel()
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            self._log_request(exchange, aborted=True)
        self._context.stats.closed(self._server)
        self._context.log.moment("close", requests=self._requests, **self._names())

    def _log_request(self, exchange: Exchange, aborted: bool) -> None:
        fields = exchange.fields(aborted)
        self._context.stats.answered(fields)
        reused = self._requests > 1
        self._context.log.write("request", **self._names(), reused=reused, **fields)

    def _names(self) -> dict[str, Any]:
        return {
            "connection": self._number,
            "client": self._client,
            "client_port": self._client_port,
            "server": self._server,
        }


@lru_cache(maxsize=4)
def _http_date(second: int) -> str:
    return formatdate(second, usegmt=True)

"""A request over a new connection; `raw_answer.py` reads its answer.

For hosts whose headers libcurl refuses and browsers read. It keeps to the same permit, address,
certificates and limits as libcurl's requests, and makes the same answers.
Invariant: no second request, no redirect, no other address; the connection is closed at the end.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import Final

from agent.adapters.body_memory import BodyMemory
from agent.adapters.curl.answers import MAX_DETAIL_CHARACTERS
from agent.adapters.curl.blocks import (
    Site,
    own_fields,
    read_answer,
    request_block,
    retry_after_s,
)
from agent.adapters.curl.fallback_requests import Fallback
from agent.adapters.curl.options import FetchOptions, system_ca_file
from agent.adapters.curl.rate_limit import RateLimit
from agent.adapters.curl.raw_answer import RawAnswer
from agent.pipeline.messages.requests import FetchAnswer, FetchRequest, Outcome
from agent.pipeline.ports import Clock
from shared.archive.capture import Capture, Truncation
from shared.urls import split_host

__all__ = ["RawRequest", "RawRequests"]

_READ_BYTES: Final = 64 * 1024
_LOOK_S: Final = 0.05  # between two looks whether there is room again
_Done = Callable[[FetchAnswer], None]


class RawRequest:
    """A request, and the part of its answer that has arrived."""

    def __init__(
        self,
        request: FetchRequest,
        site: Site,
        options: FetchOptions,
        clock: Clock,
        memory: BodyMemory,
    ) -> None:
        self._request = request
        self._options = options
        self._clock = clock
        self._memory = memory
        self._block = request_block(request.url, site, more=own_fields(request, Fallback.TOLERANT))
        self._answer = RawAnswer(options.most_header_bytes)
        self._body: list[bytes] = []
        self._body_bytes = self._sent_bytes = self._received_bytes = 0
        self._started_s, self._epoch_ms = clock.monotonic_s(), clock.epoch_ms()
        self._connected_ms = self._first_byte_ms = 0.0
        self._cut: Truncation | None = None
        self._failure: tuple[Outcome, str] | None = None

    async def run(
        self,
        refusal: Callable[[], Outcome | None],
        may_receive: Callable[[int], Awaitable[None]],
    ) -> FetchAnswer:
        """Send it and return its answer.

        refusal: asked when the connection stands: why nothing may be sent. may_receive: waits
        until so many bytes of a body may be taken.
        """
        options = self._options
        try:
            async with asyncio.timeout(options.deadline_s):
                await self._exchange(refusal, may_receive)
        except TimeoutError:
            self._fail("timeout", f"no end of the answer within {options.deadline_s:g} s", "time")
        except ssl.SSLError as error:
            self._fail("tls", str(error), "disconnect")
        except OSError as error:
            outcome: Outcome = "disconnected" if self._sent_bytes else "refused"
            self._fail(outcome, str(error), "disconnect")
        except asyncio.CancelledError:
            self._failure = "stopped", "the agent is ending"
            self._answer.header = b""
        finally:
            self._memory.sum -= self._body_bytes
        return self._made()

    async def _exchange(
        self,
        refusal: Callable[[], Outcome | None],
        may_receive: Callable[[int], Awaitable[None]],
    ) -> None:
        options, answer = self._options, self._answer
        reader, writer = await self._connect()
        try:
            self._connected_ms = self._passed_ms()
            outcome = refusal()
            if outcome is not None:
                self._failure = outcome, ""
                return
            writer.write(self._block)
            self._sent_bytes = len(self._block)
            while not (answer.complete or answer.refused):
                wait_s = options.min_rate_s if answer.header else self._first_byte_left_s()
                try:
                    data = await asyncio.wait_for(reader.read(_READ_BYTES), wait_s)
                except TimeoutError:
                    self._fail("timeout", f"no bytes within {wait_s:.0f} s", "time")
                    return
                self._first_byte_ms = self._first_byte_ms or self._passed_ms()
                if not data:
                    answer.end()
                    return
                self._received_bytes += len(data)
                if not await self._take(answer.feed(data), may_receive):
                    return
        finally:
            writer.transport.abort()

    async def _take(self, body: bytes, may_receive: Callable[[int], Awaitable[None]]) -> bool:
        """Keep bytes of the body; tell whether there is room for more."""
        if not body:
            return True
        await may_receive(len(body))
        room = self._request.max_body_bytes - self._body_bytes
        self._body.append(body[:room])
        self._body_bytes += len(self._body[-1])
        self._memory.sum += len(self._body[-1])
        if len(body) > room:
            self._cut = "length"
            return False
        return True

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        scheme, name, port = split_host(self._request.url[: self._request.url.index("/", 8)])
        options = self._options
        source = (options.source_address, 0) if options.source_address else None
        opening = asyncio.open_connection(
            self._request.address,
            port,
            ssl=_context(options) if scheme == "https" else None,
            server_hostname=name.strip("[]") if scheme == "https" else None,
            local_addr=source,
        )
        try:
            return await asyncio.wait_for(opening, options.connect_s)
        except TimeoutError:
            raise ConnectionError(f"no connection within {options.connect_s:g} s") from None

    def _first_byte_left_s(self) -> float:
        return max(0.0, self._options.first_byte_s - self._passed_ms() / 1000)

    def _passed_ms(self) -> float:
        return 1000 * (self._clock.monotonic_s() - self._started_s)

    def _fail(self, outcome: Outcome, detail: str, cut: Truncation) -> None:
        """Note an end before the end: of a request, or where a header came, of its body."""
        if self._answer.header:
            self._cut = self._cut or cut
        else:
            self._failure = outcome, detail

    def _made(self) -> FetchAnswer:
        answer = self._answer
        header = answer.header
        whole = read_answer([line + b"\n" for line in header.split(b"\n")[:-1]])
        cut = self._cut or ("disconnect" if answer.cut else None)
        outcome: Outcome = "truncated" if cut else "answered"
        detail = ""
        if self._failure is not None:
            outcome, detail = self._failure
        elif answer.refused:
            outcome, detail = "malformed", answer.refused
        elif not header:
            outcome, detail = "disconnected", "the connection ended before the header"
        capture = None
        if header:
            capture = Capture(
                self._request.url,
                self._epoch_ms,
                self._block,
                header,
                b"".join(self._body),
                self._request.address or None,
                cut,
            )
        return FetchAnswer(
            request=self._request,
            outcome=outcome,
            capture=capture,
            status=whole.status if header else 0,
            request_bytes=self._sent_bytes,
            response_bytes=self._received_bytes,
            elapsed_ms=max(0.0, self._passed_ms()),
            started_epoch_ms=self._epoch_ms,
            ended_s=self._clock.monotonic_s(),
            kept_alive=False,
            location=whole.location if header else None,
            retry_after_s=retry_after_s(header, whole.status, self._epoch_ms) if header else None,
            detail=detail[:MAX_DETAIL_CHARACTERS],
            connect_ms=self._connected_ms,
            first_byte_ms=self._first_byte_ms,
        )


def _context(options: FetchOptions) -> ssl.SSLContext:
    trusted = options.ca_file or system_ca_file()
    context = ssl.create_default_context(cafile=None if trusted is None else str(trusted))
    if not options.verify_tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


class RawRequests:
    """The raw requests under way, under the common limits: one task each, on the loop's thread."""

    def __init__(
        self,
        options: FetchOptions,
        clock: Clock,
        memory: BodyMemory,
        rate: RateLimit,
        refusal: Callable[[], Outcome | None],
        ended: Callable[[_Done, FetchAnswer], None],
    ) -> None:
        """refusal: why nothing may be sent now, or None. ended: called with each answer."""
        self._options = options
        self._clock = clock
        self._memory = memory
        self._rate = rate
        self._refusal = refusal
        self._ended = ended
        self._tasks: dict[asyncio.Task[FetchAnswer], _Done] = {}

    def __len__(self) -> int:
        """Return how many are under way."""
        return len(self._tasks)

    def start(self, request: FetchRequest, site: Site, done: _Done) -> None:
        """Begin one request."""
        raw = RawRequest(request, site, self._options, self._clock, self._memory)
        task = asyncio.get_running_loop().create_task(raw.run(self._refusal, self._wait_for_room))
        self._tasks[task] = done
        task.add_done_callback(self._take)

    def cancel(self) -> None:
        """End them; their answers have the outcome `stopped`."""
        for task in self._tasks:
            task.cancel()

    async def wait(self) -> None:
        """Wait until none is under way."""
        if self._tasks:
            await asyncio.wait(list(self._tasks))

    def _take(self, task: asyncio.Task[FetchAnswer]) -> None:
        done = self._tasks.pop(task)
        self._ended(done, task.result())

    async def _wait_for_room(self, size_bytes: int) -> None:
        while self._memory.crowded:  # noqa: ASYNC110  # there is no event for it
            await asyncio.sleep(_LOOK_S)
        while not self._rate.take(size_bytes, self._clock.monotonic_s()):  # noqa: ASYNC110
            await asyncio.sleep(self._rate.wait_s())

"""Sends requests through libcurl's multi interface on the running event loop.

libcurl says which sockets and timer it waits for, the loop watches them, and finished transfers
are collected after each step. `start` asks the permit first, and the slot asks again when the
connection stands: between the two a process can have been stopped for hours.

One connection an address: the frontier sends one request to an address at a time, and a connection
that is kept open to an address under another name is hung up before a new one is made.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final

import pycurl

from agent.adapters.curl.blocks import read_answer, request_block, retry_after_s, stays_open
from agent.adapters.curl.options import MAX_HEADER_BYTES, FetchOptions
from agent.adapters.curl.outcomes import classify
from agent.adapters.curl.slot import Slot
from agent.pipeline.messages import Outcome
from agent.pipeline.ports import Clock, FetchAnswer, FetchRequest
from shared.archive.capture import Capture, Truncation
from shared.urls import host_of

__all__ = ["CurlFetcher"]

MAX_SWEEP_S: Final = 1.0
MAX_DETAIL_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class _Idle:
    """A connection that was left open; `descriptor` was its socket's."""

    host: str
    descriptor: int


class CurlFetcher:
    """Fulfils `agent.pipeline.ports.Fetcher`. Make it inside a running event loop."""

    def __init__(
        self,
        options: FetchOptions,
        may_fetch: Callable[[], bool],
        refusal: Callable[[str], str | None],
        clock: Clock,
    ) -> None:
        """may_fetch: the permit. refusal: why an address must not be crawled, or None."""
        self._options = options
        self._may_fetch = may_fetch
        self._refusal = refusal
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._multi: Any = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, options.max_idle)
        self._multi.setopt(pycurl.M_PIPELINING, 0)
        self._busy: dict[Any, Slot] = {}  # by handle
        self._free: list[Slot] = []
        self._idle: dict[str, _Idle] = {}  # by address, oldest first
        self._watched: dict[int, int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._sweep: asyncio.TimerHandle | None = None
        self._sweep_s = min(MAX_SWEEP_S, options.first_byte_s / 4)
        self._quiet: asyncio.Event = asyncio.Event()
        self._quiet.set()
        self._stopping = False

    @property
    def in_flight(self) -> int:
        """Return how many requests are under way."""
        return len(self._busy)

    def start(self, request: FetchRequest, done: Callable[[FetchAnswer], None]) -> None:
        """Begin one request; `done` is called once, later, on the loop's thread."""
        outcome, detail = self._first_refusal(request)
        if outcome is not None:
            self._loop.call_soon(done, self._unsent(request, outcome, detail))
            return
        self._hang_up_other(request)
        slot = self._free.pop() if self._free else Slot(self._options, self._may_send)
        slot.begin(request, done, self._clock.monotonic_s(), self._clock.epoch_ms())
        self._busy[slot.handle] = slot
        self._quiet.clear()
        self._multi.add_handle(slot.handle)
        if self._sweep is None:
            self._sweep = self._loop.call_later(self._sweep_s, self._cut_silent)

    async def drain(self, deadline_s: float) -> None:
        """Refuse new requests, wait for those under way, and end the rest after `deadline_s`.

        Requests that are refused or ended have the outcome `stopped`.
        """
        self._stopping = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self._quiet.wait(), deadline_s)
        self._end_all()
        await asyncio.sleep(0)  # the last answers are delivered by the loop

    def close(self) -> None:
        """End what is under way, and let go of all connections."""
        self._stopping = True
        self._end_all()
        for timer in (self._timer, self._sweep):
            if timer is not None:
                timer.cancel()
        self._timer = self._sweep = None
        self._multi.close()
        for descriptor in list(self._watched):
            self._watch(pycurl.POLL_REMOVE, descriptor, None, None)
        for slot in self._free:
            slot.handle.close()
        self._free.clear()

    def _first_refusal(self, request: FetchRequest) -> tuple[Outcome | None, str]:
        if self._stopping:
            return "stopped", "the agent is ending"
        if not self._may_fetch():
            return "no_permit", "no permit to fetch"
        if not self._options.proxy:
            try:
                reason = self._refusal(request.address)
            except ValueError:
                reason = f"{request.address[:60]!a} is no address"
            if reason is not None:
                return "forbidden_address", reason
        return None, ""

    def _may_send(self, slot: Slot, address: str) -> bool:
        if self._stopping or not self._may_fetch():
            slot.refusal = "stopped" if self._stopping else "no_permit"
        elif not self._options.proxy and not _same(address, slot.request.address):
            slot.refusal = "forbidden_address"
        return slot.refusal is None

    # What libcurl waits for.

    def _watch(self, what: int, descriptor: int, _multi: object, _data: object) -> None:
        wanted = 0 if what == pycurl.POLL_REMOVE else what
        before = self._watched.get(descriptor, 0)
        if wanted & pycurl.POLL_IN and not before & pycurl.POLL_IN:
            self._loop.add_reader(descriptor, self._act, descriptor, pycurl.CSELECT_IN)
        elif before & pycurl.POLL_IN and not wanted & pycurl.POLL_IN:
            self._loop.remove_reader(descriptor)
        if wanted & pycurl.POLL_OUT and not before & pycurl.POLL_OUT:
            self._loop.add_writer(descriptor, self._act, descriptor, pycurl.CSELECT_OUT)
        elif before & pycurl.POLL_OUT and not wanted & pycurl.POLL_OUT:
            self._loop.remove_writer(descriptor)
        if wanted:
            self._watched[descriptor] = wanted
        else:
            self._watched.pop(descriptor, None)

    def _set_timer(self, wait_ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if wait_ms >= 0:
            self._timer = self._loop.call_later(wait_ms / 1000, self._act, pycurl.SOCKET_TIMEOUT, 0)

    def _act(self, descriptor: int, ready: int) -> None:
        self._multi.socket_action(descriptor, ready)
        while True:
            left, good, bad = self._multi.info_read()
            for handle in good:
                self._finish(handle, pycurl.E_OK, "")
            for handle, code, message in bad:
                self._finish(handle, code, message)
            if left == 0:
                return

    def _cut_silent(self) -> None:
        """End requests whose answer has not begun in time; libcurl has no such limit."""
        self._sweep = None
        latest_s = self._clock.monotonic_s() - self._options.first_byte_s
        late = [
            handle
            for handle, slot in self._busy.items()
            if slot.started_s < latest_s and not slot.lines
        ]
        for handle in late:
            wait = f"no answer within {self._options.first_byte_s:g} s"
            self._finish(handle, pycurl.E_OPERATION_TIMEDOUT, wait)
        if self._busy:
            self._sweep = self._loop.call_later(self._sweep_s, self._cut_silent)

    # How requests end.

    def _finish(self, handle: Any, code: int, message: str) -> None:
        slot = self._busy.pop(handle)
        answer = self._answer(slot, code, message)
        done = slot.done
        self._multi.remove_handle(handle)
        slot.clear()
        self._free.append(slot)
        if not self._busy:
            self._quiet.set()
        # Not from here: whoever takes the answer may start, close or fail.
        self._loop.call_soon(done, answer)

    def _answer(self, slot: Slot, code: int, message: str) -> FetchAnswer:
        request, handle = slot.request, slot.handle
        ended_s = self._clock.monotonic_s()
        received = read_answer(slot.lines)
        fits = len(received.header) <= MAX_HEADER_BYTES
        whole = received.whole and received.status > 0 and fits
        outcome, truncated = classify(code, whole_header=whole)
        detail = message
        if slot.refusal is not None:
            outcome, truncated, whole = slot.refusal, None, False
        elif not whole and (received.whole or not fits):
            outcome = "malformed"
            detail = "no status" if fits else f"header larger than {MAX_HEADER_BYTES} bytes"
        kept_alive = outcome == "answered" and stays_open(received.header)
        if kept_alive:
            self._keep(request, handle.getinfo(pycurl.ACTIVESOCKET))
        return FetchAnswer(
            request=request,
            outcome=outcome,
            capture=self._capture(slot, received.header, truncated) if whole else None,
            status=received.status if whole else 0,
            request_bytes=handle.getinfo(pycurl.REQUEST_SIZE),
            response_bytes=handle.getinfo(pycurl.HEADER_SIZE)
            + handle.getinfo(pycurl.SIZE_DOWNLOAD_T),
            elapsed_ms=1000 * (ended_s - slot.started_s)
            if outcome == "timeout"  # libcurl's count stands still while nothing happens
            else handle.getinfo(pycurl.TOTAL_TIME_T) / 1000,
            started_epoch_ms=slot.started_epoch_ms,
            ended_s=ended_s,
            kept_alive=kept_alive,
            location=received.location if whole else None,
            retry_after_s=retry_after_s(received.header, slot.started_epoch_ms) if whole else None,
            detail=detail[:MAX_DETAIL_CHARACTERS],
        )

    def _capture(self, slot: Slot, header: bytes, truncated: Truncation | None) -> Capture:
        version = "2" if header.startswith(b"HTTP/2") else "1.1"
        return Capture(
            url=slot.request.url,
            fetched_at_ms=slot.started_epoch_ms,
            request=request_block(
                slot.request.url,
                self._options.fields(),
                version=version,
                by_proxy=bool(self._options.proxy),
            ),
            response_header=header,
            body=b"".join(slot.body),
            ip=slot.request.address or None,
            truncated=truncated,
        )

    def _unsent(self, request: FetchRequest, outcome: Outcome, detail: str) -> FetchAnswer:
        return FetchAnswer(
            request=request,
            outcome=outcome,
            capture=None,
            status=0,
            request_bytes=0,
            response_bytes=0,
            elapsed_ms=0.0,
            started_epoch_ms=self._clock.epoch_ms(),
            ended_s=self._clock.monotonic_s(),
            kept_alive=False,
            detail=detail,
        )

    def _end_all(self) -> None:
        for handle, slot in list(self._busy.items()):
            slot.refusal = slot.refusal or "stopped"
            self._finish(handle, pycurl.E_ABORTED_BY_CALLBACK, "the agent is ending")

    # Connections that stay open.

    def _keep(self, request: FetchRequest, descriptor: int) -> None:
        if request.address and descriptor >= 0:
            self._idle[request.address] = _Idle(host_of(request.url), descriptor)
            while len(self._idle) > self._options.max_idle:
                del self._idle[next(iter(self._idle))]

    def _hang_up_other(self, request: FetchRequest) -> None:
        """Close the connection to an address that was kept open under another name."""
        idle = self._idle.pop(request.address, None)
        if idle is None or idle.host == host_of(request.url):
            return
        # libcurl offers no way to close one connection. The descriptor may be somebody else's by
        # now; only a connection to this very address is ended.
        with suppress(OSError), socket.socket(fileno=socket.dup(idle.descriptor)) as connection:
            if _same(connection.getpeername()[0], request.address):
                connection.shutdown(socket.SHUT_RDWR)


def _same(one: str, other: str) -> bool:
    try:
        return ip_address(one) == ip_address(other)
    except ValueError:
        return False

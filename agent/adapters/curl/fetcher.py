"""Sends requests through libcurl's multi interface on the running event loop.

libcurl says which sockets and timer it waits for, they are watched, and finished transfers are
collected when all that was ready has been moved on. `start` asks the permit first, and the slot
asks again when the connection stands: between the two a process can have been stopped for hours.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, Final

import pycurl

from agent.adapters.body_memory import BodyMemory
from agent.adapters.curl.answers import MAX_DETAIL_CHARACTERS, answer_of, note_retry
from agent.adapters.curl.blocks import site_of
from agent.adapters.curl.body_room import BodyRoom
from agent.adapters.curl.event_loop import Sockets, Timer
from agent.adapters.curl.fallback_requests import Fallback, Fallbacks
from agent.adapters.curl.idle_connections import IdleConnections, same_address
from agent.adapters.curl.options import FetchOptions
from agent.adapters.curl.rate_limit import RateLimit
from agent.adapters.curl.raw_request import RawRequests
from agent.adapters.curl.slot import Slot
from agent.pipeline.messages.requests import FetchAnswer, FetchRequest, Outcome
from agent.pipeline.ports import Clock
from shared.archive.http_block import status_code
from shared.messages import Message

__all__ = ["CurlFetcher"]

MAX_SWEEP_S: Final = 1.0
ROOM_S: Final = 0.05  # between two looks whether there is room again, while any transfer waits
SITES_REMEMBERED: Final = 4096
_CONNECTION: Final = (pycurl.ACTIVESOCKET, pycurl.LOCAL_PORT)


class CurlFetcher:
    """Fulfils `agent.pipeline.ports.Fetcher`. Make it inside a running event loop."""

    def __init__(
        self,
        options: FetchOptions,
        may_fetch: Callable[[], bool],
        refusal: Callable[[str], Message | None],
        clock: Clock,
        memory: BodyMemory | None = None,
    ) -> None:
        """may_fetch: the permit. refusal: why an address must not be crawled, or None.

        memory: the counter of bodies in memory; None: no other part counts them.
        """
        self._options = options
        self._may_fetch = may_fetch
        self._refusal = refusal
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._multi: Any = pycurl.CurlMulti()
        self._sockets = Sockets(self._loop, self._handle_ready)
        self._timer = Timer(self._loop, self._handle_timeout)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._sockets.watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._timer.set)
        self._multi.setopt(pycurl.M_MAXCONNECTS, options.max_idle)
        self._multi.setopt(pycurl.M_PIPELINING, 0)
        self._site = lru_cache(SITES_REMEMBERED)(partial(site_of, fields=options.fields))
        self._busy: dict[Any, Slot] = {}  # by handle
        self._free: list[Slot] = []
        self._fallbacks = Fallbacks()
        self._idle = IdleConnections(options.max_idle)
        self._answers: deque[tuple[Callable[[FetchAnswer], None], FetchAnswer]] = deque()
        self._rate = RateLimit(options.rate, clock.monotonic_s())
        self._paused: list[Slot] = []
        self._memory = BodyMemory(options.held_bytes) if memory is None else memory
        self._room = BodyRoom(self._memory)
        self._raw = RawRequests(
            options, clock, self._memory, self._rate, self._late_refusal, self._raw_ended
        )
        self._room_timer: asyncio.TimerHandle | None = None
        self._resume: asyncio.TimerHandle | None = None
        self._sweep: asyncio.TimerHandle | None = None
        self._sweep_s = min(MAX_SWEEP_S, options.first_byte_s / 4, options.deadline_s / 4)
        self._quiet: asyncio.Event = asyncio.Event()
        self._quiet.set()
        self._stopping = False

    @property
    def in_flight(self) -> int:
        """Return how many requests are under way."""
        return len(self._busy) + len(self._raw)

    @property
    def crowded(self) -> bool:
        """Return whether bodies in memory leave no room for more requests than there are."""
        return self._memory.crowded

    @property
    def passed_bytes(self) -> int:
        """Return how many bytes the limit of the rate has let through; 0: none was set yet."""
        return self._rate.passed_bytes

    def start(self, request: FetchRequest, done: Callable[[FetchAnswer], None]) -> None:
        """Begin one request; `done` is called once, later, on the loop's thread."""
        outcome, detail = self._first_refusal(request)
        if outcome is not None:
            answer = FetchAnswer(
                request,
                outcome,
                started_epoch_ms=self._clock.epoch_ms(),
                ended_s=self._clock.monotonic_s(),
                detail=detail[:MAX_DETAIL_CHARACTERS],
            )
            self._answers.append((done, answer))
            self._deliver_soon()
            return
        site = self._site(request.url[: request.url.index("/", 8)])
        now_s = self._clock.monotonic_s()
        fallback = self._fallbacks.of(site.host, now_s)
        if fallback is Fallback.TOLERANT:
            self._idle.hang_up(request.address, now_s)
            self._raw.start(request, site, done)
            self._quiet.clear()
            return
        kept = self._idle.make_way(request.address, site.host, now_s)
        has_ended = self._sockets.has_ended(kept)
        if has_ended:
            self._idle.note_end(site.host, now_s)
        anew = not self._options.proxy and (kept < 0 or has_ended)
        slot = self._free.pop() if self._free else self._new_slot()
        slot.begin(request, site, done, now_s, self._clock.epoch_ms(), fallback)
        slot.set_fresh_connection(anew)
        self._busy[slot.handle] = slot
        self._quiet.clear()
        self._multi.add_handle(slot.handle)
        if self._sweep is None:
            self._sweep = self._loop.call_later(self._sweep_s, self._end_overdue)

    def _late_refusal(self) -> Outcome | None:
        if self._stopping:
            return "stopped"
        return None if self._may_fetch() else "no_permit"

    def _raw_ended(self, done: Callable[[FetchAnswer], None], answer: FetchAnswer) -> None:
        self._note_idle()
        self._answers.append((done, answer))
        self._deliver_all()

    def limit_rate(self, bytes_per_s: int) -> None:
        """Limit the rate of all answers together from now on; 0: no limit."""
        self._rate.change(bytes_per_s, self._clock.monotonic_s())
        if self._resume is not None:
            self._resume.cancel()
            self._resume = self._loop.call_later(self._rate.wait_s(), self._resume_paused)

    async def drain(self, deadline_s: float) -> None:
        """Refuse new requests, wait for those under way, and end the rest after `deadline_s`.

        Requests that are refused or ended have the outcome `stopped`.
        """
        self._stopping = True
        with suppress(TimeoutError):
            await asyncio.wait_for(self._quiet.wait(), deadline_s)
        self._end_all()
        await self._raw.wait()
        await asyncio.sleep(0)  # the last answers are delivered by the loop

    def close(self) -> None:
        """End the requests under way, and close all connections."""
        self._stopping = True
        self._end_all()
        self._timer.end()
        for timer in (self._sweep, self._resume, self._room_timer):
            if timer is not None:
                timer.cancel()
        self._sweep = self._resume = self._room_timer = None
        self._multi.close()
        self._sockets.end()
        for slot in self._free:
            slot.handle.close()
        self._free.clear()

    def _new_slot(self) -> Slot:
        return Slot(
            self._options,
            self._may_send,
            self._may_receive,
            self._rate,
            self._memory,
            self._sockets,
        )

    def _first_refusal(self, request: FetchRequest) -> tuple[Outcome | None, str]:
        if self._stopping:
            return "stopped", "the agent is ending"
        if not self._may_fetch():
            return "no_permit", "no permit to fetch"
        if not self._options.proxy:
            try:
                reason = self._refusal(request.address)
            except ValueError:
                return "forbidden_address", f"{request.address[:60]!a} is no address"
            if reason is not None:
                return "forbidden_address", str(reason)
        return None, ""

    def _may_send(self, slot: Slot, address: str) -> bool:
        if self._stopping or not self._may_fetch():
            slot.refusal = "stopped" if self._stopping else "no_permit"
        elif not self._options.proxy and not same_address(address, slot.request.address):
            slot.refusal = "forbidden_address"
        return slot.refusal is None

    def _may_receive(self, slot: Slot, size_bytes: int) -> bool:
        now_s = self._clock.monotonic_s()
        if not self._room.may_receive(slot):
            slot.pause(now_s)
            if self._room_timer is None:
                self._room_timer = self._loop.call_later(ROOM_S, self._resume_waiting)
            return False
        if self._rate.take(size_bytes, now_s):
            return True
        slot.pause(now_s)
        self._paused.append(slot)
        if self._resume is None:
            self._resume = self._loop.call_later(self._rate.wait_s(), self._resume_paused)
        return False

    def _resume_paused(self) -> None:
        self._resume = None
        paused, self._paused = self._paused, []
        self._resume_all(paused)

    def _resume_waiting(self) -> None:
        self._room_timer = None
        self._resume_all(self._room.take_resumable())
        if self._room_timer is None and self._room.is_waited_for:
            self._room_timer = self._loop.call_later(ROOM_S, self._resume_waiting)

    def _resume_all(self, slots: Iterable[Slot]) -> None:
        now_s = self._clock.monotonic_s()
        for slot in slots:
            if not slot.resume(now_s):
                continue
            try:
                slot.handle.pause(pycurl.PAUSE_CONT)
            except pycurl.error as error:  # the piece that waited ended it: its body is too long
                self._finish(slot.handle, *error.args)
                self._deliver_soon()

    def _handle_timeout(self) -> None:
        self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        self._collect()

    def _handle_ready(self) -> None:
        act = self._multi.socket_action
        for descriptor, ready in self._sockets.take():
            act(descriptor, ready)
        self._collect()

    def _collect(self) -> None:
        while True:
            left, good, bad = self._multi.info_read()
            for handle in good:
                self._finish(handle, pycurl.E_OK, "")
            for handle, code, message in bad:
                self._finish(handle, code, message)
            if left == 0:
                break
        # Nothing of libcurl is under way here: whoever takes an answer may start, close or fail.
        if self._answers:
            self._deliver_all()

    def _end_overdue(self) -> None:
        """End requests whose answer has not begun, or not ended, in time."""
        self._sweep = None
        now_s, options, may_fetch = self._clock.monotonic_s(), self._options, self._may_fetch
        late = [
            (handle, reason)
            for handle, slot in self._busy.items()
            if (reason := slot.overdue(now_s, options, may_fetch))
        ]
        for handle, reason in late:
            self._finish(handle, pycurl.E_OPERATION_TIMEDOUT, reason)
        if late:
            self._deliver_soon()
        if self._busy:
            self._sweep = self._loop.call_later(self._sweep_s, self._end_overdue)

    # How requests end.

    def _finish(self, handle: Any, code: int, message: str) -> None:
        slot = self._busy.pop(handle)
        lines = slot.lines
        if code != pycurl.E_OK or not lines or status_code(lines[0]) is None:
            now_s = self._clock.monotonic_s()
            message = note_retry(slot, code, message, self._fallbacks, now_s)
        answer = answer_of(slot, code, message, self._clock.monotonic_s(), self._options)
        if answer.kept_alive:
            descriptor, port = (handle.getinfo(one) for one in _CONNECTION)
            now_s = self._clock.monotonic_s()
            self._idle.keep(slot.request.address, slot.site.host, descriptor, port, now_s)
        done = slot.done
        self._multi.remove_handle(handle)
        self._room.ended(slot)
        slot.clear()
        self._free.append(slot)
        self._note_idle()
        self._answers.append((done, answer))

    def _note_idle(self) -> None:
        if not self._busy and not self._raw:
            self._quiet.set()

    def _deliver_soon(self) -> None:
        """Defer delivery to the loop: the caller does not expect an answer yet."""
        self._loop.call_soon(self._deliver_all)

    def _deliver_all(self) -> None:
        answers, self._answers = self._answers, deque()
        try:
            while answers:
                done, answer = answers.popleft()
                done(answer)
        finally:
            if answers:  # one of them failed: the loop says so, and the others come next
                self._answers.extendleft(reversed(answers))
                self._deliver_soon()

    def _end_all(self) -> None:
        self._raw.cancel()
        for handle, slot in list(self._busy.items()):
            slot.refusal = slot.refusal or "stopped"
            self._finish(handle, pycurl.E_ABORTED_BY_CALLBACK, "the agent is ending")
        if self._answers:
            self._deliver_soon()

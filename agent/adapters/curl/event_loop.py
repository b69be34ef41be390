"""libcurl on the event loop: its sockets, in an epoll set that the loop watches as one, its timer.

With asyncio's own watching each request would enter its socket, be called back by a handle of its
own, and leave again, though the connection stays open and the next request waits for the same
thing. Here a socket stays entered when no transfer waits for it; if it wakes us then (its server
hung up), it leaves.

libcurl looks whether a connection still stands only where it was idle for a second; of a shorter
one `has_ended` knows: the kernel reports the end also while no transfer waits for it.

Invariant: what libcurl waits for is entered. It closes sockets without a word, and the kernel
forgets closed ones by itself; so a socket without a waiting transfer is entered again, whether
it is the same one or another with its number. Only of a connection that was `opened` is it known
to be the same: a later connection with its number would have been opened too.
"""

from __future__ import annotations

import asyncio
import math
import select
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

import pycurl

__all__ = ["Sockets", "Timer"]

_EVENTS: Final = {
    pycurl.POLL_IN: select.EPOLLIN | select.EPOLLRDHUP,
    pycurl.POLL_OUT: select.EPOLLOUT | select.EPOLLRDHUP,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP,
}
_READABLE: Final = select.EPOLLIN | select.EPOLLRDHUP
_HUNG_UP: Final = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR


class Sockets:
    """Watches for libcurl."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ready: Callable[[], None]) -> None:
        """ready: called when `take` has something; called again until it is taken."""
        self._loop = loop
        self._epoll = select.epoll()
        self._entered: dict[int, int] = {}  # descriptor: events
        self._unwanted: set[int] = set()  # entered, but no transfer waits for it now
        self._connections: set[int] = set()  # that were opened, perhaps closed since
        self._ended: set[int] = set()  # whose server hung up while no transfer waited
        self.fileno = self._epoll.fileno()
        loop.add_reader(self.fileno, ready)

    def watch(self, what: int, descriptor: int, _multi: object, _data: object) -> None:
        """Wait for what libcurl asks for (M_SOCKETFUNCTION)."""
        events = _EVENTS.get(what)
        if events is None:
            self._unwanted.add(descriptor)
            return
        before = self._entered.get(descriptor)
        if descriptor in self._unwanted:
            self._unwanted.discard(descriptor)
            if before == events and descriptor in self._connections:
                return
        elif before == events:
            return
        self._entered[descriptor] = events
        if before is not None:
            try:
                self._epoll.modify(descriptor, events)
            except FileNotFoundError:
                pass
            else:
                return
        self._epoll.register(descriptor, events)

    def opened(self, descriptor: int, _purpose: int) -> int:
        """Learn of a new connection (SOCKOPTFUNCTION); then none is used that was not told."""
        self._unwanted.discard(descriptor)
        self._entered.pop(descriptor, None)
        self._ended.discard(descriptor)
        self._connections.add(descriptor)
        done: int = pycurl.SOCKOPT_OK
        return done

    def has_ended(self, descriptor: int) -> bool:
        """Return whether an idle connection was hung up by its server."""
        return descriptor in self._ended

    def take(self) -> Iterator[tuple[int, int]]:
        """Yield (descriptor, what is ready) for `socket_action`."""
        for descriptor, events in self._epoll.poll(0):
            if descriptor in self._unwanted:
                if events & _HUNG_UP and descriptor in self._connections:
                    self._ended.add(descriptor)
                self._leave(descriptor)
            elif events == select.EPOLLIN:
                yield descriptor, pycurl.CSELECT_IN
            else:
                # An error is both: whatever is tried next will find it.
                read = pycurl.CSELECT_IN if events & ~select.EPOLLOUT else 0
                write = pycurl.CSELECT_OUT if events & ~_READABLE else 0
                yield descriptor, read | write

    def end(self) -> None:
        """Stop watching."""
        self._loop.remove_reader(self.fileno)
        self._epoll.close()

    def _leave(self, descriptor: int) -> None:
        self._unwanted.discard(descriptor)
        if self._entered.pop(descriptor, None) is not None:
            with suppress(OSError):
                self._epoll.unregister(descriptor)


class Timer:
    """One wake-up at a time, with as few timers of the loop as possible; `act` is called when due.

    libcurl asks for no wait with each request, and for a long one when that is sent. The first is
    no timer, and a wake-up that is already due earlier is left alone: it finds out then that there
    is still time. So consecutive requests need no timer each.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
        self._loop = loop
        self._handle_timeout = act
        self._due_s = math.inf  # by the loop's clock
        self._later: asyncio.TimerHandle | None = None
        self._soon: asyncio.Handle | None = None  # in the loop's next round

    def set(self, wait_ms: int) -> None:
        """Wake libcurl in so many milliseconds, -1: not at all (M_TIMERFUNCTION)."""
        if wait_ms < 0:
            self._due_s = math.inf
            return
        self._due_s = self._loop.time() + wait_ms / 1000
        if wait_ms == 0:
            if self._soon is None:
                self._soon = self._loop.call_soon(self._wake_soon)
            return
        if self._later is not None:
            if self._later.when() <= self._due_s:
                return
            self._later.cancel()
        self._later = self._loop.call_at(self._due_s, self._wake)

    def end(self) -> None:
        """Cancel all wake-ups."""
        for handle in (self._later, self._soon):
            if handle is not None:
                handle.cancel()
        self._later = self._soon = None

    def _wake_soon(self) -> None:
        self._soon = None
        if self._due_s <= self._loop.time():  # else it has asked for a later time since
            self._wake_now()

    def _wake(self) -> None:
        self._later = None
        if self._due_s <= self._loop.time():
            self._wake_now()
        elif self._due_s < math.inf:
            self._later = self._loop.call_at(self._due_s, self._wake)

    def _wake_now(self) -> None:
        self._due_s = math.inf  # until libcurl asks again
        self._handle_timeout()

"""What libcurl waits for wakes us, whatever became of the numbers of its sockets."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pycurl
import pytest

from agent.adapters.curl.event_loop import Sockets


@contextmanager
def watching() -> Iterator[Sockets]:
    loop = asyncio.new_event_loop()
    sockets = Sockets(loop, lambda: None)
    yield sockets
    sockets.end()
    loop.close()


@contextmanager
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.mark.parametrize("told", [True, False])
def test_a_socket_that_waits_again_wakes_us(told: bool) -> None:
    with watching() as sockets, pair() as (ours, theirs):
        if told:
            sockets.opened(ours.fileno(), 0)
        for _ in range(3):
            sockets.watch(pycurl.POLL_IN, ours.fileno(), None, None)
            assert list(sockets.take()) == []
            theirs.send(b"x")
            assert list(sockets.take()) == [(ours.fileno(), pycurl.CSELECT_IN)]
            ours.recv(1)
            sockets.watch(pycurl.POLL_REMOVE, ours.fileno(), None, None)


@pytest.mark.parametrize("told", [True, False])
def test_another_socket_with_its_number_wakes_us(told: bool) -> None:
    """The first is closed without a word while nobody waits for it."""
    with watching() as sockets, pair() as (first, _), pair() as (second, theirs):
        number = first.fileno()
        for ours in (first, second):
            if ours is second:
                os.dup2(second.fileno(), number)
                second.close()
            if told:
                sockets.opened(number, 0)
            sockets.watch(pycurl.POLL_IN, number, None, None)
            sockets.watch(pycurl.POLL_REMOVE, number, None, None)
        sockets.watch(pycurl.POLL_IN, number, None, None)
        theirs.send(b"x")
        assert list(sockets.take()) == [(number, pycurl.CSELECT_IN)]


def test_one_that_hangs_up_while_nobody_waits_is_left() -> None:
    """Else it would wake us for ever; whoever waits for it then hears of it."""
    with watching() as sockets, pair() as (ours, theirs):
        number = ours.fileno()
        sockets.opened(number, 0)
        sockets.watch(pycurl.POLL_IN, number, None, None)
        sockets.watch(pycurl.POLL_REMOVE, number, None, None)
        theirs.close()
        assert list(sockets.take()) == []
        assert list(sockets.take()) == []
        sockets.watch(pycurl.POLL_IN, number, None, None)
        assert [one for one, _ in sockets.take()] == [number]

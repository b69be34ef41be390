"""Threads of requests, in turns by sender."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import pytest

from manager.intake.workers.request_threads import RequestThreads
from manager.operations.request_senders import own_work, sender, work_for

PATIENCE_S = 30.0


@contextmanager
def threads(count: int = 4, of_a_sender: int = 2) -> Iterator[tuple[RequestThreads, list[str]]]:
    """Give threads, and a list in which work notes its sender when it begins."""
    made = RequestThreads(count, of_a_sender)
    try:
        yield made, []
    finally:
        made.shutdown()


def submit(
    made: RequestThreads, name: str, begun: list[str], until: threading.Event
) -> Future[None]:
    """Begin work of a sender that lasts until an event."""

    def work() -> None:
        begun.append(name)
        assert until.wait(PATIENCE_S)

    work_for(name)
    try:
        return made.submit(work)
    finally:
        work_for("")


def test_one_sender_leaves_threads_to_others() -> None:
    """However much it has to do, another's work is done beside it."""
    go_on, at_once = threading.Event(), threading.Event()
    at_once.set()
    with threads() as (made, begun):
        hostile = [submit(made, "a", begun, go_on) for _ in range(50)]
        submit(made, "b", begun, at_once).result(PATIENCE_S)
        submit(made, "c", begun, at_once).result(PATIENCE_S)
        assert begun == ["a", "a", "b", "c"]
        assert made.waiting == 48
        go_on.set()
        for one in hostile:
            one.result(PATIENCE_S)


def test_who_waits_takes_turns_with_others() -> None:
    """The work of who had most comes last, though it came first."""
    go_on, at_once = threading.Event(), threading.Event()
    at_once.set()
    with threads(1, 1) as (made, begun):
        all_work = [submit(made, "a", begun, go_on)]
        all_work += [submit(made, "a", begun, at_once) for _ in range(5)]
        all_work += [submit(made, "b", begun, at_once) for _ in range(2)]
        go_on.set()
        for one in all_work:
            one.result(PATIENCE_S)
    assert begun[:2] == ["a", "b"]


def test_the_manager_s_own_work_goes_first() -> None:
    """As the one look at keys that the requests of all wait for."""
    go_on, at_once = threading.Event(), threading.Event()
    at_once.set()
    with threads(1, 1) as (made, begun):
        first = submit(made, "a", begun, go_on)
        later = submit(made, "b", begun, at_once)
        own = submit(made, "", begun, at_once)
        go_on.set()
        for one in (first, later, own):
            one.result(PATIENCE_S)
    assert begun == ["a", "", "b"]


def test_work_that_nobody_waits_for_is_not_done() -> None:
    """Who gives up before its turn costs no thread."""
    go_on, at_once = threading.Event(), threading.Event()
    at_once.set()
    with threads(1, 1) as (made, begun):
        first = submit(made, "a", begun, go_on)
        given_up = submit(made, "b", begun, at_once)
        last = submit(made, "c", begun, at_once)
        assert given_up.cancel()
        go_on.set()
        first.result(PATIENCE_S)
        last.result(PATIENCE_S)
    assert begun == ["a", "c"]


def test_an_error_is_told_and_the_thread_is_free_again() -> None:
    """As of any executor."""
    with threads(1, 1) as (made, _):
        with pytest.raises(ZeroDivisionError):
            made.submit(lambda: 1 // 0).result(PATIENCE_S)
        assert made.submit(lambda: 7).result(PATIENCE_S) == 7


def test_at_the_end_what_waits_is_cancelled() -> None:
    """And nothing more is taken."""
    go_on = threading.Event()
    with threads(1, 1) as (made, begun):
        first = submit(made, "a", begun, go_on)
        waits = submit(made, "a", begun, go_on)
        made.shutdown(wait=False)
        go_on.set()
        first.result(PATIENCE_S)
        assert waits.cancelled()
        with pytest.raises(RuntimeError):
            made.submit(lambda: 1)


def test_a_thread_knows_whose_request_it_is() -> None:
    """Through `asyncio.to_thread`; a task begun as the manager's own is nobody's."""

    async def story() -> None:
        asyncio.get_running_loop().set_default_executor(RequestThreads(2, 1))
        work_for("agent 7")
        assert await asyncio.to_thread(sender) == "agent 7"
        with own_work():
            own = asyncio.create_task(asyncio.to_thread(sender))
        assert await own == ""
        assert sender() == "agent 7"

    asyncio.run(story())

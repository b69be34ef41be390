"""When things happen. What happens is not the clock's business, nor these tests'."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from manager.clock import THREADS, Clock, Every, Limit
from shared.errors import SettingError
from shared.messages import Message

LONG_S = 60
LATE = Message.of_text("lists come late")


def test_a_job_is_called_when_the_clock_starts_and_again() -> None:
    """The first call comes at once, the next after the interval."""
    clock, calls, third = Clock(), [], threading.Event()

    def job() -> None:
        calls.append(1)
        if len(calls) == 3:
            third.set()

    clock.every(0.01, "job", job)
    clock.start()
    assert third.wait(LONG_S)
    clock.stop()


def test_a_job_never_runs_twice_at_once() -> None:
    """While it runs its times pass; what was missed is made up for by one call."""
    clock, running, seen = Clock(), threading.Lock(), []
    second, enough = threading.Event(), threading.Event()

    def job() -> None:
        alone = running.acquire(blocking=False)
        seen.append(alone)
        second.wait(0.05)  # several intervals long
        if alone:
            running.release()
        if len(seen) == 3:
            enough.set()

    clock.every(0.01, "job", job)
    clock.start()
    assert enough.wait(LONG_S)
    clock.stop()
    assert all(seen)


def test_a_job_that_fails_is_called_again(caplog: pytest.LogCaptureFixture) -> None:
    """A failure is reported with its job's name and ends nothing."""
    clock, calls, again = Clock(), [], threading.Event()

    def job() -> None:
        calls.append(1)
        if len(calls) == 2:
            again.set()
            return
        raise ValueError("the disk is full")

    with caplog.at_level(logging.ERROR):
        clock.every(0.01, "tidy up", job)
        clock.start()
        assert again.wait(LONG_S)
        clock.stop()
    assert "tidy up failed and is called again" in caplog.text


def test_a_job_can_be_called_sooner() -> None:
    """Who has just made work does not wait for the next time."""
    clock, called = Clock(), threading.Event()
    clock.every(3600, "job", called.set, at_once=False)
    clock.start()
    assert not called.is_set()
    clock.soon("job")
    assert called.wait(LONG_S)
    clock.stop()


def test_an_interval_must_be_some_time() -> None:
    """Zero would be an endless loop."""
    with pytest.raises(SettingError, match="interval of job = 0 s: must be > 0"):
        Clock().every(0, "job", print)


def test_stopping_twice_is_no_error() -> None:
    """Nor is stopping a clock that never started."""
    clock = Clock()
    clock.stop()
    clock.start()
    clock.stop()
    clock.stop()


def test_a_clock_that_is_set_back_puts_nothing_off() -> None:
    """The scheduler would wait until the old time has come again: for 30 days, say."""
    called = threading.Event()
    looked = threading.Event()
    ahead_s = 0.0

    def time_s() -> float:
        at_s = time.time() + ahead_s
        looked.set()
        return at_s

    clock = Clock(time_s=time_s)
    clock.every(3600.0, "job", called.set, at_once=False)
    clock.start()
    try:
        assert looked.wait(60)
        ahead_s = -30 * 86_400.0
        assert called.wait(60)
    finally:
        clock.stop()


@pytest.mark.parametrize("missed", [timedelta(0), timedelta(seconds=7.2), timedelta(days=30)])
def test_times_that_were_missed_are_passed_over_at_once(missed: timedelta) -> None:
    """Whatever the leap, a job has one time to make up for, and the next is to come in its beat."""
    trigger = Every(seconds=0.5, timezone=UTC)
    due = datetime(2026, 11, 22, tzinfo=UTC)
    now = due + missed
    following = trigger.get_next_fire_time(due, now)
    assert following is not None
    assert now < following <= now + timedelta(seconds=0.5)
    assert (following - due) % timedelta(seconds=0.5) == timedelta(0)


class SlowJob:
    """A job that runs until it is let go."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.begun.set()
        assert self.go_on.wait(LONG_S)


def wait_until(holds: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + LONG_S
    while not holds():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_a_job_that_runs_past_its_next_times_is_late_only_beyond_its_limit(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is told once, in our words, and once when it is over; the library tells nothing."""
    now_s = 1000.0
    clock, job = Clock(counting_s=lambda: now_s), SlowJob()
    again = threading.Event()
    unlimited = SlowJob()

    def run() -> None:
        if job.begun.is_set():
            again.set()
        else:
            job()

    with caplog.at_level(logging.INFO, logger="manager"):
        clock.every(0.01, "tick", run, limit=Limit(300, LATE))
        clock.every(0.01, "scrub", unlimited)
        clock.start()
        try:
            assert job.begun.wait(LONG_S)
            wait_until(lambda: clock._passed_s)  # a time of it has passed
            now_s += 299
            assert clock.late_jobs() == []
            now_s += 2
            (late,) = clock.late_jobs()
            assert (late.name, late.effect) == ("tick", LATE)
            assert late.late_s == 301
            wait_until(lambda: "tick is 301 s late: lists come late" in caplog.text)
            job.go_on.set()
            assert again.wait(LONG_S)
            assert clock.late_jobs() == []
        finally:
            job.go_on.set()
            unlimited.go_on.set()
            clock.stop()
    told = [record.getMessage() for record in caplog.records if record.name == "manager.clock"]
    assert told == ["tick is 301 s late: lists come late", "tick is done, 301 s late"]


def test_jobs_that_wait_for_a_thread_are_late_too() -> None:
    """Who holds all threads puts off the others."""
    now_s = 0.0
    clock = Clock(counting_s=lambda: now_s)
    holders = [SlowJob() for _ in range(THREADS)]
    for number, holder in enumerate(holders):
        clock.every(3600, f"holder {number}", holder)
    clock.start()
    try:
        for holder in holders:
            assert holder.begun.wait(LONG_S)
        clock.every(0.01, "tick", lambda: None, limit=Limit(60, LATE))
        wait_until(lambda: clock._passed_s)
        now_s = 61.0
        assert [late.name for late in clock.late_jobs()] == ["tick"]
    finally:
        for holder in holders:
            holder.go_on.set()
        clock.stop()

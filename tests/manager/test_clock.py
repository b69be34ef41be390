"""When things happen. What happens is not the clock's business, nor these tests'."""

from __future__ import annotations

import logging
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from manager.clock import Clock, Every
from shared.errors import SettingError

LONG_S = 60


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

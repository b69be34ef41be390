"""Cuts are tried again with longer pauses; a server that names a time is obeyed."""

from __future__ import annotations

import random
import threading

import pytest

from client.errors import CutError, LaterError, StoppedError
from client.retry import Patience, RetryPolicy, retry_after_s

NOW_S = 1_790_000_000.0


@pytest.mark.parametrize(
    ("field", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("Mon, 21 Sep 2026 14:14:20 GMT", 60.0),
        ("Mon, 21 Sep 1998 14:14:20 GMT", 0.0),
        ("", None),
        ("-5", None),
        ("soon", None),
        ("9" * 40, None),
        ("Mon, 99 Sep 2026 14:14:20 GMT", None),
    ],
)
def test_retry_after(field: str, seconds: float | None) -> None:
    """Seconds or a date; anything else says nothing."""
    found = retry_after_s(field, NOW_S)
    assert found is None if seconds is None else found == pytest.approx(seconds, abs=1.0)


class Slept(threading.Event):
    """An event that is never set and notes how long it was waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        """Return at once."""
        self.pauses.append(timeout or 0.0)
        return False


def test_pauses_grow() -> None:
    """They double, with a random half, up to a minute; new bytes begin anew; tries end it."""
    slept = Slept()
    told: list[str] = []
    patience = Patience(tries=9, stopping=slept, tell=told.append, chance=random.Random(1))
    retrying = RetryPolicy(patience, "x")
    for _ in range(8):
        retrying.failed(CutError("cut"))
    for pause, most in zip(slept.pauses, (1, 2, 4, 8, 16, 32, 60, 60), strict=True):
        assert most / 2 <= pause <= most
    assert told[0].startswith("x: cut; again in ")
    retrying.progressed()
    for _ in range(8):
        retrying.failed(CutError("cut"))
    with pytest.raises(CutError):
        retrying.failed(CutError("cut"))


def test_a_time_that_the_server_names() -> None:
    """It is waited for by all downloads, up to the longest wait; then the run ends."""
    patience = Patience(longest_wait_s=100)
    retrying = RetryPolicy(patience, "x")
    retrying.failed(LaterError("busy", 0.01))
    with pytest.raises(LaterError):
        retrying.failed(LaterError("tomorrow", 101.0))
    patience.be_quiet(1000)
    patience.stopping.set()
    with pytest.raises(StoppedError):
        patience.wait_for_quiet()


def test_a_server_that_does_not_say_when() -> None:
    """It is asked again as often as after cuts."""
    retrying = RetryPolicy(Patience(tries=3, scale=0.0), "x")
    retrying.failed(LaterError("busy", None))
    retrying.failed(LaterError("busy", None))
    with pytest.raises(LaterError):
        retrying.failed(LaterError("busy", None))

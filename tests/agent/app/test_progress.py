"""A process that lives and does nothing is found out; one that waits for a slow disk is not."""

from __future__ import annotations

from agent.app.session.watchdog import ROUND_GAP_S, ProgressWatch
from shared.messages import Message

LIMIT_S = 300.0


def note(progress: ProgressWatch, now_s: float, done: int, *, busy: bool = True) -> Message | None:
    progress.begin_round(now_s)
    progress.note("requests", done=done, busy=busy, limit_s=LIMIT_S)
    return progress.stuck


def test_what_is_busy_and_does_nothing_is_stuck() -> None:
    """After its limit, and not before; one step forward is enough."""
    progress = ProgressWatch()
    assert not any(note(progress, float(second), 7) for second in range(300))
    assert note(progress, 300.0, 7) == Message("agent.stuck_requests", limit_s=LIMIT_S)
    assert note(progress, 301.0, 8) is None


def test_what_has_nothing_to_do_is_not_stuck() -> None:
    """An agent that sleeps all day makes no progress, and is healthy."""
    progress = ProgressWatch()
    assert not any(note(progress, float(second), 7, busy=False) for second in range(1000))
    assert not any(note(progress, float(second), 7) for second in range(1000, 1299))


def test_time_in_which_nobody_looked_does_not_count() -> None:
    """A machine that slept, or a disk that held everything up for hours, blames nobody."""
    progress = ProgressWatch()
    for number in range(100):
        assert note(progress, number * (LIMIT_S + ROUND_GAP_S), 7) is None


def test_each_part_is_named() -> None:
    """Who reads the log learns where it is stuck."""
    progress = ProgressWatch()
    for second in range(400):
        progress.begin_round(float(second))
        progress.note("crawl", done=second // 399, busy=True, limit_s=LIMIT_S)
        progress.note("calls", done=0, busy=True, limit_s=LIMIT_S)
    assert progress.stuck == Message("agent.stuck_calls", limit_s=LIMIT_S)

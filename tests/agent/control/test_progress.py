"""A process that lives and does nothing is found out; one that waits for a slow disk is not."""

from __future__ import annotations

from agent.control.progress_watch import LOOK_GAP_S, Progress
from shared.messages import Message

LIMIT_S = 300.0


def look(progress: Progress, now_s: float, done: int, *, busy: bool = True) -> Message | None:
    progress.begin(now_s)
    progress.look("requests", done=done, busy=busy, limit_s=LIMIT_S)
    return progress.stuck


def test_what_is_busy_and_does_nothing_is_stuck() -> None:
    """After its limit, and not before; one step forward is enough."""
    progress = Progress()
    assert not any(look(progress, float(second), 7) for second in range(300))
    assert look(progress, 300.0, 7) == Message("agent.stuck_requests", limit_s=LIMIT_S)
    assert look(progress, 301.0, 8) is None


def test_what_has_nothing_to_do_is_not_stuck() -> None:
    """An agent that sleeps all day gets on with nothing, and is well."""
    progress = Progress()
    assert not any(look(progress, float(second), 7, busy=False) for second in range(1000))
    assert not any(look(progress, float(second), 7) for second in range(1000, 1299))


def test_time_in_which_nobody_looked_does_not_count() -> None:
    """A machine that slept, or a disk that held everything up for hours, blames nobody."""
    progress = Progress()
    for number in range(100):
        assert look(progress, number * (LIMIT_S + LOOK_GAP_S), 7) is None


def test_each_part_is_named() -> None:
    """Who reads the log learns where it is stuck."""
    progress = Progress()
    for second in range(400):
        progress.begin(float(second))
        progress.look("crawl", done=second // 399, busy=True, limit_s=LIMIT_S)
        progress.look("calls", done=0, busy=True, limit_s=LIMIT_S)
    assert progress.stuck == Message("agent.stuck_calls", limit_s=LIMIT_S)

"""Contact of an agent outside its hours: how long it may stay silent, and its promise.

Pure. The promise is kept on the agent's own clock, also over a change of daylight saving, because
the end of the night is an instant and not an hour of the day.
Source: seed 004, 5.1.5 (M4 is asked for every hour, also in the day).
"""

from __future__ import annotations

from typing import Final

__all__ = ["HOURLY_S", "rest_outside_hours"]

HOURLY_S: Final = 3600.0  # M4's rhythm in the source: so often a sleeping agent calls too


def rest_outside_hours(
    *, is_open: bool, change_ms: int | None, now_ms: int, spread_s: float, unreported: int
) -> tuple[int | None, float]:
    """Return (by when this agent surely calls again, how long it rests); (None, 0): awake.

    change_ms: when the hours begin; None: never. spread_s: so much earlier it calls, as every
    site draws its own. unreported: reports that wait; with any it does not sleep yet.
    """
    if is_open or change_ms is None or unreported:
        return None, 0.0
    wake_ms = change_ms - round(spread_s * 1000)
    rest_s = (wake_ms - now_ms) / 1000
    return (wake_ms, min(rest_s, HOURLY_S)) if rest_s > 0 else (None, 0.0)

"""Pollers for tests: one caller, drawn numbers that repeat."""

from __future__ import annotations

import random

from agent.link.call_schedule import Backoff, CallSchedule
from agent.link.poller import Caller, Poller, ResumedLink
from shared.wire.sync import Capacity

__all__ = ["make_poller"]


def make_poller(
    name: str = "prs1.example.jp",
    *,
    backoff: Backoff | None = None,
    seed: int = 7,
    now_s: float = 0.0,
    resumed: ResumedLink | None = None,
    capacity: Capacity | None = None,
) -> Poller:
    """Return a poller that calls at once."""
    schedule = CallSchedule(backoff or Backoff(60.0, 3600.0), random.Random(seed), now_s)
    return Poller(Caller(name, "1", "b"), schedule, resumed or ResumedLink(), capacity)

"""When a URL gets another attempt: the one rule that `fetch` and `frontier` share.

An answer that gets another attempt is logged but not archived: it is not the page.
"""

from __future__ import annotations

from typing import Final

from agent.pipeline.messages import Outcome

__all__ = ["ANSWERED", "SLOW_DOWN", "UNTOUCHED", "gets_another_attempt"]

ANSWERED: Final = frozenset[Outcome]({"answered", "truncated"})
UNTOUCHED: Final = frozenset[Outcome]({"no_permit", "stopped"})
"""The URL was not fetched: it keeps its place, and the attempt does not count."""

SLOW_DOWN: Final = frozenset({429, 503})
"""Too Many Requests (RFC 6585, 4) and Service Unavailable (RFC 9110, 15.6.4)."""

_PASSING: Final = frozenset[Outcome]({"refused", "timeout", "disconnected"})


def gets_another_attempt(outcome: Outcome, status: int, attempt: int, retries: int) -> bool:
    """Tell whether a URL is tried again after its attempt with this number, counted from 1."""
    if attempt > retries:
        return False
    return outcome in _PASSING or (outcome in ANSWERED and status in SLOW_DOWN)

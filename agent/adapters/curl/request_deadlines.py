"""Deadlines of requests, and the reason where one has passed.

libcurl knows no limit on the first byte, and its limit on the whole also runs while a transfer
is paused by us: a slow rate of ours, or a full memory, would cut each large page, as if its
server were slow.

Invariant: a request continues beyond `deadline_s` only while requests may be begun. A permit ends
here by a deadline earlier than at the manager (`permit_margin_s`), so none outlives it there.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.adapters.curl.options import FetchOptions
from agent.adapters.curl.slot import Slot

__all__ = ["overdue"]


def overdue(
    slot: Slot, now_s: float, options: FetchOptions, may_fetch: Callable[[], bool]
) -> str | None:
    """Return why a request must end now, None: it may continue.

    may_fetch: the permit; asked only where our own pauses made a request outlast its deadline.
    """
    lasted_s = now_s - slot.started_s
    if lasted_s > options.first_byte_s and not slot.lines:
        return f"no answer within {options.first_byte_s:g} s"
    if lasted_s <= options.deadline_s:
        return None
    if slot.took_s(now_s) > options.deadline_s:
        return f"no end of the answer within {options.deadline_s:g} s"
    if not may_fetch():
        return f"no end within {options.deadline_s:g} s beside pauses, and no permit for longer"
    return None

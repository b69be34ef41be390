"""When a URL gets another attempt: the one rule that `fetch` and `frontier` share.

    no answer                         another attempt
    429, 503                          the same: the server asks for time
    500, 502, 504, 520 to 524         the same: what is behind the URL, or the host, is broken now
    any other answer                  is the page, also 501 and 505: they will be the same later

An answer that gets another attempt is logged but not archived: it is not the page. That of the
last attempt is.
"""

from __future__ import annotations

from typing import Final

from agent.pipeline.messages import Outcome

__all__ = [
    "ANSWERED",
    "DOWN",
    "FAULTS",
    "PAGE_FAULT",
    "TROUBLE",
    "UNTOUCHED",
    "gets_another_attempt",
]

ANSWERED: Final = frozenset[Outcome]({"answered", "truncated"})
UNTOUCHED: Final = frozenset[Outcome]({"no_permit", "stopped"})
"""The URL was not fetched: it keeps its place, and the attempt does not count."""

SLOW_DOWN: Final = frozenset({429, 503})
"""Too Many Requests (RFC 6585, 4) and Service Unavailable (RFC 9110, 15.6.4)."""

PAGE_FAULT: Final = 500
"""Internal Server Error (RFC 9110, 15.6.1): often of one page, or of one kind of pages."""

FAULTS: Final = frozenset({PAGE_FAULT, 502, 504, *range(520, 525)})
"""That, Bad Gateway and Gateway Timeout (15.6.3, 15.6.5), and what Cloudflare says where the
server behind it does not answer."""

TROUBLE: Final = SLOW_DOWN | FAULTS
"""Answers that are no page until the last attempt."""

DOWN: Final = TROUBLE - {429, PAGE_FAULT}
"""Those that say, where they come in a row, that a host is down: as much as no answer."""

_PASSING: Final = frozenset[Outcome]({"refused", "timeout", "disconnected"})


def gets_another_attempt(outcome: Outcome, status: int, attempt: int, retries: int) -> bool:
    """Tell whether a URL is tried again after its attempt with this number, counted from 1."""
    if attempt > retries:
        return False
    return outcome in _PASSING or (outcome in ANSWERED and status in TROUBLE)

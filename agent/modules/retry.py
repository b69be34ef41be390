"""Retry rule of URLs, shared by `fetch` and `frontier`.

    no answer             another attempt
    `retry`               another attempt, at the first one also where there are none: it says
                          nothing about the host; later ones count as no answer
    429, 503, 509, 529    the same: the server asks for time
    408, 425              the same: this request came too slowly, or too early
    any other 5xx         the same: what is behind the URL, or the host, is broken now
    any other answer      is the page, also 501 and 505: they will be the same later

An answer that gets another attempt is logged but not archived: it is not the page. That of the
last attempt is.
"""

from __future__ import annotations

from typing import Final

from agent.pipeline.messages.requests import Outcome

__all__ = [
    "ANSWERED",
    "DOWN",
    "FAULTS",
    "PAGE_FAULT",
    "SLOW_DOWN",
    "TROUBLE",
    "UNTOUCHED",
    "gets_another_attempt",
]

ANSWERED: Final = frozenset[Outcome]({"answered", "truncated"})
UNTOUCHED: Final = frozenset[Outcome]({"no_permit", "stopped"})
"""The URL was not fetched: it keeps its place, and the attempt does not count."""

SLOW_DOWN: Final = frozenset({429, 503, 509, 529})
"""Too Many Requests (RFC 6585, 4), Service Unavailable (RFC 9110, 15.6.4); Bandwidth Limit Exceeded
of Apache with cPanel, and Site is Overloaded of several services."""

PAGE_FAULT: Final = 500
"""Internal Server Error (RFC 9110, 15.6.1): often of one page, or of one kind of pages."""

_NEVER_PASSING: Final = frozenset({501, 505})
"""Not Implemented and HTTP Version Not Supported: a server that learns it is another one."""

_OF_ONE_REQUEST: Final = frozenset({408, 425, PAGE_FAULT, 506, 508, 510})
"""Request Timeout (RFC 9110, 15.5.9), Too Early (RFC 8470, 5.2), and faults in how one page was
configured."""

FAULTS: Final = (frozenset(range(500, 600)) | _OF_ONE_REQUEST) - SLOW_DOWN - _NEVER_PASSING
"""Those, and all that says that a part of the host is broken: Bad Gateway and Gateway Timeout
(15.6.3, 15.6.5), 520 to 530 of Cloudflare where the server behind it does not answer, 598 and 599
of proxies."""

TROUBLE: Final = SLOW_DOWN | FAULTS
"""Answers that are no page until the last attempt."""

DOWN: Final = TROUBLE - _OF_ONE_REQUEST - {429}
"""Those that say, where they come in a row, that a host is down: as much as no answer."""

_PASSING: Final = frozenset[Outcome]({"refused", "timeout", "disconnected", "retry"})


def gets_another_attempt(outcome: Outcome, status: int, attempt: int, retries: int) -> bool:
    """Return whether a URL is tried again after its attempt with this number, counted from 1."""
    if outcome == "retry" and attempt == 1:
        return True
    if attempt > retries:
        return False
    return outcome in _PASSING or (outcome in ANSWERED and status in TROUBLE)

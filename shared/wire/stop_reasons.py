"""Reasons for which an agent left a URL or a unit out, from their form on the wire to messages.

Sync, crawl logs and ledgers have a reason as an English text that never changes, such as `page
limit` or `unreachable: status 503, 4 requests in a row`. A newer agent may have others.
"""

from __future__ import annotations

import re
from typing import Final

from shared.messages import Message

__all__ = ["REASONS", "SHAPES", "stop_reason_message"]

REASONS: Final = {
    # units
    "complete": "agent.complete",
    "dropped": "agent.dropped",
    "finished before": "agent.finished_before",
    "nothing to fetch": "agent.nothing_to_fetch",
    "page limit": "agent.page_limit",
    "asks for time": "agent.asks_for_time",
    "not probed": "agent.not_probed",
    "unreachable": "agent.unreachable",
    "unreachable: its address must not be crawled": "agent.unreachable_forbidden",
    "unreachable: no page answered": "agent.unreachable_no_page",
    # URLs
    "blocked": "agent.blocked",
    "calendar without end": "agent.endless_calendar",
    "endless combinations of parameters": "agent.parameter_combinations",
    "escapes grow": "agent.escapes_grow",
    "host cannot be registered": "agent.unregistrable_host",
    "list: no URL to crawl": "agent.list_no_url",
    "list: start page of no unit of the list": "agent.list_no_unit",
    "outside of the crawl's scope": "agent.outside_scope",
    "path repeats itself": "agent.path_repeats",
    "port of another protocol": "agent.other_protocol_port",
    "query repeats itself": "agent.query_repeats",
    "queue holds as many pages as a host may have": "agent.queue_full",
    "robots.txt": "agent.denied_by_robots",
    "same content under many URLs": "agent.same_content",
    "same query in another order": "agent.same_query",
    "session number in the URL": "agent.session_in_url",
    "too deep": "agent.too_deep",
    "too many redirects": "agent.too_many_redirects",
    "URL too long": "agent.url_too_long",
    # outcomes of requests
    "disconnected": "agent.outcome_disconnected",
    "forbidden_address": "agent.outcome_forbidden_address",
    "malformed": "agent.outcome_malformed",
    "no_permit": "agent.outcome_no_permit",
    "refused": "agent.outcome_refused",
    "retry": "agent.outcome_retry",
    "stopped": "agent.outcome_stopped",
    "timeout": "agent.outcome_timeout",
    "tls": "agent.outcome_tls",
}
"""Codes by reason."""

_SECONDS: Final = r"[0-9]+(?:\.[0-9]+)?(?:e\+[0-9]+)?"
SHAPES: Final = (
    ("agent.not_probed_crawl_delay", rf"not probed: Crawl-delay of (?P<delay_s>{_SECONDS}) s"),
    (
        "agent.asks_for_time_crawl_delay",
        rf"asks for time: Crawl-delay of (?P<delay_s>{_SECONDS}) s",
    ),
    (
        "agent.asks_for_time_retry_after",
        (
            r"asks for time: (?P<why>.+), Retry-After (?P<least_s>[0-9]+) s, "
            r"(?P<rest_s>[0-9]+) s until the next request"
        ),
    ),
    (
        "agent.asks_for_time_until",
        r"asks for time: (?P<why>.+), (?P<rest_s>[0-9]+) s until the next request",
    ),
    (
        "agent.unreachable_robots_until",
        r"unreachable: robots\.txt: (?P<why>.+), and (?P<rest_s>[0-9]+) s until the next request",
    ),
    (
        "agent.unreachable_until",
        r"unreachable: (?P<why>.+), and (?P<rest_s>[0-9]+) s until the next request",
    ),
    (
        "agent.unreachable_repeatedly",
        r"unreachable: (?P<why>.+), (?P<requests>[0-9]+) requests? in a row",
    ),
    ("agent.unreachable_robots", r"unreachable: robots\.txt: (?P<why>.+)"),
    ("agent.unreachable_because", r"unreachable: (?P<why>.+)"),
)
"""Codes by shape, the more particular before the more general; `why` may be a reason itself."""

_STATUS: Final = re.compile(r"status ([0-9]{1,3})")
_SHAPES: Final = tuple((code, re.compile(shape, re.DOTALL)) for code, shape in SHAPES)
LONGEST: Final = 1000
"""Characters of a reason that are compared with the shapes."""


def stop_reason_message(text: str) -> Message:
    """Return a reason as a message; an unknown one unchanged."""
    known = _simple(text)
    if known is not None:
        return known
    for code, shape in _SHAPES if len(text) <= LONGEST else ():
        found = shape.fullmatch(text)
        if found is not None:
            return Message(
                code, **{name: _value(name, one) for name, one in found.groupdict().items()}
            )
    return Message.of_text(text)


def _simple(text: str) -> Message | None:
    """Return a reason that holds no other; None: it does."""
    if text in REASONS:
        return Message(REASONS[text])
    status = _STATUS.fullmatch(text)
    return Message("agent.status", status=int(status[1])) if status else None


def _value(name: str, text: str) -> int | float | str | Message:
    """Return a parameter: a reason within a reason, or a number."""
    if name == "why":
        return _simple(text) or text
    return int(text) if text.isdigit() else float(text)

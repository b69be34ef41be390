"""Rules for failed requests: which are sent again, and in what way."""

from __future__ import annotations

from agent.adapters.curl.blocks import read_answer
from agent.adapters.curl.fallback_requests import (
    REFUSED_BY_BROWSERS,
    Fallback,
    Fallbacks,
    fallback_for,
)
from agent.adapters.curl.slot import Slot

__all__ = ["note_retry"]


def note_retry(slot: Slot, code: int, message: str, fallbacks: Fallbacks, now_s: float) -> str:
    """Remember how a host is asked from now on, where that may help; return the error's words.

    The request that failed ends as a `retry` then: the frontier schedules its repetition.
    code, message: libcurl's (CURLE_*).
    """
    if slot.refusal not in (None, "retry"):
        return message
    received = read_answer(slot.lines)
    fallback = fallback_for(
        code,
        message,
        tried=slot.fallback,
        repeats=slot.refusal == "retry",
        is_direct=not slot.is_proxied,
        is_tls=slot.site.host.startswith("https:"),
        whole_header=received.whole and received.status > 0,
    )
    if slot.refusal == "retry":
        message = "the server ended the open connection, or refused the stream"
    if fallback is not Fallback.NONE:
        fallbacks.remember(slot.site.host, fallback, now_s)
        slot.refusal = "retry"
        return f"{message or _unnamed(fallback)}; asked again {fallback.value}"
    if slot.refusal == "retry":
        return f"{message}; asked again"
    return REFUSED_BY_BROWSERS.get(message, message)


def _unnamed(fallback: Fallback) -> str:
    """Return the error where libcurl gives no message."""
    return "no status" if fallback is Fallback.TOLERANT else "no answer over HTTP/2"

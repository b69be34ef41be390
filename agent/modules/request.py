"""What both modules that fetch make of an answer: the token's return, the log line, the target."""

from __future__ import annotations

from typing import Final

from agent.pipeline.messages import FetchEnded, Requested
from agent.pipeline.ports import FetchAnswer
from shared.errors import UrlError
from shared.urls import canonical
from shared.wire.orders import OrderKind

__all__ = ["REDIRECTS", "ended", "pinned", "redirect_target", "requested", "was_sent"]

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


def pinned(address: str) -> str:
    """Return the address to connect to; "" where it is a host key: a proxy finds it."""
    return "" if "/" in address else address


def was_sent(answer: FetchAnswer) -> bool:
    """Tell whether a request left this machine."""
    if answer.outcome in ("no_permit", "forbidden_address"):
        return False
    return answer.outcome != "stopped" or answer.request_bytes > 0


def redirect_target(answer: FetchAnswer) -> str | None:
    """Return where a redirect leads, canonical; None: it is none, or leads nowhere."""
    if answer.status not in REDIRECTS or answer.location is None:
        return None
    try:
        return canonical(answer.location, answer.request.url)
    except UrlError:
        return None


def ended(answer: FetchAnswer, host: str, address: str, job: int) -> FetchEnded:
    """Return what gives the token back."""
    return FetchEnded(
        host,
        address,
        answer.request.url,
        job,
        answer.outcome,
        answer.status,
        answer.response_bytes,
        answer.elapsed_ms,
        answer.ended_s,
        answer.retry_after_s,
        answer.kept_alive,
    )


def requested(
    answer: FetchAnswer, host: str, job: int, round_number: int, kind: OrderKind
) -> Requested:
    """Return the line of the crawl log."""
    header = b"" if answer.capture is None else answer.capture.response_header
    return Requested(
        host,
        answer.request.url,
        job,
        round_number,
        kind,
        answer.outcome,
        answer.status,
        answer.request_bytes,
        answer.response_bytes,
        answer.elapsed_ms,
        header,
        answer.started_epoch_ms,
    )

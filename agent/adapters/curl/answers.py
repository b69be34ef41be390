"""Answers for the crawl, from the data that a slot received and libcurl's code for its end.

The received data decide: an answer whose header is whole is kept, cut or not; without one the
request failed, in one of the ways that the frontier treats differently, or is sent again.
"""

from __future__ import annotations

from typing import Final

import pycurl

from agent.adapters.curl.blocks import (
    own_fields,
    read_answer,
    request_block,
    retry_after_s,
    stays_open,
)
from agent.adapters.curl.fallback_requests import (
    REFUSED_BY_BROWSERS,
    Fallback,
    Fallbacks,
    fallback_for,
)
from agent.adapters.curl.options import FetchOptions
from agent.adapters.curl.slot import Slot
from agent.pipeline.messages.requests import FetchAnswer, Outcome
from shared.archive.capture import Capture, Truncation

__all__ = ["MAX_DETAIL_CHARACTERS", "answer_of", "classify", "note_retry"]

MAX_DETAIL_CHARACTERS: Final = 200
# Codes of libcurl that pycurl has no name for, or an old one.
_WEIRD_SERVER_REPLY: Final = 8
_HTTP2_STREAM: Final = 92
_PROXY: Final = 97
_TOO_LARGE: Final = 100  # a header of 300 KB
_TLS: Final = frozenset(
    (
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_ENGINE_NOTFOUND,
        pycurl.E_SSL_ENGINE_SETFAILED,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_SHUTDOWN_FAILED,
        pycurl.E_SSL_CRL_BADFILE,
        pycurl.E_SSL_ISSUER_ERROR,
        pycurl.E_SSL_PINNEDPUBKEYNOTMATCH,
        pycurl.E_SSL_INVALIDCERTSTATUS,
    )
)
_UNREACHABLE: Final = frozenset(
    (
        pycurl.E_COULDNT_CONNECT,
        pycurl.E_COULDNT_RESOLVE_HOST,
        pycurl.E_COULDNT_RESOLVE_PROXY,
        pycurl.E_INTERFACE_FAILED,
        _PROXY,
    )
)
_NO_HTTP: Final = frozenset(
    (
        pycurl.E_UNSUPPORTED_PROTOCOL,  # an answer without a status line: HTTP/0.9
        pycurl.E_URL_MALFORMAT,
        pycurl.E_BAD_CONTENT_ENCODING,  # a transfer encoding that was not requested
        _WEIRD_SERVER_REPLY,
        _TOO_LARGE,
    )
)


def answer_of(
    slot: Slot, code: int, message: str, ended_s: float, options: FetchOptions
) -> FetchAnswer:
    """Return the answer to a slot's request, which has just ended.

    code, message: libcurl's (CURLE_*).
    """
    request, getinfo = slot.request, slot.handle.getinfo
    received = read_answer(slot.lines)
    header, status = received.header, received.status
    fits = len(header) <= options.most_header_bytes
    whole = received.whole and status > 0 and fits
    outcome, truncated = classify(code, whole_header=whole)
    if slot.refusal is not None:
        outcome, whole = slot.refusal, False
    elif not whole and (received.whole or not fits):
        outcome = "malformed"
        message = "no status" if fits else f"header larger than {options.most_header_bytes} bytes"
    elapsed_ms = getinfo(pycurl.TOTAL_TIME_T) / 1000 - 1000 * slot.waited_s(ended_s)
    if code == pycurl.E_OPERATION_TIMEDOUT:  # libcurl's count stands still while nothing happens
        elapsed_ms = max(elapsed_ms, 1000 * slot.took_s(ended_s))
    capture, later_s = None, None
    if whole:
        capture = _capture(slot, header, truncated, options)
        later_s = retry_after_s(header, status, slot.started_epoch_ms)
    return FetchAnswer(
        request,
        outcome,
        capture,
        status if whole else 0,
        getinfo(pycurl.REQUEST_SIZE),
        getinfo(pycurl.HEADER_SIZE) + getinfo(pycurl.SIZE_DOWNLOAD_T),
        max(0.0, elapsed_ms),
        slot.started_epoch_ms,
        ended_s,
        outcome == "answered" and not slot.fallback.fields and stays_open(header),
        received.location if whole else None,
        later_s,
        message[:MAX_DETAIL_CHARACTERS],
        max(getinfo(pycurl.CONNECT_TIME_T), getinfo(pycurl.APPCONNECT_TIME_T)) / 1000,
        getinfo(pycurl.STARTTRANSFER_TIME_T) / 1000,
    )


def _capture(
    slot: Slot, header: bytes, truncated: Truncation | None, options: FetchOptions
) -> Capture:
    request, body = slot.request, slot.body
    sent = request_block(
        request.url,
        slot.site,
        version=b"2" if header.startswith(b"HTTP/2") else b"1.1",
        by_proxy=bool(options.proxy),
        more=own_fields(request, slot.fallback),
    )
    return Capture(
        request.url,
        slot.started_epoch_ms,
        sent,
        header,
        b"".join(body),
        request.address or None,
        truncated,
    )


def classify(code: int, *, whole_header: bool) -> tuple[Outcome, Truncation | None]:
    """Return the outcome of a request, and why its body is cut where it is.

    code: CURLE_*, 0 for success. whole_header: of a final answer.
    """
    if whole_header:
        if code == pycurl.E_OK:
            return "answered", None
        return "truncated", _cut(code)
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return "timeout", None
    if code in _TLS:
        return "tls", None
    if code in _UNREACHABLE:
        return "refused", None
    if code in _NO_HTTP:
        return "malformed", None
    return "disconnected", None


def _cut(code: int) -> Truncation:
    if code == pycurl.E_WRITE_ERROR:  # our own: the body grew beyond its limit
        return "length"
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return "time"
    if code in (pycurl.E_PARTIAL_FILE, pycurl.E_RECV_ERROR, _HTTP2_STREAM):
        return "disconnect"
    return "unspecified"


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

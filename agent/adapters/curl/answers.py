"""Answers for the crawl, built from the data that a slot received."""

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
from agent.adapters.curl.options import FetchOptions
from agent.adapters.curl.outcomes import classify
from agent.adapters.curl.slot import Slot
from agent.pipeline.messages.requests import FetchAnswer
from shared.archive.capture import Capture, Truncation

__all__ = ["MAX_DETAIL_CHARACTERS", "answer_of"]

MAX_DETAIL_CHARACTERS: Final = 200


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

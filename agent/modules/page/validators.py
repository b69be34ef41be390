"""Validators for later conditional requests, and the test whether a body is unchanged.

A request is conditional only for bodies without links: a page that has not changed still leads to
others, and the crawl of a round finds them in its body alone.
Source: RFC 9110, 8.8 (validators) and 13.1.
"""

from __future__ import annotations

import re
from dataclasses import replace

from agent.modules.page.body_kinds import is_data, may_be_document, may_hold_links
from agent.modules.page.header_fields import field_values
from agent.pipeline.messages.pages import ETAG, MODIFIED
from shared.archive.capture import Capture
from shared.archive.encode import payload_digest

__all__ = ["settled", "validators_of"]


def settled(capture: Capture) -> Capture:
    """Return a capture with its question answered: a revisit without body, or none at all."""
    if capture.revisit is None or not capture.body:
        return capture
    if payload_digest(capture.body) == capture.payload_digest:
        return replace(capture, body=b"")
    return replace(capture, revisit=None, payload_digest=None)


def validators_of(capture: Capture, *, leads_on: bool = True) -> tuple[str, str] | None:
    """Return (ETag, Last-Modified) of a whole capture, "" for what may not be asked by.

    None: a later capture must not refer to this one, which is an error, cut, or a revisit itself.
    leads_on: whether links were found in it, or might have been; a style sheet, script or PDF
    without any is asked for by its validators, because nothing is lost with its body.
    """
    if capture.status != 200 or capture.truncated or capture.revisit or not capture.body:
        return None
    header, media_type = capture.response_header, capture.media_type
    if (
        (leads_on or not may_be_document(media_type))
        and may_hold_links(media_type)
        and (not is_data(media_type, capture.body) or field_values(header, "Content-Encoding"))
    ):
        return "", ""
    return _one(header, "ETag", ETAG), _one(header, "Last-Modified", MODIFIED)


def _one(header: bytes, name: str, form: re.Pattern[str]) -> str:
    """Return a field that stands once and has its form: it is sent back unchanged."""
    values = field_values(header, name)
    return values[0] if len(values) == 1 and form.fullmatch(values[0]) else ""

"""Selections as WARC: what becomes of a revisit whose original is not among them."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import cast

import pytest

from manager.store.captures.capture_selection import Picked, Row
from manager.store.captures.page_reader import PageReader
from manager.store.captures.page_zip import warc_records
from shared.archive.capture import Capture
from shared.archive.reader import read_capture
from tests.shared.archive.captures import revisit_of, sample

FIRST = replace(
    sample(body=b""),
    response_header=b"HTTP/1.1 301 Moved\r\nLocation: /old\r\nContent-Length: 0\r\n\r\n",
)


@dataclass
class KeptCaptures:
    """Captures as a reader gives them, by segment."""

    captures: dict[str, Capture]

    def capture(self, segment: str, offset: int) -> Capture:
        """Return the capture at an offset."""
        return self.captures[segment]


def expanded(original: Capture, revisit: Capture) -> Capture:
    """Return what a selection has of a revisit alone."""
    row = Row(
        url=revisit.url,
        fetched_ms=revisit.fetched_at_ms,
        modified_ms=0,
        body_bytes=0,
        mime="text/html",
        segment="revisit",
        offset=0,
        length=1,
        body_segment="original",
        body_offset=0,
        body_length=1,
        is_revisit=True,
        inside=False,
    )
    reader = cast(PageReader, KeptCaptures({"original": original, "revisit": revisit}))
    (data,) = warc_records(cast(Picked, [row]), reader)
    return read_capture(io.BytesIO(data), 0)


@pytest.mark.parametrize(
    "header",
    [
        b"HTTP/1.1 301 Moved\r\nLocation: /new\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: https://a.example/\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_a_revisit_keeps_its_own_header_where_it_becomes_whole(header: bytes) -> None:
    """pywb#751: two redirects with the same empty body lead to different places."""
    capture = expanded(FIRST, replace(revisit_of(FIRST), response_header=header))
    assert capture.response_header == header
    assert capture.revisit is None


def test_what_was_not_modified_has_the_header_of_its_original() -> None:
    """A 304 has no body; who asked for the page wants the page."""
    original = sample(body=b"hello")
    revisit = replace(
        revisit_of(original, "server-not-modified"),
        response_header=b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n",
    )
    capture = expanded(original, revisit)
    assert (capture.status, capture.body) == (200, b"hello")
    assert capture.fetched_at_ms == revisit.fetched_at_ms

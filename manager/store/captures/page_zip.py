"""Selections as bytes: the source's zip of zips, or WARC.

    html/sumh/suml/host:port.zip
        transferredurl.list      a path per line
        transferredurldate.list  24 bytes per line
        data/N, data/N.hdr       decoded body and received header of line N
        extserver.list           target TAB source

Invariant: nothing of a page or a host becomes a path but numbers and a checked name; memory holds
one capture. The source leaves open where pages lie, and so the order of entries; ours begins with
what tells the most.
Source: seed 004, section 5.4.1; WARC/1.1 for the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from manager.store.captures.capture_selection import Picked, Row
from manager.store.captures.outlinks import outlinks
from manager.store.captures.page_reader import PageReader
from manager.store.captures.zip_stream import ZipStream
from manager.store.segments.robots_words import HTML_TYPES
from shared.archive.capture import Capture
from shared.archive.classic import (
    DATA_FOLDER,
    DATE_LIST,
    LINK_LIST,
    URL_LIST,
    TransferDate,
    date_entry,
    link_lines,
    path_line,
    url_path,
)
from shared.archive.content_coding import decoded_body
from shared.archive.encode import encode_capture

__all__ = ["GATHERED_BYTES", "gathered", "host_zip", "warc_records"]

GATHERED_BYTES: Final = 64 * 1024
LINK_BYTES: Final = 16 * 1024**2


def host_zip(picked: Picked, reader: PageReader) -> Iterator[bytes]:
    """Give the zip of one host."""
    with ZipStream() as made:
        yield from made.streamed(URL_LIST, (path_line(url_path(row.url)) for row in picked))
        yield from made.streamed(DATE_LIST, (date_entry(_date(row)) for row in picked))
        links = _Links()
        for number, row in enumerate(picked, 1):
            header, body = _page(row, reader)
            name = f"{DATA_FOLDER}/{number}"
            yield from made.whole(name, body, row.fetched_ms)
            yield from made.whole(f"{name}.hdr", header, row.fetched_ms)
            links.add(row, body)
        yield from made.streamed(LINK_LIST, links.lines(picked, reader))
        yield from made.finish()


def _date(row: Row) -> TransferDate:
    return TransferDate(row.fetched_ms, row.modified_ms, row.body_bytes)


def _page(row: Row, reader: PageReader) -> tuple[bytes, bytes]:
    """Return the header of a capture, and its body or that of the capture it refers to."""
    original = reader.capture(row.body_segment, row.body_offset)
    body = decoded_body(original.response_header, original.body)
    if not row.is_revisit:
        return original.response_header, body
    return reader.capture(row.segment, row.offset).response_header, body


class _Links:
    """The links of a host's pages: kept as they are read, or where they are many read again."""

    def __init__(self) -> None:
        self._kept: list[bytes] | None = []
        self._size = 0

    def add(self, row: Row, body: bytes) -> None:
        """Take the links of one page."""
        if self._kept is None:
            return
        lines = _links(row, body)
        self._kept.append(lines)
        self._size += len(lines)
        if self._size > LINK_BYTES:
            self._kept = None

    def lines(self, picked: Picked, reader: PageReader) -> Iterator[bytes]:
        """Give the links of all pages."""
        if self._kept is not None:
            yield from self._kept
            return
        for row in picked:
            if row.mime in HTML_TYPES:
                yield _links(row, _page(row, reader)[1])


def _links(row: Row, body: bytes) -> bytes:
    targets = outlinks(row.url, body) if row.mime in HTML_TYPES else []
    return link_lines(targets, row.url) if targets else b""


def warc_records(picked: Picked, reader: PageReader) -> Iterator[bytes]:
    """Yield the records of picked captures; a revisit without its picked original becomes whole."""
    for row in picked:
        if row.inside:
            yield reader.records(row.segment, row.offset, row.length)
        else:
            yield encode_capture(_expanded(row, reader)).data


def _expanded(row: Row, reader: PageReader) -> Capture:
    """Return a revisit as the capture that it stands for.

    An unmodified page has the status line and header of the original: a 304 has no body.
    """
    revisit = reader.capture(row.segment, row.offset)
    original = reader.capture(row.body_segment, row.body_offset)
    header = revisit.response_header if revisit.status != 304 else original.response_header
    return replace(
        revisit,
        response_header=header,
        body=original.body,
        truncated=original.truncated,
        payload_digest=None,
        revisit=None,
        extra={**revisit.extra, "X-Crawl-Expanded": "the body is that of the capture referred to"},
    )


def gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Give the same bytes in pieces of one size: each costs a turn of the server, and who takes it
    slowly has the time of one piece."""
    kept = bytearray()
    for piece in pieces:
        view = memoryview(piece)
        while len(kept) + len(view) >= GATHERED_BYTES:
            taken = GATHERED_BYTES - len(kept)
            kept += view[:taken]
            view = view[taken:]
            yield bytes(kept)
            kept.clear()
        kept += view
    if kept:
        yield bytes(kept)

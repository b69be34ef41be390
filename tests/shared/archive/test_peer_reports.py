"""Reports of other crawlers' users, tried on our records and on files like theirs.

Rows of docs/peer-reports.md.
"""

from __future__ import annotations

import gzip
import io
from dataclasses import replace

import pytest

from shared.archive.capture import IDENTICAL_PAYLOAD, NOT_MODIFIED, Capture, Revisit
from shared.archive.cdxj import IndexEntry
from shared.archive.encode import encode_capture, encode_warcinfo
from shared.archive.errors import DamageError
from shared.archive.reader import iter_captures, read_capture
from shared.archive.surt_key import surt_key
from shared.urls import reversed_host_key
from tests.shared.archive.captures import INFO, NOON_MS, sample
from tests.shared.archive.foreign import foreign_records

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def record(block: bytes, uri: str = "http://a.example/x", end: bytes = b"\r\n\r\n") -> bytes:
    """Return a response record of another crawler."""
    header = (
        "WARC/1.0\r\nWARC-Type: response\r\n"
        "WARC-Record-ID: <urn:uuid:5ecb4f9d-8b00-4365-9e82-c2540fc19458>\r\n"
        f"WARC-Target-URI: {uri}\r\nWARC-Date: 2023-03-25T16:39:45Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return header.encode() + block + end


def capture_with(**changes: object) -> Capture:
    """Return a plain capture with changes."""
    return replace(sample(), **changes)  # type: ignore[arg-type]  # the caller's keywords are its


def only(data: bytes) -> Capture:
    """Return the one capture of a file."""
    (stored,) = iter_captures(io.BytesIO(data))
    return stored.capture


@pytest.mark.parametrize(
    ("block", "body"),
    [
        pytest.param(
            CHUNKED + b'{"url": "https://a.example/1"}\n',
            b'{"url": "https://a.example/1"}\n',
            id="pywb#584",
        ),
        pytest.param(CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", b"hello", id="warcio#74"),
        pytest.param(
            CHUNKED + b"0000000A\r\n0123456789\r\n0\r\n\r\n", b"0123456789", id="heritrix3#432"
        ),
        pytest.param(CHUNKED, b"", id="pywb#2"),
    ],
)
def test_a_body_is_read_with_and_without_its_chunks(block: bytes, body: bytes) -> None:
    """Some writers keep the field and take the chunks off."""
    assert only(record(block)).body == body


def test_a_target_between_angle_brackets_is_the_target() -> None:
    """warcio#152: wget writes it so."""
    url = "https://www.a.example/forums/thread/4687526"
    assert only(record(HEAD + b"hi", uri=f"<{url}>")).url == url


def test_a_status_without_words_is_read() -> None:
    """pywb#533: `302` with a space behind it, and nothing else."""
    capture = only(record(b"HTTP/1.1 302 \r\nLocation: /x\r\n\r\n"))
    assert (capture.status, capture.body) == (302, b"")


def test_a_missing_end_of_a_record_is_damage_with_its_place() -> None:
    """warcio#131: it is named, and no body is guessed."""
    data = record(HEAD + b"one", end=b"") + record(HEAD + b"two")
    with pytest.raises(DamageError, match="offset 0: record does not end with two line ends"):
        list(iter_captures(io.BytesIO(data)))


@pytest.mark.parametrize(
    "chunks", [b"5\r\nhello\r\n0\r\n\r\n", b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"]
)
def test_the_digest_of_what_was_chunked_is_that_of_its_body(chunks: bytes) -> None:
    """heritrix3#770: written anew, a file of another crawler has the digest that others compute."""
    capture = replace(only(record(CHUNKED + chunks)), request=b"", payload_digest=None)
    encoded = encode_capture(capture)
    assert encoded.payload_digest == encode_capture(sample(body=b"hello")).payload_digest
    assert [one.payload_ok for one in foreign_records(encoded.data)] == [True]


def test_http2_is_stored_as_readers_of_http1_expect_it() -> None:
    """stormcrawler#1010, browsertrix-crawler#546: no pseudo fields, and the line is kept."""
    header = b"HTTP/2 200 \r\ncontent-type: text/html\r\n\r\n"
    encoded = encode_capture(capture_with(response_header=header, body=b"hi"))
    stored = gzip.decompress(encoded.data)
    assert b"\r\n\r\nHTTP/1.1 200 \r\nX-Crawl-Status-Line: HTTP/2 200 \r\n" in stored
    assert b"\n:" not in stored
    assert read_capture(io.BytesIO(encoded.data), 0).response_header == header


def test_every_answer_says_who_gave_it_and_how_it_ended() -> None:
    """stormcrawler#1014: address and truncation, whatever else is set."""
    capture = capture_with(ip="2001:db8::1", truncated="length", extra={"X-Crawl-Note": "noindex"})
    *_, answer = foreign_records(encode_capture(capture).data)
    assert answer.fields["WARC-IP-Address"] == "2001:db8::1"
    assert answer.fields["WARC-Truncated"] == "length"


def test_a_segment_begins_with_its_warcinfo() -> None:
    """browsertrix-crawler#452: who made it, in every file."""
    data = encode_warcinfo(INFO, "x.warc.gz", NOON_MS)
    (info,) = foreign_records(data)
    assert (info.kind, info.offset) == ("warcinfo", 0)


@pytest.mark.parametrize("profile", [IDENTICAL_PAYLOAD, NOT_MODIFIED])
def test_a_revisit_names_its_original(profile: str) -> None:
    """heritrix3#118, pywb#802, warcio#96: by digest, URL and date, with the profile of WARC/1.1."""
    original = encode_capture(sample(body=b"hello"))
    status = b"304 Not Modified" if profile == NOT_MODIFIED else b"200 OK"
    revisit = capture_with(
        response_header=b"HTTP/1.1 " + status + b"\r\nETag: x\r\n\r\n",
        body=b"",
        payload_digest=original.payload_digest,
        revisit=Revisit(profile, "http://a.example/first", NOON_MS),  # type: ignore[arg-type]
    )
    *_, answer = foreign_records(encode_capture(revisit).data)
    assert answer.kind == "revisit"
    assert answer.fields["WARC-Payload-Digest"] == original.payload_digest
    assert answer.fields["WARC-Profile"] == f"http://netpreserve.org/warc/1.1/revisit/{profile}"
    assert answer.fields["WARC-Refers-To-Target-URI"] == "http://a.example/first"
    assert answer.fields["WARC-Refers-To-Date"].startswith("2026-01-01T12:00:00")


def test_our_own_index_keeps_apart_what_replay_tools_fold() -> None:
    """pywb#18: a redirect from one to the other would else be a redirect to itself."""
    one, other = "http://metafilter.example/", "http://www.metafilter.example/"
    assert surt_key(one) == surt_key(other)
    assert reversed_host_key(one) != reversed_host_key(other)


@pytest.mark.parametrize(
    ("url", "status"),
    [
        pytest.param("http://a.example/gone.pdf", 404, id="browsertrix-crawler#789"),
        pytest.param("http://a.example/?gclid=1", 307, id="browsertrix-crawler#628"),
    ],
)
def test_an_answer_without_a_body_is_a_record_with_an_index_line(url: str, status: int) -> None:
    """Errors and redirects are as much an answer as pages are."""
    header = f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode()
    encoded = encode_capture(capture_with(url=url, response_header=header, body=b""))
    entry = encoded.entry
    assert isinstance(entry, IndexEntry)
    assert (entry.url, entry.status) == (url, status)
    assert [one.payload_ok for one in foreign_records(encoded.data)][-1] is True

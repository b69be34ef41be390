"""Captures to records: what is written, what foreign readers say, what is refused."""

from __future__ import annotations

import io
import pickle
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings

from shared.archive.capture import Capture, Revisit, Truncation
from shared.archive.encode import SegmentInfo, encode_capture, encode_warcinfo, payload_digest
from shared.archive.limits import MAX_BODY_BYTES, MAX_HTTP_HEADER_BYTES
from shared.archive.reader import iter_captures, read_capture
from shared.errors import FormatError, LimitError, UrlError
from tests.shared.archive.captures import (
    CHUNKED,
    INFO,
    NOON_MS,
    REQUEST,
    as_read,
    captures,
    revisit_of,
    sample,
)
from tests.shared.archive.foreign import foreign_records


@given(captures)
def test_every_capture_comes_back_equal(capture: Capture) -> None:
    """Writing and reading gives the same capture, whatever header the server sent."""
    encoded = encode_capture(capture)
    file = io.BytesIO(encoded.data)
    expected = as_read(capture, encoded.payload_digest)
    assert read_capture(file, 0) == expected
    assert read_capture(file, encoded.entry.offset) == replace(expected, request=b"")
    (stored,) = iter_captures(file)
    assert stored.capture == expected
    assert (stored.offset, stored.length) == (0, len(encoded.data))
    assert stored.response_offset == encoded.entry.offset


@given(captures)
def test_foreign_readers_find_every_digest_right(capture: Capture) -> None:
    """warcio and fastwarc read the same records, blocks and bodies as were written."""
    encoded = encode_capture(capture)
    records = foreign_records(encoded.data)
    assert all(record.block_ok for record in records)
    answer = records[-1]
    assert answer.offset == encoded.entry.offset
    assert answer.payload == capture.body
    assert answer.payload_ok or capture.revisit is not None


@settings(max_examples=25)
@given(captures)
def test_the_same_capture_gives_the_same_bytes(capture: Capture) -> None:
    """A batch that is sent again after the loss of a worker is not a different one."""
    assert encode_capture(capture) == encode_capture(replace(capture))


@settings(max_examples=25)
@given(captures)
def test_both_sides_travel_between_processes(capture: Capture) -> None:
    """Captures and encoded captures can be pickled."""
    assert pickle.loads(pickle.dumps(capture)) == capture
    encoded = encode_capture(capture)
    assert pickle.loads(pickle.dumps(encoded)) == encoded


def test_request_and_response_share_a_date_and_point_at_each_other() -> None:
    """The two records of a capture can be found from each other."""
    request, response = foreign_records(encode_capture(sample()).data)
    assert (request.kind, response.kind) == ("request", "response")
    assert request.fields["WARC-Concurrent-To"] == response.fields["WARC-Record-ID"]
    assert response.fields["WARC-Concurrent-To"] == request.fields["WARC-Record-ID"]
    for record in (request, response):
        assert record.fields["WARC-Date"] == "2026-01-01T12:00:00.123Z"
        assert record.fields["WARC-Target-URI"] == "http://www.example.jp/page/0"
        assert record.fields["WARC-IP-Address"] == "192.0.2.1"
    assert response.fields["WARC-Payload-Digest"] == payload_digest(b"<html>hello</html>")


def test_two_captures_of_one_moment_have_different_ids() -> None:
    """Record ids are unique: another request, address or body makes another id."""
    plain = sample()
    others = [
        plain,
        replace(plain, ip="192.0.2.2"),
        replace(plain, body=b"other"),
        replace(plain, request=REQUEST.replace(b"0.1", b"0.2")),
        replace(plain, request=b""),
        replace(plain, extra={"X-Robots": "noindex"}),
    ]
    ids = [
        record.fields["WARC-Record-ID"]
        for capture in others
        for record in foreign_records(encode_capture(capture).data)
    ]
    assert len(set(ids)) == len(ids)


def test_chunked_trap() -> None:
    """A body that came in chunks is stored without them, and every digest is right."""
    encoded = encode_capture(sample(header=CHUNKED))
    response = foreign_records(encoded.data)[-1]
    assert response.block_ok
    assert response.payload_ok
    assert response.payload == b"<html>hello</html>"
    assert read_capture(io.BytesIO(encoded.data), 0).response_header == CHUNKED


def test_a_truncated_capture_says_why() -> None:
    """WARC-Truncated has the reason, and the length is that of what is stored."""
    header = b"HTTP/1.1 200 OK\r\nContent-Length: 90000000\r\n\r\n"
    capture = replace(sample(header=header), truncated="length")
    response = foreign_records(encode_capture(capture).data)[-1]
    assert response.fields["WARC-Truncated"] == "length"
    assert read_capture(io.BytesIO(encode_capture(capture).data), 0).truncated == "length"


def test_an_identical_payload_is_a_revisit() -> None:
    """The header is kept, the body is cut off, the original is named by URI and date."""
    encoded = encode_capture(revisit_of(sample()))
    revisit = foreign_records(encoded.data)[-1]
    assert revisit.kind == "revisit"
    assert revisit.payload == b""
    fields = revisit.fields
    assert fields["WARC-Profile"] == (
        "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    )
    assert fields["WARC-Refers-To-Target-URI"] == "http://www.example.jp/page/0"
    assert fields["WARC-Refers-To-Date"] == "2026-01-01T12:00:00.123Z"
    assert fields["WARC-Truncated"] == "length"
    assert fields["WARC-Payload-Digest"] == payload_digest(b"<html>hello</html>")
    assert (encoded.entry.mime, encoded.entry.status) == ("warc/revisit", 200)


def test_not_modified_is_a_revisit() -> None:
    """A 304 is kept with its header and the date of what it left unchanged."""
    header = b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"
    capture = replace(
        revisit_of(sample(), "server-not-modified"), response_header=header, payload_digest=None
    )
    revisit = foreign_records(encode_capture(capture).data)[-1]
    assert revisit.fields["WARC-Profile"].endswith("/server-not-modified")
    assert "WARC-Truncated" not in revisit.fields
    assert "WARC-Payload-Digest" not in revisit.fields


def test_an_ipv6_address_is_written_in_canonical_form() -> None:
    """WARC-IP-Address follows RFC 5952."""
    capture = replace(sample(), ip="2001:DB8:0:0:0:0:0:1")
    assert foreign_records(encode_capture(capture).data)[0].fields["WARC-IP-Address"] == (
        "2001:db8::1"
    )


def test_warcinfo_names_file_robot_operator_and_format() -> None:
    """The first record says who crawled, with what, and where to complain."""
    info = SegmentInfo(
        "prsm/0.1", "Op <op@example.org>", "http://robot.example.org/", "prs/0.1", "host1"
    )
    (record,) = foreign_records(encode_warcinfo(info, "X.warc.gz", NOON_MS))
    assert record.kind == "warcinfo"
    assert record.fields["WARC-Filename"] == "X.warc.gz"
    text = record.payload.decode()
    for line in (
        "software: prsm/0.1\r\n",
        "format: WARC File Format 1.1\r\n",
        "operator: Op <op@example.org>\r\n",
        "contact: http://robot.example.org/\r\n",
        "http-header-user-agent: prs/0.1\r\n",
        "hostname: host1\r\n",
        "robots: RFC 9309\r\n",
    ):
        assert line in text


def test_warcinfo_refuses_a_second_line() -> None:
    """A setting cannot forge a field."""
    with pytest.raises(FormatError, match="field operator"):
        encode_warcinfo(replace(INFO, operator="a\r\nsoftware: b"), "X.warc.gz", NOON_MS)


REVISIT = revisit_of(sample())
IDENTICAL = Revisit("identical-payload-digest", "http://a.example/", NOON_MS)


@pytest.mark.parametrize(
    ("capture", "problem"),
    [
        (replace(sample(), url="http://a.example/\r\nX: y"), "not canonical"),
        (replace(sample(), url="http://a.example/é"), "not canonical"),
        (replace(sample(), url="http://a.example/ b"), "not canonical"),
        (replace(sample(), url=""), "not canonical"),
        (replace(sample(), fetched_at_ms=-1), "between the years"),
        (replace(sample(), fetched_at_ms=253_402_300_800_000), "between the years"),
        (replace(sample(), ip="www.example.jp"), "no IPv4 or IPv6"),
        (replace(sample(), ip="fe80::1%eth0"), "no zone"),
        (replace(sample(), ip="1.2.3.4\r\nX: y"), "no IPv4 or IPv6"),
        (replace(sample(), request=b"GET / HTTP/1.1\r\n"), "request header: must end"),
        (replace(sample(), request=REQUEST + REQUEST), "request header: must end"),
        (replace(sample(), response_header=b""), "response header: must end"),
        (replace(sample(), response_header=b"HTTP/1.1 200 OK\r\n"), "response header: must end"),
        (
            replace(sample(), response_header=b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
            "have no other",
        ),
        (replace(sample(), truncated=cast("Truncation", "tired")), "truncated = 'tired'"),
        (replace(sample(), payload_digest="sha256:00"), "the body has sha256:"),
        (replace(sample(), extra={"warc-date": "x"}), "the writer sets itself"),
        (replace(sample(), extra={"a b": "x"}), "not a name of a field"),
        (replace(sample(), extra={"A": "x", "a": "y"}), "differ in case"),
        (replace(sample(), extra={"A": "x\r\nB: y"}), "one line"),
        (replace(sample(), extra={"A": ""}), "one line"),
        (replace(sample(), extra={"A": "\ud800"}), "one line"),
        (replace(REVISIT, body=b"x"), "revisit with a body"),
        (replace(REVISIT, truncated="length"), "revisit of a truncated body"),
        (replace(REVISIT, payload_digest=None), "needs the payload's digest"),
        (replace(REVISIT, payload_digest="x\r\ny"), "algorithm:value"),
        (
            replace(REVISIT, revisit=replace(IDENTICAL, refers_to_uri="http://a/\n")),
            "refers to",
        ),
        (replace(REVISIT, revisit=replace(IDENTICAL, refers_to_date_ms=-5)), "between the years"),
    ],
)
def test_what_no_segment_can_hold_is_refused(capture: Capture, problem: str) -> None:
    """A capture that would forge a field or could not be read back is refused with its reason."""
    with pytest.raises(FormatError, match=problem):
        encode_capture(capture)


@pytest.mark.parametrize(
    ("capture", "problem"),
    [
        (replace(sample(), body=bytes(MAX_BODY_BYTES + 1)), "truncated to 'length'"),
        (
            sample(header=b"HTTP/1.1 200 OK\r\nA: " + b"x" * MAX_HTTP_HEADER_BYTES + b"\r\n\r\n"),
            "response header of",
        ),
        (replace(sample(), url="http://a.example/" + "x" * 8192), "URL of 8209 characters"),
        (replace(sample(), extra={"A": "x" * 20_000}), "extra fields"),
        (
            replace(
                REVISIT, revisit=replace(IDENTICAL, refers_to_uri="http://a.example/" + "x" * 8192)
            ),
            "refers to a URL",
        ),
    ],
)
def test_what_is_too_large_is_refused(capture: Capture, problem: str) -> None:
    """Every part of a capture has a limit, and the message names it."""
    with pytest.raises(LimitError, match=problem):
        encode_capture(capture)


def test_a_url_without_host_is_refused() -> None:
    """The index could not sort it."""
    with pytest.raises(UrlError):
        encode_capture(replace(sample(), url="mailto:someone"))


def test_a_header_at_the_limit_is_stored_even_when_every_byte_is_hostile() -> None:
    """The largest and most hostile header still comes back."""
    noise = bytes([0x0B]) * (MAX_HTTP_HEADER_BYTES - 100)
    capture = sample(header=b"HTTP/1.1 200 OK\nA: " + noise + b"\n\n")
    assert read_capture(io.BytesIO(encode_capture(capture).data), 0).response_header == (
        capture.response_header
    )

"""Reading captures: our segments, and files that other crawlers wrote."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from dataclasses import replace

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from shared.archive.capture import Revisit
from shared.archive.encode import encode_capture, encode_warcinfo
from shared.archive.errors import DamageError
from shared.archive.gzip_member import Members, compress_member
from shared.archive.reader import StoredCapture, iter_captures, read_capture
from shared.errors import LimitError
from tests.shared.archive.captures import INFO, NOON_MS, REQUEST, as_read, revisit_of, sample

CHUNKED_BODY = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"


def warcio_file(*, compressed: bool = True, version: str = "1.1") -> bytes:
    """Return a file as warcio makes it: response before request, the body in chunks."""
    file = io.BytesIO()
    writer = WARCWriter(file, gzip=compressed, warc_version=version)
    writer.write_record(writer.create_warcinfo_record("x.warc.gz", {"software": "other"}))
    for number in range(3):
        url = f"http://a.example/{number}"
        header = StatusAndHeaders(
            "200 OK",
            [("Transfer-Encoding", "chunked"), ("Content-Type", "text/plain")],
            protocol="HTTP/1.1",
        )
        response = writer.create_warc_record(
            url,
            "response",
            payload=io.BytesIO(CHUNKED_BODY),
            length=len(CHUNKED_BODY),  # else warcio leaves a temporary file open
            http_headers=header,
            warc_headers_dict={"WARC-Date": "2026-01-01T12:00:00Z"},
        )
        sent = StatusAndHeaders(
            f"GET /{number} HTTP/1.1", [("Host", "a.example")], is_http_request=True
        )
        request = writer.create_warc_record(
            url,
            "request",
            payload=io.BytesIO(),
            length=0,
            http_headers=sent,
            warc_headers_dict={"WARC-Date": "2026-01-01T12:00:00Z"},
        )
        writer.write_request_response_pair(request, response)
    metadata = writer.create_warc_record(
        "http://a.example/",
        "metadata",
        payload=io.BytesIO(b"via: x"),
        length=6,
        warc_content_type="text/x",
    )
    writer.write_record(metadata)
    resource = writer.create_warc_record(
        "dns:a.example",
        "response",
        payload=io.BytesIO(b"1.2.3.4"),
        length=7,
        warc_content_type="text/dns",
    )
    writer.write_record(resource)
    return file.getvalue()


def one_member(data: bytes) -> bytes:
    """Return the records of a file in a single gzip member, as some tools leave them."""
    return compress_member(data)


def our_file() -> tuple[bytes, list[int]]:
    """Return a segment of ours with three captures, and the offsets of its captures."""
    data = encode_warcinfo(INFO, "x.warc.gz", NOON_MS)
    offsets = []
    for capture in (sample(1), replace(sample(2), request=b""), revisit_of(sample(1))):
        offsets.append(len(data))
        data += encode_capture(capture).data
    return data, offsets


def test_our_captures_are_read_in_order_with_their_places() -> None:
    """Places are contiguous, and each can be read alone at its offset."""
    data, offsets = our_file()
    stored = list(iter_captures(io.BytesIO(data)))
    assert [each.offset for each in stored] == offsets
    ends = [each.offset + each.length for each in stored]
    assert ends == [*offsets[1:], len(data)]
    for each in stored:
        assert read_capture(io.BytesIO(data), each.offset) == each.capture
    digest = stored[0].capture.payload_digest or ""
    assert stored[0].capture == as_read(sample(1), digest)
    assert stored[1].capture.request == b""
    assert stored[2].capture == revisit_of(sample(1))


@pytest.mark.parametrize(
    "data",
    [
        warcio_file(),
        warcio_file(version="1.0"),
        warcio_file(compressed=False),
        one_member(warcio_file(compressed=False)),
    ],
    ids=["warc-1.1", "warc-1.0", "plain", "one-member"],
)
def test_files_of_warcio_are_read(data: bytes) -> None:
    """Other order, other versions, chunks, no compression: the captures are the same."""
    stored = list(iter_captures(io.BytesIO(data)))
    assert [each.capture.url for each in stored] == [f"http://a.example/{n}" for n in range(3)]
    for number, each in enumerate(stored):
        capture = each.capture
        assert capture.body == b"hello world"
        assert capture.response_header.startswith(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked")
        assert capture.request.startswith(b"GET /%d HTTP/1.1\r\n" % number)
        assert capture.fetched_at_ms == 1_767_268_800_000
        assert capture.payload_digest is not None
        assert capture.payload_digest.startswith("sha1:")


@pytest.mark.parametrize("compressed", [True, False])
def test_files_of_warcio_are_read_at_an_offset(compressed: bool) -> None:
    """The response that an index points at is read without the rest of the file."""
    data = warcio_file(compressed=compressed)
    for stored in iter_captures(io.BytesIO(data)):
        capture = read_capture(io.BytesIO(data), stored.response_offset)
        assert capture == replace(stored.capture, request=b"")


def test_what_is_read_from_others_can_be_written() -> None:
    """A foreign capture becomes one of ours, with its body without chunks and our digest."""
    for stored in iter_captures(io.BytesIO(warcio_file())):
        encoded = encode_capture(stored.capture)
        again = read_capture(io.BytesIO(encoded.data), 0)
        assert again == as_read(stored.capture, encoded.payload_digest)
        assert again.body == b"hello world"


def test_records_without_links_pair_by_page_and_date() -> None:
    """Where no record points at another, the same page at the same moment is one capture."""
    members = Members(io.BytesIO(encode_capture(sample()).data))
    unlinked = []
    while members.open_next():
        record = b"".join(iter(members.read, b""))
        lines = record.split(b"\r\n")
        kept = [line for line in lines if not line.startswith(b"WARC-Concurrent-To")]
        unlinked.append(compress_member(b"\r\n".join(kept)))
    for order in (unlinked, unlinked[::-1]):
        (stored,) = iter_captures(io.BytesIO(b"".join(order)))
        assert stored.capture.request == REQUEST


def test_a_revisit_without_a_block_is_read() -> None:
    """Others may leave the header of a revisit out."""
    record = (
        b"WARC/1.1\r\nWARC-Type: revisit\r\nContent-Type: application/http\r\n"
        b"WARC-Target-URI: http://a/\r\nWARC-Date: 2026-01-01T12:00:00Z\r\n"
        b"WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n"
        b"Content-Length: 0\r\n\r\n\r\n\r\n"
    )
    (stored,) = iter_captures(io.BytesIO(record))
    assert stored.capture.response_header == b""
    assert stored.capture.status is None
    assert stored.capture.media_type == "unk"
    assert stored.capture.revisit == Revisit(
        "identical-payload-digest", "http://a/", 1_767_268_800_000
    )


def test_damage_travels_between_processes() -> None:
    """A worker that verifies can report what it found."""
    damage = pickle.loads(pickle.dumps(DamageError(7, "torn")))
    assert (damage.offset, str(damage.problem), str(damage)) == (7, "torn", "offset 7: torn")


def test_a_request_of_another_page_is_not_taken() -> None:
    """Records that do not point at each other are no pair."""
    lonely = encode_capture(sample(1))
    data = lonely.data[: lonely.entry.offset] + encode_capture(replace(sample(2), request=b"")).data
    (stored,) = iter_captures(io.BytesIO(data))
    assert stored.capture.url == sample(2).url
    assert stored.capture.request == b""
    assert read_capture(io.BytesIO(data), 0).request == b""


def test_damage_is_reported_behind_the_captures_before_it() -> None:
    """What is whole is given before the error that names the place."""
    data, offsets = our_file()
    captures = iter_captures(io.BytesIO(data[:-3]))
    assert next(captures).offset == offsets[0]
    assert next(captures).offset == offsets[1]
    with pytest.raises(DamageError, match="the file ends inside this gzip member"):
        next(captures)


def test_a_body_above_the_limit_is_refused_before_it_is_read() -> None:
    """A record of petabytes costs nothing."""
    header = (
        b"WARC/1.1\r\nWARC-Type: response\r\nContent-Type: application/http;msgtype=response\r\n"
        b"Content-Length: 999999999999999\r\n\r\n"
    )
    with pytest.raises(LimitError, match="999999999999999 bytes, the limit is 1000"):
        list(iter_captures(io.BytesIO(compress_member(header)), max_body_bytes=1000))


def test_a_record_header_has_a_limit() -> None:
    """A header without end is refused before it fills the memory."""
    endless = compress_member(b"WARC/1.1\r\n" + b"A: b\r\n" * 100_000)
    with pytest.raises(DamageError, match="record header of more than 65536 bytes"):
        list(iter_captures(io.BytesIO(endless)))


def drained(captures: Iterator[StoredCapture]) -> int:
    """Return how many captures there are."""
    return sum(1 for _ in captures)


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (b"WARC-Date: 2026-01-01T12:00:00Z\r\n", "no WARC-Target-URI"),
        (b"WARC-Target-URI: http://a/\r\n", "no WARC-Date"),
        (b"WARC-Target-URI: http://a/\r\nWARC-Date: soon\r\n", "WARC-Date 'soon'"),
    ],
)
def test_a_record_without_what_it_needs_is_damage(header: bytes, problem: str) -> None:
    """A response without address or date is reported at its place."""
    block = b"HTTP/1.1 200 OK\r\n\r\n"
    record = (
        b"WARC/1.1\r\nWARC-Type: response\r\nContent-Type: application/http\r\n"
        b"Content-Length: %d\r\n%b\r\n%b\r\n\r\n" % (len(block), header, block)
    )
    with pytest.raises(DamageError, match=f"offset 0: .*{problem}"):
        drained(iter_captures(io.BytesIO(compress_member(record))))


def test_an_unknown_revisit_is_not_interpreted() -> None:
    """A reader that does not know a profile must not guess (WARC/1.1, 6.7)."""
    block = b"HTTP/1.1 200 OK\r\n\r\n"
    record = (
        b"WARC/1.1\r\nWARC-Type: revisit\r\nContent-Type: application/http\r\n"
        b"WARC-Target-URI: http://a/\r\nWARC-Date: 2026-01-01T12:00:00Z\r\n"
        b"WARC-Profile: http://example.org/diff\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
        % (len(block), block)
    )
    with pytest.raises(DamageError, match="WARC-Profile 'diff'"):
        drained(iter_captures(io.BytesIO(record)))


@pytest.mark.parametrize("offset", [1, 50])
def test_an_offset_inside_a_record_is_damage(offset: int) -> None:
    """Nothing is guessed from the middle of a record."""
    with pytest.raises(DamageError):
        read_capture(io.BytesIO(encode_capture(sample()).data), offset)


def test_a_warcinfo_is_no_capture() -> None:
    """The offset of another kind of record is refused."""
    with pytest.raises(DamageError, match="no capture begins here"):
        read_capture(io.BytesIO(our_file()[0]), 0)


def test_a_request_alone_is_no_capture() -> None:
    """A request without its answer is passed over."""
    encoded = encode_capture(sample())
    lonely = encoded.data[: encoded.entry.offset]
    assert drained(iter_captures(io.BytesIO(lonely))) == 0
    with pytest.raises(DamageError, match="no capture begins here"):
        read_capture(io.BytesIO(lonely), 0)
    assert REQUEST in sample().request

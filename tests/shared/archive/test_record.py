"""Record headers, dates, addresses, ids and digests."""

from __future__ import annotations

import base64
import hashlib
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.archive.record import (
    digest_matches,
    new_digest,
    parse_date_ms,
    parse_header,
    record_ids,
    warc_date,
)
from shared.errors import FormatError


@given(st.integers(0, 253_402_300_799_999))
def test_dates_come_back(ms: int) -> None:
    """Milliseconds survive being written as a WARC-Date."""
    assert parse_date_ms(warc_date(ms)) == ms


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-01-01T12:00:00.5Z", 1_767_268_800_500),
        ("2026-01-01T12:00:00.123456789Z", 1_767_268_800_123),
    ],
)
def test_dates_of_others_are_read(text: str, ms: int) -> None:
    """Seconds without fraction and finer fractions are WARC dates too."""
    assert parse_date_ms(text) == ms


@pytest.mark.parametrize("text", ["", "2026", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00+09:00"])
def test_other_dates_are_refused(text: str) -> None:
    """What is no date in UTC is refused."""
    with pytest.raises(FormatError, match="WARC-Date"):
        parse_date_ms(text)


def test_a_header_is_read_without_case_and_with_folds() -> None:
    """Names compare without case, a folded line goes on, a repeated field keeps all values."""
    header = parse_header(
        b"WARC/1.0\r\nwarc-type: response\r\nWARC-Target-URI: <http://a/>\r\n"
        b"Content-Length:  12 \r\nX-Long: a\r\n\tb\r\nWARC-Concurrent-To: x\r\n"
        b"WARC-Concurrent-To: y"
    )
    assert header.get("WARC-Type") == "response"
    assert header.target_uri == "http://a/"
    assert header.content_length == 12
    assert header.get("x-long") == "a b"
    assert header.all("warc-concurrent-to") == ["x", "y"]
    assert header.get("missing") is None


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        (b"HTTP/1.1 200 OK", "no record begins here, but 'HTTP/1.1"),
        (b"WARC/1.1\r\nno colon", "has no field name"),
        (b"WARC/1.1\r\n: x", "has no field name"),
        (b"WARC/1.1\r\nA: \xff", "not UTF-8"),
    ],
)
def test_what_is_no_header_is_refused(block: bytes, problem: str) -> None:
    """The message shows what stands there instead."""
    with pytest.raises(FormatError, match=problem):
        parse_header(block)


@pytest.mark.parametrize("value", ["", "-1", "+1", "1e3", "٣", "9" * 16, "0x10"])
def test_a_content_length_is_a_number_of_bytes(value: str) -> None:
    """Signs, other digits and absurd lengths are refused."""
    header = parse_header(f"WARC/1.1\r\nContent-Length: {value}".encode())
    with pytest.raises(FormatError, match="Content-Length"):
        _ = header.content_length


@given(st.binary())
def test_ids_are_uuids_of_version_8(content: bytes) -> None:
    """Two ids made from content are valid, different and always the same."""
    first, second = record_ids(content)
    assert first != second
    assert (first, second) == record_ids(content)
    for text in (first, second):
        parsed = uuid.UUID(text.removeprefix("<urn:uuid:").removesuffix(">"))
        assert parsed.version == 8
        assert parsed.variant == uuid.RFC_4122


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_digests_are_read_in_base32_and_hexadecimal(algorithm: str) -> None:
    """Both ways in which crawlers write digests are understood."""
    digest = hashlib.new(algorithm, b"x").digest()
    assert digest_matches(f"{algorithm}:{digest.hex()}", digest)
    assert digest_matches(f"{algorithm}:{base64.b32encode(digest).decode()}", digest)
    assert not digest_matches(f"{algorithm}:{digest.hex()}", hashlib.new(algorithm, b"y").digest())
    empty = new_digest(f"{algorithm}:x")
    assert empty is not None
    assert empty.name == algorithm
    assert new_digest("md7:x") is None

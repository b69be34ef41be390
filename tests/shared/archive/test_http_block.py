"""Header blocks: what a segment stores, and that the received one comes back."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.archive.http_block import (
    _NOTED,
    _framed,
    content_type_of,
    header_end,
    header_value,
    last_modified_ms,
    media_type,
    received_header,
    status_code,
    stored_header,
)
from tests.fixtures_dir import fixture_folder
from tests.shared.archive.captures import headers


def test_a_plain_block_is_stored_as_it_is() -> None:
    """A block whose length is right is not touched."""
    block = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\n"
    assert stored_header(block, 5) == block


LINES = st.sampled_from(
    (
        *(b"Content-Length: 5", b"content-length:5", b"CONTENT-LENGTH: 05", b"Content-Length: 55"),
        *(b"Content-Length: 5 ", b"X-Content-Length: 5", b"Transfer-Encoding: chunked", b"X: y"),
        *(b"transfer-encoding:", b"X-Crawl-Note: a", b"x-crawl-Content-Length: 5", b"X: X-Crawl-"),
    )
)


@given(
    st.sampled_from((b"HTTP/1.1 200 OK", b"HTTP/1.0 304 x", b"HTTP/2 200 ")),
    st.lists(LINES, max_size=4),
    st.sampled_from((None, 0, 5)),
)
def test_the_quick_look_agrees_with_the_thorough_one(
    status: bytes, lines: list[bytes], length: int | None
) -> None:
    """What is stored untouched would be left untouched by the rules for framing too."""
    block = b"\r\n".join((status, *lines, b"", b""))
    noted = list(_NOTED.finditer(block))
    if all(field["transfer"] or field["length"] for field in noted):
        assert stored_header(block, length) == _framed(block, noted, length)
    else:
        assert b"\r\nX-Crawl-Header: " in stored_header(block, length)


def test_a_block_without_length_gets_none() -> None:
    """A body that ended with the connection needs no Content-Length."""
    block = b"HTTP/1.0 200 OK\r\nX: y\r\n\r\n"
    assert stored_header(block, 5) == block


def test_transfer_encoding_is_renamed_and_the_length_told() -> None:
    """A de-chunked body is described by its length, and the received field keeps its value."""
    block = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n"
    stored = stored_header(block, 1234)
    assert stored == (
        b"HTTP/1.1 200 OK\r\nX-Crawl-Transfer-Encoding: chunked\r\nX: y\r\n"
        b"Content-Length: 1234\r\n\r\n"
    )
    assert received_header(stored) == block


def test_a_wrong_length_is_renamed() -> None:
    """A truncated body is stored with the length it has; the server's is kept."""
    block = b"HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n"
    stored = stored_header(block, 12)
    assert stored == (
        b"HTTP/1.1 200 OK\r\nX-Crawl-content-length: 999\r\nContent-Length: 12\r\n\r\n"
    )
    assert received_header(stored) == block


def test_not_modified_keeps_the_length_of_what_it_did_not_send() -> None:
    """A 304 tells the length of the page that it does not carry."""
    block = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 999\r\n\r\n"
    assert stored_header(block, 0) == block
    assert stored_header(block, None) == block


def test_a_revisit_gets_no_length() -> None:
    """Where no body is stored, none is described."""
    block = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    stored = stored_header(block, None)
    assert stored == b"HTTP/1.1 200 OK\r\nX-Crawl-Transfer-Encoding: chunked\r\n\r\n"
    assert received_header(stored) == block


def test_http_2_is_stored_as_1_1() -> None:
    """Readers that know HTTP/1 only can replay what came over HTTP/2."""
    block = b"HTTP/2 200 \r\nx: y\r\n\r\n"
    stored = stored_header(block, 0)
    assert stored == b"HTTP/1.1 200 \r\nX-Crawl-Status-Line: HTTP/2 200 \r\nx: y\r\n\r\n"
    assert received_header(stored) == block


def test_a_hostile_block_is_stored_cleaned_and_whole() -> None:
    """Bare line feeds, folds, garbage and control characters do not reach other readers."""
    block = b"HTTP/1.1 200 OK\nA: b\x0bc\n d\ngarbage\n \nTransfer-Encoding : chunked\n\n"
    stored = stored_header(block, 7)
    assert stored == (
        b"HTTP/1.1 200 OK\r\nA: b c d\r\nX-Crawl-Transfer-Encoding: chunked\r\n"
        b"Content-Length: 7\r\n"
        b"X-Crawl-Header: HTTP/1.1 200 OK%0AA: b%0Bc%0A d%0Agarbage%0A %0A"
        b"Transfer-Encoding : chunked%0A%0A\r\n\r\n"
    )
    assert received_header(stored) == block


def test_marks_that_a_server_sends_are_not_ours() -> None:
    """A server cannot make a reader believe in a header it did not send."""
    block = b"HTTP/1.1 200 OK\r\nX-Crawl-Transfer-Encoding: gzip\r\nContent-Length: 3\r\n\r\n"
    assert received_header(stored_header(block, 3)) == block


@given(headers, st.one_of(st.none(), st.integers(0, 12)))
def test_every_block_comes_back_as_received(block: bytes, body_length: int | None) -> None:
    """Storing and reading is the identity, and the stored form is plain."""
    stored = stored_header(block, body_length)
    assert received_header(stored) == block
    assert header_end(stored) == len(stored)
    assert stored.startswith((b"HTTP/1.1 ", b"HTTP/1.0 "))
    assert header_value(stored, "Transfer-Encoding") is None
    lines = stored[:-4].split(b"\r\n")
    assert all(b":" in line and line.strip() == line.rstrip() for line in lines[1:] if line)
    assert b"\n" not in b"".join(lines)


def test_blocks_of_the_llhttp_suite_come_back_as_received() -> None:
    """Good and malformed responses of another parser's tests survive storing."""
    cases = json.loads((fixture_folder("http1-llhttp") / "cases.json").read_text())
    tried = 0
    for case in cases:
        message = base64.b64decode(case["input_b64"])
        end = header_end(message)
        if case["kind"] != "response" or end < 0:
            continue
        block, body = message[:end], message[end:]
        assert received_header(stored_header(block, len(body))) == block, case["name"]
        tried += 1
    assert tried > 40


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"HTTP/1.1 200 OK", 200),
        (b"HTTP/2 404 ", 404),
        (b"HTTP/1.0  301", 301),
        (b"HTTP/1.1 2000", None),
        (b"HTTP/1.1", None),
        (b"", None),
    ],
)
def test_status_is_three_digits(line: bytes, status: int | None) -> None:
    """The status is read where it has three digits."""
    assert status_code(line + b"\r\n\r\n") == status


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b"Text/HTML; charset=x", "text/html"),
        (b" application/xhtml+xml", "application/xhtml+xml"),
        (b"", "unk"),
        (b"nonsense", "unk"),
        (b'"} {"', "unk"),
    ],
)
def test_media_type_is_lower_case_without_parameters(value: bytes, kind: str) -> None:
    """An index gets type/subtype or `unk`, never a server's free text."""
    assert media_type(b"HTTP/1.1 200 OK\r\nContent-Type: " + value + b"\r\n\r\n") == kind


def test_media_type_may_be_missing() -> None:
    """Without Content-Type the type is unknown."""
    assert media_type(b"HTTP/1.1 200 OK\r\nXContent-Type: a/b\r\n\r\n") == "unk"


@pytest.mark.parametrize(
    ("value", "ms"),
    [
        (b"Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777_000),
        (b"Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777_000),
        (b"Sun Nov  6 08:49:37 1994", 784_111_777_000),
        (b"Thu, 01 Jan 1970 00:00:00 GMT", 0),
        (b"Wed, 31 Dec 1969 23:59:59 GMT", -1000),
        (b"", 0),
        (b"yesterday", 0),
        (b"\xff\xfe", 0),
        (b"Sun, 99 Nov 1994 08:49:37 GMT", 0),
        (b"Sun, 06 Nov 1994 08:49:37 +99999999", 0),
        (b"1" * 5000, 0),
    ],
)
def test_last_modified_is_read_or_zero(value: bytes, ms: int) -> None:
    """The three forms of an HTTP date are read; anything else counts as not told."""
    assert last_modified_ms(b"HTTP/1.1 200 OK\r\nLast-Modified: " + value + b"\r\n\r\n") == ms


@given(st.binary(max_size=60))
def test_last_modified_never_fails(value: bytes) -> None:
    """No value of a server stops the reader of its date."""
    block = b"HTTP/1.1 200 OK\r\nLast-Modified: " + value.replace(b"\n", b"") + b"\r\n\r\n"
    assert isinstance(last_modified_ms(block), int)


@pytest.mark.parametrize(
    ("fields", "expected", "kind"),
    [
        (["text/plain", "text/html; charset=utf-8"], "text/html; charset=utf-8", "text/html"),
        (["text/html;charset=gbk", "text/html"], "text/html;charset=gbk", "text/html"),
        (["text/html;charset=gbk", "text/plain"], "text/plain", "text/plain"),
        (["text/html", "nonsense"], "text/html", "text/html"),
        (["text/html", "*/*"], "text/html", "text/html"),
        (["text/html;charset=gbk", "", "text/html;x=y"], "text/html;x=y;charset=gbk", "text/html"),
        (
            ["text/html;charset=gbk", "TEXT/HTML; charset=big5"],
            "TEXT/HTML; charset=big5",
            "text/html",
        ),
        (["text/plain, text/html"], "text/html", "text/html"),
        (['text/html; x="a, text/plain"'], 'text/html; x="a, text/plain"', "text/html"),
        (["nonsense", "too"], "nonsense", "unk"),
        ([], "", "unk"),
    ],
)
def test_of_several_content_types_the_last_valid_one_counts(
    fields: list[str], expected: str, kind: str
) -> None:
    """As browsers take it; one of the same type hands its charset on."""
    lines = "".join(f"Content-Type: {value}\r\n" for value in fields)
    header = f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode()
    assert content_type_of(header) == expected.encode()
    assert media_type(header) == kind

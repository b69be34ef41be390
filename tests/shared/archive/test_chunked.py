"""Removing chunks from bodies that others stored with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.archive.chunked import dechunked


@given(st.lists(st.binary(min_size=1, max_size=50)))
def test_chunks_are_joined(chunks: list[bytes]) -> None:
    """The body is what was in the chunks."""
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    assert dechunked(body) == b"".join(chunks)


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (b"5;ext=1\r\nhello\r\n0\r\nTrailer: x\r\n\r\n", b"hello"),
        (b"5\r\nhello\r\n", b"hello"),
        (b"5\r\nhello\r\n5\r\nwo", b"hellowo"),
        (b"5\r\nhello\r", b"hello"),
        (b"0\r\n\r\n", b""),
        (b"", b""),
    ],
)
def test_extensions_trailers_and_cuts_are_understood(body: bytes, content: bytes) -> None:
    """What came before a cut is kept."""
    assert dechunked(body) == content


@pytest.mark.parametrize(
    "body",
    [b"<html>", b"abc\n", b"5\r\nhello, world\r\n", b"1\r\nx\r\nnot a size"],
)
def test_a_body_without_chunks_is_left_alone(body: bytes) -> None:
    """Some writers removed the chunks and left the header."""
    assert dechunked(body) == body

"""An answer from its bytes: the same whatever pieces they come in, and never without an end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.adapters.curl.raw_answer import RawAnswer

MOST = 1000
PART = st.sampled_from(
    (
        *(b"HTTP/1.1 200 OK\r\n", b"ICY 200 OK\n", b"no colon\r\n", b"X: y\r\n", b"\r\n", b"\n"),
        *(b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n", b"HTTP/1.1 103 x\r\n\r\n"),
        *(b"3\r\nabc\r\n", b"0\r\n\r\n", b"abc", b"\r", b"\0", b"Location: /a\r\n", b"5;e\r\n"),
        b"x" * 300,
    )
)


def read(pieces: list[bytes]) -> tuple[bytes, bytes, str, bool, bool]:
    """Return header, body, refusal, and how it ended."""
    answer = RawAnswer(MOST)
    body = b"".join(answer.feed(piece) for piece in pieces)
    answer.end()
    return answer.header, body, answer.refused, answer.complete, answer.cut


@given(st.lists(PART, max_size=12), st.data())
def test_pieces_make_no_difference(parts: list[bytes], data: st.DataObject) -> None:
    """A byte at a time, all at once, or anything between."""
    whole = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    ends = [0, *cuts, len(whole)]
    pieces = [whole[one:other] for one, other in pairwise(ends)]
    once = read([whole])
    assert read(pieces) == once
    assert read([whole[at : at + 1] for at in range(len(whole))]) == once
    assert len(once[0]) <= MOST


def test_an_endless_header_is_refused_before_it_is_held() -> None:
    """Also where no line of it ends."""
    answer = RawAnswer(MOST)
    answer.feed(b"HTTP/1.1 200 OK\r\n")
    for _ in range(20):
        answer.feed(b"x" * 100)
    assert answer.refused == "header larger than 1000 bytes"


@pytest.mark.parametrize("size", [b"x\r\n", b"-1\r\n", b"1" * 20_000, b"3\r\nabcd\r\n"])
def test_a_broken_chunk_ends_the_body(size: bytes) -> None:
    """What came before it is kept, and the body is marked as cut."""
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    _, body, _, complete, cut = read([head, b"2\r\nhi\r\n", size])
    assert (body[:2], complete, cut) == (b"hi", True, True)

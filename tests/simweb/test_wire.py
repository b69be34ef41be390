"""What goes over the wire, and when, is known without a clock."""

from __future__ import annotations

import math
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simweb.servers.answer import Answer, Delivery
from simweb.servers.wire import framed, wire_pieces
from simweb.sites.distance import Pace

AT_ONCE = Pace(0.0, math.inf)


def wire(
    answer: Answer, pace: Pace = AT_ONCE, is_head: bool = False, http_1_0: bool = False
) -> list[tuple[float, bytes]]:
    """Return up to 100 pieces."""
    pieces = wire_pieces(answer, pace, "now", is_head=is_head, keep_alive=True, http_1_0=http_1_0)
    return list(islice(pieces, 100))


def joined(pieces: list[tuple[float, bytes]]) -> bytes:
    """Return the bytes of all pieces."""
    return b"".join(data for _, data in pieces)


def test_a_plain_answer() -> None:
    """Status line, headers, length, body, all at once."""
    pieces = wire(Answer(200, [("A", "b")], b"body"))
    assert len(pieces) == 1
    assert joined(pieces) == (
        b"HTTP/1.1 200 OK\r\nDate: now\r\nA: b\r\nContent-Length: 4\r\n"
        b"Connection: keep-alive\r\n\r\nbody"
    )


def test_pace_decides_when_the_last_byte_leaves() -> None:
    """Delay plus size over bandwidth, head included."""
    pieces = wire(Answer(200, [], bytes(100_000)), Pace(0.5, 1_000_000))
    size = len(joined(pieces))
    assert pieces[-1][0] == pytest.approx(0.5 + size / 1_000_000)
    assert [at for at, _ in pieces] == sorted(at for at, _ in pieces)


def test_head_requests_get_no_body() -> None:
    """The length is told, the body is not sent."""
    data = joined(wire(Answer(200, [], b"body"), is_head=True))
    assert data.endswith(b"Content-Length: 4\r\nConnection: keep-alive\r\n\r\n")


def test_a_304_has_no_length() -> None:
    """RFC 9110, 15.4.5: no body, nothing to announce."""
    assert b"Content-Length" not in joined(wire(Answer(304)))


def test_chunks_are_not_for_http_1_0() -> None:
    """To an old client the body ends with the connection."""
    answer = Answer(200, [], b"body", chunked=True)
    assert joined(wire(answer, http_1_0=True)).endswith(b"\r\n\r\nbody")
    assert joined(wire(answer)).endswith(b"4\r\nbody\r\n0\r\n\r\n")


@given(st.binary(max_size=40_000))
def test_framing_is_undone_by_reading_chunks(body: bytes) -> None:
    """Sizes and data alternate, a zero ends them."""
    rest, found = framed(body, whole=True), b""
    while True:
        size, _, rest = rest.partition(b"\r\n")
        count = int(size, 16)
        found, rest = found + rest[:count], rest[count + 2 :]
        if not count:
            break
    assert (found, rest) == (body, b"")


def test_a_cut_body_is_announced_whole() -> None:
    """Content-Length promises all, half arrives."""
    data = joined(wire(Answer(200, [], b"12345678", delivery=Delivery(share=0.5))))
    assert b"Content-Length: 8\r\n" in data
    assert data.endswith(b"\r\n\r\n1234")


def test_a_cut_chunked_body_has_no_last_chunk() -> None:
    """The terminating zero never comes."""
    answer = Answer(200, [], b"12345678", chunked=True, delivery=Delivery(share=0.5))
    assert joined(wire(answer)).endswith(b"4\r\n1234\r\n")


def test_a_wrong_length_is_shorter_than_the_body() -> None:
    """Bytes follow that nobody announced."""
    data = joined(wire(Answer(200, [], b"12345678", delivery=Delivery(length_error=-3))))
    assert b"Content-Length: 5\r\n" in data
    assert data.endswith(b"12345678")


def test_a_dripping_body_takes_its_time() -> None:
    """Head first, then 20 pieces, the last after drip_s."""
    pieces = wire(Answer(200, [], bytes(2_000), delivery=Delivery(drip_s=10)), Pace(1.0, math.inf))
    assert pieces[0][0] == 1.0
    assert len(pieces) == 21
    assert pieces[-1][0] == 11.0


def test_hanging_and_resetting_hosts_send_nothing() -> None:
    """Not even a status line."""
    assert wire(Answer(200, [], b"x", delivery=Delivery(hang=True))) == []
    assert wire(Answer(200, [], b"x", delivery=Delivery(share=0, reset=True))) == []


def test_garbage_is_sent_raw() -> None:
    """No status line, no headers."""
    assert joined(wire(Answer(200, [], b"x", delivery=Delivery(raw=True)))) == b"x"


def test_an_endless_body_does_not_end() -> None:
    """Chunk after chunk, at moments that move on."""
    answer = Answer(200, [], b"x", chunked=True, delivery=Delivery(endless=True))
    pieces = wire(answer)
    assert len(pieces) == 100
    assert all(later > sooner for (sooner, _), (later, _) in pairwise(pieces))
    assert b"0\r\n\r\n" not in joined(pieces)

"""The gzip bodies of the messages."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Fault, FormatError, LimitError
from shared.wire.gzip_stream import compress, decompress, split_lines

BIG = 10**9


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


@given(st.lists(st.binary(max_size=300)), st.integers(1, 50))
def test_what_goes_in_comes_out(chunks: list[bytes], size: int) -> None:
    """Any chunks survive, however the stream is cut on its way."""
    packed = b"".join(compress(chunks))
    assert gzip.decompress(packed) == b"".join(chunks)
    assert b"".join(decompress(pieces(packed, size), limit_bytes=BIG)) == b"".join(chunks)


@given(st.binary(max_size=300), st.binary(max_size=300), st.integers(1, 40))
def test_members_may_follow_one_another(first: bytes, second: bytes, size: int) -> None:
    """`cat a.gz b.gz` is a valid body."""
    packed = gzip.compress(first) + gzip.compress(second)
    assert b"".join(decompress(pieces(packed, size), limit_bytes=BIG)) == first + second


@given(st.binary(min_size=1, max_size=200), st.data())
def test_a_cut_body_is_refused(plain: bytes, data: st.DataObject) -> None:
    """No proper prefix of a body passes for the whole."""
    packed = gzip.compress(plain)
    cut = data.draw(st.integers(0, len(packed) - 1))
    with pytest.raises(FormatError):
        list(decompress([packed[:cut]], limit_bytes=BIG))


@given(st.binary(min_size=1, max_size=200), st.data())
def test_a_changed_bit_is_noticed(plain: bytes, data: st.DataObject) -> None:
    """A flipped bit behind the header is an error or leaves the text as it was."""
    packed = bytearray(gzip.compress(plain, mtime=0))
    at = data.draw(st.integers(10, len(packed) - 1))
    packed[at] ^= 1 << data.draw(st.integers(0, 7))
    with contextlib.suppress(FormatError):
        assert b"".join(decompress([bytes(packed)], limit_bytes=BIG)) == plain


WHOLE = gzip.compress(b"http://a.jp/\n")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", Fault.EMPTY_BODY),
        (b"plain text\n", Fault.NOT_GZIP),
        (b"\x1f\x8bxx", Fault.NOT_GZIP),
        (b"\x1f", Fault.TRUNCATED_GZIP),
        (WHOLE[:-1], Fault.TRUNCATED_GZIP),
        (WHOLE[:12], Fault.TRUNCATED_GZIP),
        (WHOLE + WHOLE[:5], Fault.TRUNCATED_GZIP),
        (WHOLE + b"\x1f\x8b", Fault.TRUNCATED_GZIP),
        (WHOLE + b"m", Fault.TRAILING_GARBAGE),
        (WHOLE + b"more", Fault.TRAILING_GARBAGE),
        (WHOLE + bytes(512), Fault.TRAILING_GARBAGE),
        (WHOLE + b"\n", Fault.TRAILING_GARBAGE),
        (WHOLE + b"\x1f\x8bno", Fault.TRAILING_GARBAGE),
        (WHOLE + WHOLE + b"http://b.jp/\n", Fault.TRAILING_GARBAGE),
        (WHOLE[:-8] + bytes(8), Fault.DAMAGED_GZIP),
    ],
)
def test_each_way_to_be_no_gzip_has_its_finding(body: bytes, code: Fault, size: int) -> None:
    """Garbage behind the end is not an early end, however the body is cut on its way."""
    with pytest.raises(FormatError) as refused:
        list(decompress(pieces(body, size), limit_bytes=BIG))
    assert refused.value.code == code
    assert ("ends early" in str(refused.value)) == (code is Fault.TRUNCATED_GZIP)


@given(st.binary(max_size=50), st.binary(min_size=1, max_size=50), st.integers(1, 20))
def test_garbage_behind_a_body_is_never_an_early_end(
    plain: bytes, garbage: bytes, size: int
) -> None:
    """Whatever stands behind the last member, unless it begins as another one."""
    if b"\x1f\x8b\x08".startswith(garbage[:3]):
        return
    with pytest.raises(FormatError) as refused:
        list(decompress(pieces(gzip.compress(plain) + garbage, size), limit_bytes=BIG))
    assert refused.value.code == Fault.TRAILING_GARBAGE


def test_a_bomb_is_stopped() -> None:
    """The limit counts decoded bytes as they come."""
    bomb = gzip.compress(bytes(50_000_000))
    taken = 0
    with pytest.raises(LimitError, match="more than 1000000 bytes"):
        for chunk in decompress([bomb], limit_bytes=1_000_000):
            taken += len(chunk)
    assert taken <= 1_000_000


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line)), st.integers(1, 9))
def test_lines_have_their_numbers(lines: list[bytes], size: int) -> None:
    """Lines come numbered from 1, cut where the chunks are or not."""
    text = b"".join(line + b"\n" for line in lines)
    assert list(split_lines(pieces(text, size), limit_bytes=20)) == list(enumerate(lines, 1))


def test_a_last_line_without_its_end_counts() -> None:
    """A list edited by hand may lack the last LF."""
    assert list(split_lines([b"a\nb"], limit_bytes=9)) == [(1, b"a"), (2, b"b")]


@pytest.mark.parametrize("chunks", [[b"ok\n", b"x" * 11], [b"ok\n" + b"x" * 11 + b"\n"]])
def test_an_over_long_line_is_named(chunks: list[bytes]) -> None:
    """A line without end stops at the limit, with its number."""
    with pytest.raises(LimitError, match="line 2: longer than 10 bytes"):
        list(split_lines(chunks, limit_bytes=10))

"""Gzip members: deterministic, bounded, and whole or refused."""

from __future__ import annotations

import gzip
import io
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.archive.errors import DamageError
from shared.archive.gzip_member import CHUNK, Members, compress_member


def inflate(data: bytes, offset: int = 0) -> list[tuple[int, int, bytes]]:
    """Return (start, end, content) of every member."""
    members = Members(io.BytesIO(data), offset)
    found = []
    while members.open_next():
        content = b"".join(iter(members.read, b""))
        found.append((members.start, members.end, content))
    return found


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=5))
def test_members_come_back_with_their_offsets(contents: list[bytes]) -> None:
    """Each member is found where it was written, and any gzip reads it."""
    written = [compress_member(content) for content in contents]
    data = b"".join(written)
    found = inflate(data)
    assert [content for _, _, content in found] == contents
    assert [end - start for start, end, _ in found] == [len(member) for member in written]
    assert gzip.decompress(data) == b"".join(contents)
    last_start = found[-1][0]
    assert inflate(data, last_start) == [found[-1]]


def test_a_member_has_no_time_and_no_name() -> None:
    """The same content gives the same bytes, today and tomorrow."""
    member = compress_member(b"content")
    assert member[:9] == b"\x1f\x8b\x08" + bytes(6)
    assert compress_member(b"content") == member


def test_a_member_is_inflated_in_pieces() -> None:
    """A member of 50 MB from 50 KB is read without holding it."""
    bomb = zlib.compress(bytes(50_000_000), 9, 31)
    members = Members(io.BytesIO(bomb))
    assert members.open_next()
    sizes = [len(piece) for piece in iter(members.read, b"")]
    assert sum(sizes) == 50_000_000
    assert max(sizes) <= CHUNK


@settings(max_examples=20)
@given(st.binary(min_size=1, max_size=300))
def test_a_member_that_ends_early_is_refused(content: bytes) -> None:
    """Every cut inside a member is noticed, also inside its trailer."""
    first, second = compress_member(b"first"), compress_member(content)
    for cut in range(1, len(second)):
        with pytest.raises(DamageError) as caught:
            inflate(first + second[:cut])
        assert caught.value.offset == len(first)


@pytest.mark.parametrize("at", [-1, -4, -5, -8])
def test_a_wrong_trailer_is_refused(at: int) -> None:
    """Checksum and length of the trailer are compared."""
    member = bytearray(compress_member(b"content" * 20))
    member[at] ^= 1
    with pytest.raises(DamageError, match="offset 0: gzip member is damaged"):
        inflate(bytes(member))


def test_bytes_behind_the_last_member_are_refused() -> None:
    """Zeros that a crash left behind are no member."""
    member = compress_member(b"content")
    with pytest.raises(DamageError, match="no gzip member begins here") as caught:
        inflate(member + bytes(100))
    assert caught.value.offset == len(member)

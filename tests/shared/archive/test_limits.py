"""What a segment can hold, asked in the short way and in the long one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared.archive.http_block import header_end
from shared.archive.limits import _is_one_block

PIECES = st.sampled_from([b"\r\n", b"\n", b"\r", b"HTTP/1.1 200 OK", b"A: b", b"\r\n\r\n", b""])


@given(st.lists(PIECES, max_size=8).map(b"".join))
def test_the_short_way_finds_what_the_search_finds(block: bytes) -> None:
    """Whether a block ends with its only empty line, however lines end."""
    assert _is_one_block(block) is (header_end(block) == len(block))

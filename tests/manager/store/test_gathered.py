"""Pieces on their way to a client: the same bytes, in pieces of one size."""

from __future__ import annotations

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from manager.store.captures import page_zip
from manager.store.captures.page_zip import gathered


@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(1, 16))
def test_the_same_bytes_in_pieces_of_one_size(pieces: list[bytes], size: int) -> None:
    """All pieces but the last have the size, and a large page is divided."""
    with mock.patch.object(page_zip, "GATHERED_BYTES", size):
        got = list(gathered(iter(pieces)))
    assert b"".join(got) == b"".join(pieces)
    assert all(len(piece) == size for piece in got[:-1])
    assert all(0 < len(piece) <= size for piece in got)

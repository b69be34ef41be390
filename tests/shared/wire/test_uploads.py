"""What both sides say of a file that travels."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import FormatError
from shared.wire.uploads import (
    BLOCK_BYTES,
    block_bytes_of,
    digest_file,
    join_blocks,
    read_checksum,
    read_metadata,
    split_blocks,
    write_checksum,
    write_metadata,
)

SIGNS = st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=",")
KEYS = st.text(SIGNS, min_size=1, max_size=20)


@given(st.dictionaries(KEYS, st.binary(max_size=60), max_size=8))
def test_metadata_there_and_back(values: dict[str, bytes]) -> None:
    """Any bytes under any allowed key come back as they were."""
    assert read_metadata(write_metadata(values)) == values


@given(st.text(max_size=200))
def test_metadata_of_anybody_is_read_or_refused(header: str) -> None:
    """No header raises anything but FormatError."""
    try:
        read_metadata(header)
    except FormatError:
        return


@given(st.binary(max_size=100), st.sampled_from(["sha256", "sha1", "md5"]))
def test_checksums_there_and_back(data: bytes, algorithm: str) -> None:
    """The name and the digest come back."""
    name, digest = read_checksum(write_checksum(data, algorithm))
    assert name == algorithm
    assert len(digest) in (16, 20, 32)


@pytest.mark.parametrize("header", ["", "sha256", "sha256 %", "sha256 AAAA", "crc32 AAAA"])
def test_a_wrong_checksum_is_refused(header: str) -> None:
    """Unknown algorithms, no base64, another length."""
    with pytest.raises(FormatError, match="Upload-Checksum"):
        read_checksum(header)


@given(st.integers(1, 10**13))
def test_blocks_are_few(size_bytes: int) -> None:
    """At most 128 blocks, so that their digests fit into a header; none under 8 MiB."""
    block_bytes = block_bytes_of(size_bytes)
    assert block_bytes >= BLOCK_BYTES
    assert -(-size_bytes // block_bytes) <= 128


def test_wrong_blocks_are_named() -> None:
    """Neighbours are one range; without digests, or where all agree, it is the whole file."""
    size = 3 * BLOCK_BYTES + 7
    data = bytes(size)
    found = digest_file(io.BytesIO(data), size)
    assert len(found.blocks) == 4
    flipped = bytearray(data)
    flipped[0] = flipped[BLOCK_BYTES] = flipped[-1] = 1
    wrong = digest_file(io.BytesIO(bytes(flipped)), size)
    claimed = split_blocks(join_blocks(found.blocks), size)
    assert wrong.wrong_blocks(claimed) == [(0, 2 * BLOCK_BYTES), (3 * BLOCK_BYTES, size)]
    assert wrong.wrong_blocks(()) == [(0, size)]
    assert found.wrong_blocks(claimed) == [(0, size)]


def test_a_short_file_is_said() -> None:
    """A file that ends before its length is no digest."""
    with pytest.raises(FormatError, match="ends before"):
        digest_file(io.BytesIO(b"abc"), 4)

"""Uploads of segments: what both sides say of a file before and while it travels.

Push is tus 1.0 (https://tus.io/protocols/resumable-upload). Its `Upload-Metadata` carries

    filename  the segment's name                  sha256  of the whole, 64 hexadecimal digits
    blocks    the first 16 bytes of the SHA-256 of each block, one behind the other; may be missing

A block is 8 MiB, doubled until a file has 128 at most, so that the header stays small enough for
any proxy. `sha256` decides whether a file is right; where it is wrong, `blocks` say what to send
again. Pure: bytes in, bytes out.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO, Final, Literal

from pydantic import BaseModel, ConfigDict

from shared.errors import FormatError
from shared.frozen import frozen

__all__ = [
    "BLOCK_BYTES",
    "CHECKSUMS",
    "SEGMENT_SUFFIX",
    "TUS",
    "FileDigests",
    "UploadState",
    "UploadStatus",
    "block_bytes_of",
    "digest_file",
    "join_blocks",
    "read_checksum",
    "read_metadata",
    "split_blocks",
    "write_checksum",
    "write_metadata",
]

TUS: Final = "1.0.0"
CHECKSUMS: Final = ("sha256", "sha1", "md5")
SEGMENT_SUFFIX: Final = ".warc.gz"

BLOCK_BYTES: Final = 8 * 1024**2
BLOCKS_MOST: Final = 128
DIGEST_BYTES: Final = 16
METADATA_MOST: Final = 16 * 1024
_READ_BYTES: Final = 1024**2
_KEY: Final = re.compile(r"[!-+\--~]{1,64}")

UploadState = Literal[
    "receiving", "received", "accepted", "quarantined", "refused", "cancelled", "expired"
]
"""receiving: bytes are missing. received: whole, and being verified. The others are final; only
after `accepted` may the sender throw the file away."""


class UploadStatus(BaseModel):
    """Answer of `GET` on an upload: fields for which tus has no header."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    filename: str
    sha256: str
    size_bytes: int
    offset: int
    state: UploadState
    result: str = ""  # why it was refused, or its outcome


@frozen
class FileDigests:
    """The digests of a file: of the whole, hexadecimal, and of each block."""

    sha256: str
    size_bytes: int
    blocks: tuple[bytes, ...]

    def wrong_blocks(self, claimed: Sequence[bytes]) -> list[tuple[int, int]]:
        """Return the ranges [start, end) whose digests differ from those claimed, merged.

        claimed: nothing, where the sender gave none: then it is the whole file.
        """
        if len(claimed) != len(self.blocks):
            return [(0, self.size_bytes)]
        size = block_bytes_of(self.size_bytes)
        wrong: list[tuple[int, int]] = []
        for number, (mine, theirs) in enumerate(zip(self.blocks, claimed, strict=True)):
            if mine == theirs:
                continue
            start, end = number * size, min((number + 1) * size, self.size_bytes)
            if wrong and wrong[-1][1] == start:
                start = wrong.pop()[0]
            wrong.append((start, end))
        # The blocks match their claimed digests, and the whole does not: no block is believed.
        return wrong or [(0, self.size_bytes)]


def block_bytes_of(size_bytes: int) -> int:
    """Return the size of a block of a file of so many bytes."""
    block_bytes = BLOCK_BYTES
    while size_bytes > block_bytes * BLOCKS_MOST:
        block_bytes *= 2
    return block_bytes


def digest_file(file: BinaryIO, size_bytes: int) -> FileDigests:
    """Read the first `size_bytes` of a file; raises FormatError where it is shorter."""
    whole, blocks = hashlib.sha256(), []
    block_bytes = block_bytes_of(size_bytes)
    file.seek(0)
    for start in range(0, size_bytes, block_bytes):
        left, block = min(block_bytes, size_bytes - start), hashlib.sha256()
        while left:
            data = file.read(min(left, _READ_BYTES))
            if not data:
                raise FormatError("archive_files.file_shorter", size=size_bytes)
            whole.update(data)
            block.update(data)
            left -= len(data)
        blocks.append(block.digest()[:DIGEST_BYTES])
    return FileDigests(whole.hexdigest(), size_bytes, tuple(blocks))


def write_metadata(values: Mapping[str, bytes]) -> str:
    """Return the value of `Upload-Metadata`."""
    return ",".join(
        f"{key} {base64.b64encode(value).decode('ascii')}".rstrip() for key, value in values.items()
    )


def read_metadata(header: str) -> dict[str, bytes]:
    """Return what a header `Upload-Metadata` says. Raises FormatError."""
    if len(header) > METADATA_MOST:
        raise FormatError("archive_files.long_metadata", length=len(header), most=METADATA_MOST)
    values: dict[str, bytes] = {}
    for pair in filter(None, (part.strip() for part in header.split(","))):
        key, _, encoded = pair.partition(" ")
        if not _KEY.fullmatch(key) or key in values:
            raise FormatError("archive_files.metadata_key", key=key[:64])
        values[key] = _base64(encoded.strip(), f"Upload-Metadata {key}")
    return values


def write_checksum(data: bytes, algorithm: str = "sha256") -> str:
    """Return the value of `Upload-Checksum` for a chunk."""
    digest = hashlib.new(algorithm, data, usedforsecurity=False).digest()
    return f"{algorithm} {base64.b64encode(digest).decode('ascii')}"


def read_checksum(header: str) -> tuple[str, bytes]:
    """Return (algorithm, digest) of a header `Upload-Checksum`. Raises FormatError."""
    algorithm, _, encoded = header.strip().partition(" ")
    if algorithm not in CHECKSUMS:
        raise FormatError(
            "archive_files.checksum_algorithm", algorithm=algorithm[:20], known=CHECKSUMS
        )
    digest = _base64(encoded.strip(), "Upload-Checksum")
    expected = hashlib.new(algorithm, usedforsecurity=False).digest_size
    if len(digest) != expected:
        raise FormatError(
            "archive_files.checksum_length",
            algorithm=algorithm,
            expected=expected,
            sent=len(digest),
        )
    return algorithm, digest


def split_blocks(joined: bytes, size_bytes: int) -> tuple[bytes, ...]:
    """Return the digests of `blocks`; nothing for nothing. Raises FormatError."""
    count = -(-size_bytes // block_bytes_of(size_bytes))
    if not joined:
        return ()
    if len(joined) != count * DIGEST_BYTES:
        raise FormatError(
            "archive_files.block_digests",
            sent=len(joined),
            size=size_bytes,
            count=count,
            block=block_bytes_of(size_bytes),
            expected=count * DIGEST_BYTES,
        )
    return tuple(
        joined[start : start + DIGEST_BYTES] for start in range(0, len(joined), DIGEST_BYTES)
    )


def join_blocks(blocks: Iterable[bytes]) -> bytes:
    """Return the value of `blocks`."""
    return b"".join(blocks)


def _base64(text: str, what: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise FormatError("archive_files.base64", header=what, text=text[:40]) from error

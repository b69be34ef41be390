"""Verification: every byte counts, and the first wrong place is named."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from shared.archive.capture import Capture
from shared.archive.cdxj import IndexEntry
from shared.archive.encode import encode_capture, encode_warcinfo
from shared.archive.errors import DamageError
from shared.archive.gzip_member import Members, compress_member
from shared.archive.reader import iter_captures
from shared.archive.verify import verify_segment
from tests.shared.archive.captures import INFO, NOON_MS, revisit_of, sample
from tests.shared.archive.test_reader import warcio_file

BIT_STEP = 1 if os.environ.get("PRSM_TESTS") == "all" else 7  # 7: each bit of a byte in turn
WARCINFO = encode_warcinfo(INFO, "x.warc.gz", NOON_MS)
CAPTURES = [sample(1), revisit_of(sample(1)), replace(sample(2), request=b"")]


def segment(captures: list[Capture]) -> bytes:
    """Return the bytes of a segment."""
    return WARCINFO + b"".join(encode_capture(capture).data for capture in captures)


def records(data: bytes) -> list[bytes]:
    """Return the inflated records of a segment."""
    members = Members(io.BytesIO(data))
    found = []
    while members.open_next():
        found.append(b"".join(iter(members.read, b"")))
    return found


def packed(inflated: list[bytes]) -> bytes:
    """Return records as a segment."""
    return b"".join(compress_member(record) for record in inflated)


def written(directory: Path, data: bytes) -> Path:
    """Write a file to judge."""
    path = directory / "x.warc.gz"
    path.write_bytes(data)
    return path


def test_a_whole_segment_is_described(tmp_path: Path) -> None:
    """Size, captures, times and SHA-256 are those of the file; each entry is given once."""
    data = segment(CAPTURES)
    entries: list[IndexEntry] = []
    found = verify_segment(written(tmp_path, data), each=entries.append)
    assert (found.size_bytes, found.captures) == (len(data), 3)
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert (found.first_ms, found.last_ms) == (NOON_MS + 1000, NOON_MS + 86_401_000)
    assert [entry.url for entry in entries] == [capture.url for capture in CAPTURES]
    offset = len(WARCINFO)
    for entry, capture in zip(entries, CAPTURES, strict=True):
        encoded = encode_capture(capture)
        assert entry == replace(encoded.entry, offset=offset + encoded.entry.offset)
        offset += len(encoded.data)


def test_every_flipped_bit_is_detected(tmp_path: Path) -> None:
    """With the file's sum every flip is found; without it, every flip that changes a capture."""
    data = segment(CAPTURES[:2])
    sha256 = hashlib.sha256(data).hexdigest()
    captures = list(iter_captures(io.BytesIO(data)))
    unseen = 0
    bits = range(0, len(data) * 8, BIT_STEP)
    for bit in bits:
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        path = written(tmp_path, bytes(flipped))
        try:
            verify_segment(path)
        except DamageError:
            continue
        unseen += 1
        assert list(iter_captures(io.BytesIO(flipped))) == captures
        with pytest.raises(DamageError, match="SHA-256"):
            verify_segment(path, sha256)
    assert unseen < len(bits) // 50


def test_every_cut_is_detected_unless_between_captures(tmp_path: Path) -> None:
    """A file that ends early is whole only where a capture ended."""
    data = segment(CAPTURES)
    ends = {len(segment(CAPTURES[:count])) for count in range(4)}
    for cut in range(len(data)):
        path = written(tmp_path, data[:cut])
        if cut in ends:
            verify_segment(path)
        else:
            with pytest.raises(DamageError):
                verify_segment(path)


WHOLE = records(segment(CAPTURES[:1]))


def with_answer(old: bytes, new: bytes, *, once: bool = True) -> bytes:
    """Return a segment whose response record was changed."""
    assert old in WHOLE[2]
    return packed([*WHOLE[:2], WHOLE[2].replace(old, new, 1 if once else -1)])


SECOND = encode_capture(sample(2))
OTHER_BODY = segment([sample(1, b"<html>HELLO</html>")])


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "offset 0: the file is empty"),
        (b"".join(WHOLE), "offset 0: the file is not compressed"),
        (packed(WHOLE[1:]), "offset 0: the first record is no warcinfo"),
        (packed(WHOLE[:2]), "request without its response"),
        (packed([WHOLE[0], WHOLE[1], WHOLE[1], WHOLE[2]]), "request without its response"),
        (packed(WHOLE[:2]) + SECOND.data[SECOND.entry.offset :], "request without its response"),
        (packed([WHOLE[0], WHOLE[1] + WHOLE[2]]), "more than one record in a gzip member"),
        (packed([*WHOLE[:2], WHOLE[2] + b"\r\n"]), "more than one record in a gzip member"),
        (packed([*WHOLE[:2], WHOLE[2][:-2]]), "does not end with two line ends"),
        (packed([*WHOLE[:2], WHOLE[2][:-30]]), "bytes before its Content-Length"),
        (packed(WHOLE) + b"\0", "no gzip member begins here"),
        (packed(WHOLE) + compress_member(b""), "unexpected bytes behind the last record"),
        (packed(WHOLE[:1]) + compress_member(b"") + packed(WHOLE[1:]), "between two records"),
        (
            packed([*WHOLE[:2], WHOLE[2].replace(b"<html>hello", b"<html>hallo")]),
            "WARC-Block-Digest sha256:[0-9a-f]{64}, computed sha256:",
        ),
        (
            packed([*WHOLE[:2], WHOLE[2].replace(b"WARC-Payload-Digest", b"WARC-Payload-Degist")]),
            "WARC-Payload-Digest is missing, computed",
        ),
        (
            packed([WHOLE[0].replace(b"software: prsm", b"software: PRSM"), *WHOLE[1:]]),
            "offset 0: WARC-Block-Digest",
        ),
        (with_answer(b"Content-Length: 7", b"Content-Length: x"), "Content-Length 'x"),
        (with_answer(b"Content-Length: 7", b"Content-Length: 99999999"), "record of 99999999"),
        (with_answer(b"WARC-Type", b"WARC-Tipe"), "no WARC-Type"),
        (with_answer(b"WARC/1.1", b"WARC/9.9"), "WARC/9.9"),
        (with_answer(b"HTTP/1.1 200 OK\r\n", b"", once=False), "bytes before its Content"),
        (with_answer(b"utf-8\r\n\r\n", b"utf-8: \r\n"), "HTTP header without an end"),
        (packed([WHOLE[0], *(each.replace(b"http:", b"ftps:") for each in WHOLE[1:])]), "ftps"),
    ],
)  # fmt: skip
def test_what_is_not_as_written_is_named(tmp_path: Path, data: bytes, problem: str) -> None:
    """The message says what is wrong and at which offset."""
    with pytest.raises(DamageError, match=problem):
        verify_segment(written(tmp_path, data))


def test_a_forged_body_with_a_forged_block_digest_is_found(tmp_path: Path) -> None:
    """The payload digest is compared for itself."""
    forged = records(OTHER_BODY)[2]
    claimed = next(line for line in WHOLE[2].split(b"\r\n") if b"Payload" in line)
    actual = next(line for line in forged.split(b"\r\n") if b"Payload" in line)
    data = packed([*records(OTHER_BODY)[:2], forged.replace(actual, claimed)])
    with pytest.raises(DamageError, match="WARC-Payload-Digest"):
        verify_segment(written(tmp_path, data))


def test_another_gzip_header_is_found(tmp_path: Path) -> None:
    """A member that another program wrote is not taken for one of ours."""
    data = bytearray(packed(WHOLE))
    data[len(packed(WHOLE[:2])) + 4] = 9
    with pytest.raises(DamageError, match="gzip header differs"):
        verify_segment(written(tmp_path, bytes(data)))


def test_a_wrong_sum_is_found(tmp_path: Path) -> None:
    """The file may be a good segment, but not the one that was announced."""
    path = written(tmp_path, packed(WHOLE))
    with pytest.raises(DamageError, match=f"SHA-256 is .*, expected {'0' * 64}"):
        verify_segment(path, "0" * 64)
    assert verify_segment(path, hashlib.sha256(packed(WHOLE)).hexdigest().upper()).captures == 1


@pytest.mark.parametrize("make", [warcio_file, lambda: warcio_file(compressed=False)])
def test_segments_of_others_are_not_ours(tmp_path: Path, make: Callable[[], bytes]) -> None:
    """A foreign layout is refused with a reason; its captures can still be read."""
    with pytest.raises(DamageError):
        verify_segment(written(tmp_path, make()))


def test_an_empty_segment_has_no_times(tmp_path: Path) -> None:
    """A warcinfo alone is whole."""
    found = verify_segment(written(tmp_path, WARCINFO))
    assert (found.captures, found.first_ms, found.last_ms) == (0, None, None)

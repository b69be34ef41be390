"""The validators that other archives run, as commands, on a segment with every kind of record."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from shared.archive.capture import Capture
from shared.archive.encode import encode_capture
from shared.archive.errors import DamageError
from shared.archive.segment import SealedSegment
from shared.archive.verify import verify_segment
from shared.archive.writer import SegmentWriter
from tests.shared.archive.captures import CHUNKED, INFO, revisit_of, sample
from tests.shared.archive.foreign import foreign_records

NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 18\r\n\r\n"


def every_kind() -> list[Capture]:
    """Return one capture of each kind that a crawl can make."""
    return [
        sample(1),
        sample(2, header=CHUNKED),
        sample(3, header=b"HTTP/2 200 \r\ncontent-type: text/html\r\n\r\n"),
        sample(4, header=b"HTTP/1.1 200 OK\nA: b\n c\n \nTransfer-Encoding : chunked\n\n"),
        sample(5, b"", b"HTTP/1.1 204 No Content\r\n\r\n"),
        sample(6, b"gone", b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\n"),
        sample(7, b"", b"HTTP/1.1 301 Moved\r\nLocation: /8\r\nContent-Length: 0\r\n\r\n"),
        replace(sample(9), truncated="length"),
        replace(sample(10), truncated="time", ip="2001:db8::1"),
        replace(sample(11), request=b""),
        replace(sample(12), extra={"X-Robots": "noindex"}),
        sample(13, bytes(range(256)) * 1000),
        revisit_of(sample(1)),
        revisit_of(sample(2, header=CHUNKED)),
        replace(revisit_of(sample(1), "server-not-modified"), response_header=NOT_MODIFIED),
    ]


@pytest.fixture
def done(tmp_path: Path) -> SealedSegment:
    """Give a sealed segment of every kind."""
    writer = SegmentWriter(tmp_path, prefix="PRSM", agent="a.example", info=INFO)
    for capture in every_kind():
        writer.append(encode_capture(capture))
    segment = writer.seal()
    assert segment is not None
    return segment


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the environment."""
    program = Path(sys.executable).with_name(words[0])
    return subprocess.run([str(program), *words[1:]], capture_output=True, text=True, check=False)


def test_warcio_check_passes(done: SealedSegment) -> None:
    """`warcio check -v` finds the digest of every record that has its body right."""
    result = command("warcio", "check", "-v", str(done.path))
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("digest pass") == 1 + 14 + 12
    assert result.stdout.count("not checked (revisit)") == 3
    assert "fail" not in result.stdout


def test_fastwarc_check_passes(done: SealedSegment) -> None:
    """`fastwarc check` finds every block digest right."""
    result = command("fastwarc", "check", str(done.path))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "30 records were verified successfully" in result.stdout + result.stderr


def test_fastwarc_finds_the_payloads_too(done: SealedSegment, tmp_path: Path) -> None:
    """`fastwarc check -p` agrees on every response; a revisit's payload lies elsewhere."""
    writer = SegmentWriter(tmp_path, prefix="OTHER", agent="a", info=INFO)
    for capture in every_kind():
        if capture.revisit is None:
            writer.append(encode_capture(capture))
    segment = writer.seal()
    assert segment is not None
    result = command("fastwarc", "check", "-p", str(segment.path))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "fail" not in (result.stdout + result.stderr).lower().replace("(0 failed)", "")


def test_both_libraries_read_every_record(done: SealedSegment) -> None:
    """The libraries agree with each other on ids, digests and the number of records."""
    records = foreign_records(done.path.read_bytes())
    assert len(records) == 30
    assert all(record.block_ok for record in records)
    assert all(record.payload_ok for record in records if record.kind == "response")


def test_warcio_indexes_the_records_where_our_index_has_them(done: SealedSegment) -> None:
    """`warcio index` gives the offsets and lengths of our index."""
    result = command("warcio", "index", "-f", "offset,length,warc-type", str(done.path))
    assert result.returncode == 0, result.stderr
    theirs = {
        tuple(line.split('"')[3::4][:2])
        for line in result.stdout.splitlines()
        if '"response"' in line or '"revisit"' in line
    }
    ours = {
        (line.split('"offset": "')[1].split('"')[0], line.split('"length": "')[1].split('"')[0])
        for line in done.index_path.read_text().splitlines()
    }
    assert theirs == ours
    assert len(ours) == 15


def test_a_clipped_segment_that_passes_elsewhere_is_found_here(
    done: SealedSegment, tmp_path: Path
) -> None:
    """A file without its last trailer passes a foreign check, and not ours."""
    clipped = tmp_path / "clipped.warc.gz"
    clipped.write_bytes(done.path.read_bytes()[:-4])
    assert command("warcio", "check", str(clipped)).returncode == 0
    with pytest.raises(DamageError, match="the file ends inside this gzip member"):
        verify_segment(clipped)

"""One segment: appending, committing, sealing, and what a full or failing disk does to it."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from shared.archive.encode import encode_capture, encode_warcinfo
from shared.archive.errors import DiskFullError, SegmentBrokenError
from shared.archive.reader import iter_captures, read_capture
from shared.archive.segment import OpenSegment, SealedSegment
from shared.archive.verify import verify_segment
from shared.errors import ConflictError
from tests.shared.archive.captures import INFO, NOON_MS, as_read, revisit_of, sample
from tests.shared.archive.disks import SmallDisk, file_limit, mounted

NAME = "PRSM-20260101120000-00000-a.warc.gz"
WARCINFO = encode_warcinfo(INFO, NAME, NOON_MS)
BODY = os.urandom(2000)


def begun(directory: Path) -> OpenSegment:
    """Return a new segment."""
    return OpenSegment.create(directory / NAME, WARCINFO)


def sealed(directory: Path, count: int = 3) -> SealedSegment:
    """Return a sealed segment of some captures."""
    segment = begun(directory)
    for number in range(count):
        segment.append(encode_capture(sample(count - number)))
    return segment.seal()


def test_an_open_segment_cannot_be_taken_for_a_sealed_one(tmp_path: Path) -> None:
    """A growing file has `.open` behind its name and begins with its warcinfo."""
    segment = begun(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [NAME + ".open"]
    assert segment.open_path.read_bytes() == WARCINFO
    segment.close()


def test_append_says_where_the_capture_lies(tmp_path: Path) -> None:
    """The location gives the capture with its request, its response offset the response."""
    segment = begun(tmp_path)
    for capture in (sample(1), revisit_of(sample(1))):
        encoded = encode_capture(capture)
        place = segment.append(encoded)
        assert place.segment == NAME
        with segment.open_path.open("rb") as file:
            assert read_capture(file, place.offset) == as_read(capture, encoded.payload_digest)
            assert read_capture(file, place.response_offset).request == b""
            file.seek(place.offset)
            assert file.read(place.length) == encoded.data
    segment.close()


def test_sealing_leaves_segment_index_and_sum(tmp_path: Path) -> None:
    """The file loses `.open`; its index and its SHA-256 lie beside it."""
    done = sealed(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        NAME,
        NAME + ".cdxj",
        NAME + ".sha256",
    ]
    assert done.path == tmp_path / NAME
    assert done.sha256 == hashlib.sha256(done.path.read_bytes()).hexdigest()
    assert done.sum_path.read_text() == f"{done.sha256}  {NAME}\n"
    assert done.size_bytes == done.path.stat().st_size
    assert (done.captures, done.first_ms, done.last_ms) == (3, NOON_MS + 1000, NOON_MS + 3000)
    assert verify_segment(done.path, done.sha256).captures == 3


def test_the_index_is_sorted_and_leads_to_the_captures(tmp_path: Path) -> None:
    """Every line's offset and length cut out the record of its URL."""
    done = sealed(tmp_path, 12)
    lines = done.index_path.read_bytes().splitlines(keepends=True)
    assert lines == sorted(lines)
    assert len(lines) == 12
    data = done.path.read_bytes()
    for line in lines:
        key, _, text = line.decode().split(" ", 2)
        fields = json.loads(text)
        start, length = int(fields["offset"]), int(fields["length"])
        (stored,) = iter_captures(io.BytesIO(data[start : start + length]))
        assert stored.capture.url == fields["url"]
        assert key == "jp,example)" + fields["url"].removeprefix("http://www.example.jp")
        assert (fields["status"], fields["mime"], fields["filename"]) == ("200", "text/html", NAME)
        assert fields["digest"] == stored.capture.payload_digest


def test_a_segment_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    """Neither an open nor a sealed segment loses its name to another."""
    segment = begun(tmp_path)
    with pytest.raises(FileExistsError):
        begun(tmp_path)
    segment.append(encode_capture(sample()))
    (tmp_path / NAME).write_bytes(b"precious")
    with pytest.raises(ConflictError, match="exists already"):
        segment.seal()
    with pytest.raises(FileExistsError):
        begun(tmp_path)
    assert (tmp_path / NAME).read_bytes() == b"precious"
    segment.close()


def test_commit_syncs_once_for_many_appends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller groups captures; without a new one there is nothing to sync."""
    segment = begun(tmp_path)
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    for number in range(5):
        segment.append(encode_capture(sample(number)))
    segment.commit()
    segment.commit()
    assert len(synced) == 1
    segment.close()


def test_a_lost_sync_breaks_the_segment_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a failed sync it is unknown what is on disk, so that only recovery goes on."""
    segment = begun(tmp_path)
    segment.append(encode_capture(sample()))

    def fail(file: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(SegmentBrokenError, match="recover it"):
            segment.commit()
    for call in (segment.commit, segment.seal, lambda: segment.append(encode_capture(sample()))):
        with pytest.raises(SegmentBrokenError):
            call()
    segment.close()
    assert segment.open_path.exists()


def whole(path: Path) -> int:
    """Return how many captures an open segment holds; fails where it is not whole."""
    return verify_segment(path).captures


def test_a_full_disk_leaves_no_half_capture(tmp_path: Path) -> None:
    """However little fits, the file ends with the last whole capture, and a retry succeeds."""
    encoded = [encode_capture(sample(number, BODY)) for number in range(2)]
    room = len(WARCINFO) + len(encoded[0].data)
    for fits in range(0, len(encoded[1].data), 97):
        folder = tmp_path / str(fits)
        folder.mkdir()
        disk = SmallDisk(room + fits)
        segment = OpenSegment.create(folder / NAME, WARCINFO, disk.open)
        segment.append(encoded[0])
        for _ in range(2):
            with pytest.raises(DiskFullError, match="nothing was written; free space and try"):
                segment.append(encoded[1])
            assert segment.open_path.stat().st_size == segment.size_bytes == room
            assert whole(segment.open_path) == 1
        disk.free_bytes = 1 << 20
        place = segment.append(encoded[1])
        assert place.offset == room
        done = segment.seal()
        assert verify_segment(done.path, done.sha256).captures == 2


def test_a_segment_that_cannot_begin_leaves_no_file(tmp_path: Path) -> None:
    """Without room for the warcinfo there is no file, and a retry succeeds."""
    disk = SmallDisk(10)
    with pytest.raises(DiskFullError):
        OpenSegment.create(tmp_path / NAME, WARCINFO, disk.open)
    assert list(tmp_path.iterdir()) == []
    begun(tmp_path).close()


def test_a_write_that_cannot_be_undone_breaks_the_segment(tmp_path: Path) -> None:
    """Where the file cannot be cut back, nothing more is appended behind the torn capture."""
    disk = SmallDisk(len(WARCINFO) + 50)
    segment = OpenSegment.create(tmp_path / NAME, WARCINFO, disk.open)
    disk.broken = True
    with pytest.raises(SegmentBrokenError):
        segment.append(encode_capture(sample()))
    disk.free_bytes = 1 << 20
    with pytest.raises(SegmentBrokenError):
        segment.append(encode_capture(sample()))
    segment.close()


def test_the_kernel_s_own_limit_leaves_no_half_capture(tmp_path: Path) -> None:
    """A limit that the kernel enforces in the middle of a write is undone as well."""
    encoded = encode_capture(sample(0, BODY))
    segment = begun(tmp_path)
    with file_limit(len(WARCINFO) + len(encoded.data) // 2), pytest.raises(DiskFullError):
        segment.append(encoded)
    assert segment.open_path.read_bytes() == WARCINFO
    segment.append(encoded)
    assert whole(segment.open_path) == 1
    segment.close()


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """On a full file system the segment stays whole, cannot be sealed, and goes on with room."""
    with (
        mounted(tmp_path / "disk", 64 << 10) as folder,
        closing(begun(folder)) as segment,
    ):
        ballast = folder / "ballast"
        ballast.write_bytes(bytes(16 << 10))
        appended = 0
        with pytest.raises(DiskFullError):
            while True:
                segment.append(encode_capture(sample(appended, os.urandom(4096))))
                appended += 1
        assert whole(segment.open_path) == appended > 5
        with ballast.open("ab", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while file.write(bytes(512)):
                pass
        with pytest.raises(DiskFullError, match="free space and try again"):
            segment.seal()
        assert {path.name for path in folder.iterdir()} == {"ballast", NAME + ".open"}
        ballast.unlink()
        segment.append(encode_capture(sample(appended)))
        done = segment.seal()
        assert verify_segment(done.path, done.sha256).captures == appended + 1


def test_close_can_be_called_twice(tmp_path: Path) -> None:
    """Letting go of a segment twice does no harm, and leaves it open for recovery."""
    segment = begun(tmp_path)
    segment.close()
    segment.close()
    assert segment.open_path.exists()

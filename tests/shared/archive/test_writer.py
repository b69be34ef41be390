"""The writer: names, rotation, and going on after trouble."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from shared.archive.encode import EncodedCapture, encode_capture
from shared.archive.errors import DiskFullError
from shared.archive.reader import iter_captures
from shared.archive.recover import recover_segment
from shared.archive.segment import OpenFile, SealedSegment
from shared.archive.verify import verify_segment
from shared.archive.writer import SegmentWriter, segment_name
from shared.errors import SettingError
from tests.shared.archive.captures import INFO, NOON_MS, sample
from tests.shared.archive.disks import SmallDisk
from tests.shared.archive.foreign import foreign_records


def sealed_in(folder: Path) -> list[SealedSegment]:
    """Return the sealed segments of a folder, oldest first, each verified by its sum file."""
    found = []
    for path in sorted(folder.glob("*.warc.gz")):
        index_path, sum_path = (path.with_name(path.name + end) for end in (".cdxj", ".sha256"))
        sha256 = sum_path.read_text().split()[0]
        whole = verify_segment(path, sha256)
        times = (whole.first_ms or 0, whole.last_ms or 0)
        found.append(
            SealedSegment(
                path, path.stat().st_size, whole.captures, sha256, *times, index_path, sum_path
            )
        )
    return found


def writer_in(
    directory: Path, max_bytes: int = 1_000_000, open_file: OpenFile = io.FileIO, serial: int = 0
) -> SegmentWriter:
    """Return a writer whose clock stands still."""
    return SegmentWriter(
        directory,
        prefix="PRSM",
        agent="agent-1.example",
        info=INFO,
        max_bytes=max_bytes,
        first_serial=serial,
        now_ms=lambda: NOON_MS,
        open_file=open_file,
    )


def encoded(number: int = 0) -> EncodedCapture:
    """Return an encoded sample."""
    return encode_capture(sample(number))


def test_names_follow_the_annex_of_the_standard(tmp_path: Path) -> None:
    """A name has prefix, 14 digits of UTC, serial and agent; warcinfo repeats it."""
    writer = writer_in(tmp_path)
    place = writer.append(encoded())
    assert place.segment == "PRSM-20260101120000-00000-agent-1.example.warc.gz"
    done = writer.seal()
    assert done is not None
    assert done.path.name == place.segment
    warcinfo = foreign_records(done.path.read_bytes())[0]
    assert warcinfo.fields["WARC-Filename"] == place.segment


def test_nothing_is_opened_before_the_first_capture(tmp_path: Path) -> None:
    """A writer without captures leaves no file."""
    writer = writer_in(tmp_path)
    writer.commit()
    assert writer.seal() is None
    writer.close()
    assert list(tmp_path.iterdir()) == []


def test_a_full_segment_is_sealed_and_the_next_one_begun(tmp_path: Path) -> None:
    """No segment is larger than its limit, no capture is lost or split, serials go up."""
    writer = writer_in(tmp_path, max_bytes=5000)
    places = [writer.append(encoded(number)) for number in range(40)]
    writer.seal()
    done = sealed_in(tmp_path)
    assert len(done) > 3
    assert all(segment.size_bytes <= 5000 for segment in done)
    assert sum(segment.captures for segment in done) == 40
    assert [int(segment.path.name.split("-")[2]) for segment in done] == list(range(len(done)))
    assert [place.segment for place in places] == sorted(place.segment for place in places)
    urls = []
    for segment in done:
        assert verify_segment(segment.path, segment.sha256).captures == segment.captures
        with segment.path.open("rb") as file:
            urls += [stored.capture.url for stored in iter_captures(file)]
    assert urls == [sample(number).url for number in range(40)]


def test_a_capture_above_the_limit_gets_its_own_segment(tmp_path: Path) -> None:
    """A page larger than a segment is kept all the same."""
    writer = writer_in(tmp_path, max_bytes=100)
    for number in range(3):
        writer.append(encoded(number))
    writer.seal()
    assert [segment.captures for segment in sealed_in(tmp_path)] == [1, 1, 1]


def test_serials_go_on_from_the_directory(tmp_path: Path) -> None:
    """A name is not given twice, also when the clock stands still or the directory is emptied."""
    for name in (
        "PRSM-20250101000000-00007-agent-1.example.warc.gz.open",
        "PRSM-20250101000000-00003-agent-1.example.warc.gz",
        "PRSM-20250101000000-00011-agent-1.example.warc.gz.cdxj",
        "PRSM-2025-99999-x.warc.gz",
        "notes.txt",
    ):
        (tmp_path / name).touch()
    assert writer_in(tmp_path).next_serial == 12
    assert writer_in(tmp_path, serial=500).next_serial == 500


def test_a_name_that_is_taken_is_passed_over(tmp_path: Path) -> None:
    """Two writers of one directory do not write one file."""
    first, second = writer_in(tmp_path), writer_in(tmp_path)
    names = [writer.append(encoded()).segment for writer in (first, second)]
    assert len(set(names)) == 2
    first.close()
    second.close()


def test_a_full_disk_can_be_tried_again(tmp_path: Path) -> None:
    """Whatever the writer was doing when the disk was full, the same append succeeds later."""
    disk = SmallDisk(0)
    writer = writer_in(tmp_path, max_bytes=3000, open_file=disk.open)
    refused = 0
    for number in range(20):
        while True:
            try:
                writer.append(encoded(number))
                break
            except DiskFullError:
                refused += 1
                disk.free_bytes += 300
    writer.seal()
    urls = []
    for segment in sealed_in(tmp_path):
        verify_segment(segment.path, segment.sha256)
        with segment.path.open("rb") as file:
            urls += [stored.capture.url for stored in iter_captures(file)]
    assert urls == [sample(number).url for number in range(20)]
    assert refused > 20


def test_a_closed_writer_leaves_a_segment_to_go_on_with(tmp_path: Path) -> None:
    """After a stop the next writer takes the open segment over and goes on in it."""
    writer = writer_in(tmp_path)
    writer.append(encoded(1))
    writer.close()
    (left,) = tmp_path.iterdir()
    found = recover_segment(left)
    assert found.segment is not None
    again = writer_in(tmp_path)
    again.adopt(found.segment)
    again.append(encoded(2))
    done = again.seal()
    assert done is not None
    assert done.path.name == left.name.removesuffix(".open")
    assert verify_segment(done.path, done.sha256).captures == 2
    assert len(done.index_path.read_bytes().splitlines()) == 2


def test_an_adopted_segment_without_captures_is_not_kept(tmp_path: Path) -> None:
    """What holds only a warcinfo goes away when it would be sealed."""
    writer = writer_in(tmp_path)
    writer.append(encoded())
    writer.close()
    (left,) = tmp_path.iterdir()
    data = left.read_bytes()
    left.write_bytes(data[: -len(encoded().data)])
    found = recover_segment(left)
    assert found.segment is not None
    writer.adopt(found.segment)
    writer.commit()
    assert writer.seal() is None
    assert list(tmp_path.iterdir()) == []


def test_adopting_seals_what_was_open(tmp_path: Path) -> None:
    """Several recovered segments can be adopted; all but the last are sealed, empty ones go."""
    for number in range(3):
        writer = writer_in(tmp_path)
        if number:
            writer.append(encoded(number))
        else:
            writer.append(encoded(9))
        writer.close()
    again = writer_in(tmp_path)
    for path in sorted(tmp_path.iterdir()):
        found = recover_segment(path)
        assert found.segment is not None
        again.adopt(found.segment)
    assert len(sealed_in(tmp_path)) == 2
    assert again.open_segment is not None
    again.close()


@pytest.mark.parametrize("prefix", ["", "a-b", "../a", "a/b", "a b", "é", "x" * 33, "a\n"])
def test_a_prefix_that_is_no_part_of_a_name_is_refused(prefix: str) -> None:
    """A setting cannot lead out of the directory or break the name's grammar."""
    with pytest.raises(SettingError, match="segment prefix"):
        segment_name(prefix, NOON_MS, 0, "a")


@pytest.mark.parametrize("agent", ["", "../a", "a/b", ".hidden", "a b", "x" * 181, "a\n", "é"])
def test_an_agent_that_is_no_part_of_a_name_is_refused(tmp_path: Path, agent: str) -> None:
    """The writer refuses at its start, not at its first capture."""
    with pytest.raises(SettingError, match="agent name"):
        SegmentWriter(tmp_path, prefix="PRSM", agent=agent, info=INFO)


def test_a_limit_below_one_byte_is_refused(tmp_path: Path) -> None:
    """The message says what the default is."""
    with pytest.raises(SettingError, match=re.escape("max_bytes = 0: must be >= 1")):
        SegmentWriter(tmp_path, prefix="PRSM", agent="a", info=INFO, max_bytes=0)


def test_the_longest_name_fits_a_file_system(tmp_path: Path) -> None:
    """The longest agent name still leaves room for every suffix."""
    writer = SegmentWriter(
        tmp_path, prefix="P" * 32, agent="a" * 180, info=replace(INFO, hostname="h")
    )
    writer.append(encoded())
    assert writer.seal() is not None

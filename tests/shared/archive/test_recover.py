"""Recovery: what is whole stays, what is torn goes, and nothing else happens."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from shared.archive.encode import encode_capture, encode_warcinfo
from shared.archive.errors import DamageError
from shared.archive.reader import iter_captures
from shared.archive.recover import recover_segment
from shared.archive.segment import OpenSegment
from shared.archive.verify import verify_segment
from shared.errors import ConflictError
from tests.shared.archive.captures import INFO, NOON_MS, revisit_of, sample

ROOT = Path(__file__).resolve().parents[3]
NAME = "PRSM-20260101120000-00000-a.warc.gz"
WARCINFO = encode_warcinfo(INFO, NAME, NOON_MS)
CAPTURES = [sample(1), revisit_of(sample(1)), sample(2, b"x" * 300)]


@dataclass(frozen=True)
class Torn:
    """A small segment and the offsets behind its warcinfo and each whole capture."""

    data: bytes
    ends: list[int]

    def kept(self, cut: int) -> int:
        """Return the last of the ends that a cut leaves, 0 for none."""
        return max([end for end in self.ends if end <= cut], default=0)


def small() -> Torn:
    data, ends = WARCINFO, [len(WARCINFO)]
    for capture in CAPTURES:
        data += encode_capture(capture).data
        ends.append(len(data))
    return Torn(data, ends)


def left_open(directory: Path, data: bytes) -> Path:
    """Write what a killed process left."""
    path = directory / f"{NAME}.open"
    path.write_bytes(data)
    return path


def test_a_cut_at_every_byte_recovers_to_whole_captures(tmp_path: Path) -> None:
    """Wherever a kill tore the file, recovery keeps every whole capture and nothing else."""
    torn = small()
    for cut in range(len(torn.data) + 1):
        path = left_open(tmp_path, torn.data[:cut])
        found = recover_segment(path)
        kept = torn.kept(cut)
        assert (found.kept_bytes, found.cut_bytes) == (kept, cut - kept), cut
        assert (found.problem is None) == (cut == kept != 0), cut
        if kept == 0:
            assert found.segment is None
            assert not path.exists()
            continue
        assert found.captures == torn.ends.index(kept)
        assert path.read_bytes() == torn.data[:kept]
        assert found.segment is not None
        found.segment.close()


@pytest.mark.parametrize("tail", [bytes(4096), b"\x1f\x8b\x08" + bytes(50), b"WARC/1.1", b"\xff"])
def test_what_a_power_loss_left_behind_is_cut(tmp_path: Path, tail: bytes) -> None:
    """Zeros and other remains behind the last record are no capture."""
    torn = small()
    found = recover_segment(left_open(tmp_path, torn.data + tail))
    assert (found.kept_bytes, found.cut_bytes) == (len(torn.data), len(tail))
    assert found.captures == 3
    assert found.problem is not None
    assert found.segment is not None
    found.segment.close()


def test_a_segment_without_captures_is_not_sealed(tmp_path: Path) -> None:
    """A warcinfo alone can be gone on with or discarded, but is no segment to keep."""
    found = recover_segment(left_open(tmp_path, WARCINFO + b"torn"))
    assert (found.captures, found.kept_bytes, found.cut_bytes) == (0, len(WARCINFO), 4)
    assert found.segment is not None
    with pytest.raises(ConflictError, match="has no capture"):
        found.segment.seal()
    found.segment.discard()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cut", [0, 1, 200])
def test_a_recovered_segment_goes_on_as_if_nothing_had_happened(tmp_path: Path, cut: int) -> None:
    """Appending and sealing after recovery give the file that an undisturbed run gives."""
    torn = small()
    found = recover_segment(left_open(tmp_path, torn.data[: len(torn.data) - cut]))
    assert found.segment is not None
    if cut:
        found.segment.append(encode_capture(CAPTURES[2]))
    done = found.segment.seal()
    assert done.path.read_bytes() == torn.data
    assert verify_segment(done.path, done.sha256).captures == 3
    assert (done.captures, done.first_ms) == (3, CAPTURES[0].fetched_at_ms)

    calm = tmp_path / "calm"
    calm.mkdir()
    undisturbed = OpenSegment.create(calm / NAME, WARCINFO)
    for capture in CAPTURES:
        undisturbed.append(encode_capture(capture))
    assert undisturbed.seal().index_path.read_bytes() == done.index_path.read_bytes()


def test_a_crash_while_sealing_is_mended(tmp_path: Path) -> None:
    """Index and sum that were written before the rename are written again."""
    torn = small()
    path = left_open(tmp_path, torn.data)
    (tmp_path / f"{NAME}.cdxj").write_bytes(b"old")
    (tmp_path / f"{NAME}.sha256.tmp").write_bytes(b"old")
    found = recover_segment(path)
    assert found.segment is not None
    done = found.segment.seal()
    assert len(done.index_path.read_bytes().splitlines()) == 3
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        NAME,
        f"{NAME}.cdxj",
        f"{NAME}.sha256",
    ]


def test_damage_in_the_middle_cuts_all_behind_it_and_says_where(tmp_path: Path) -> None:
    """A broken record ends what can be trusted; the report names its offset."""
    torn = small()
    data = bytearray(torn.data)
    data[torn.ends[1] + 60] ^= 0x55
    found = recover_segment(left_open(tmp_path, bytes(data)))
    assert found.kept_bytes == torn.ends[1]
    assert found.problem is not None
    assert found.problem.params["offset"] == torn.ends[1]
    assert found.segment is not None
    found.segment.close()


def test_a_sealed_segment_is_never_touched(tmp_path: Path) -> None:
    """A name without `.open` is immutable, damaged or not."""
    path = tmp_path / NAME
    path.write_bytes(small().data[:-5])
    with pytest.raises(ConflictError, match="a sealed segment does not change"):
        recover_segment(path)
    assert path.read_bytes() == small().data[:-5]


def test_a_segment_that_is_written_is_not_recovered(tmp_path: Path) -> None:
    """While its writer lives, a segment is locked; afterwards it is not."""
    segment = OpenSegment.create(tmp_path / NAME, WARCINFO)
    with pytest.raises(ConflictError, match="another process writes this segment"):
        recover_segment(segment.open_path)
    segment.append(encode_capture(sample()))
    segment.close()
    found = recover_segment(segment.open_path)
    assert found.captures == 1
    assert found.segment is not None
    found.segment.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from shared.archive.encode import encode_capture
from shared.archive.writer import SegmentWriter
from tests.shared.archive.captures import INFO, sample
writer = SegmentWriter(Path(sys.argv[1]), prefix="PRSM", agent="a", info=INFO)
for number in range(50):
    writer.append(encode_capture(sample(number)))
    if number == 30:
        writer.commit()
writer.open_segment._file.write(encode_capture(sample(50)).data[:321])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_writer_loses_only_the_torn_capture(tmp_path: Path) -> None:
    """After kill -9 every capture whose append had returned is there, and the lock is free."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    (path,) = tmp_path.iterdir()
    found = recover_segment(path)
    assert (found.captures, found.cut_bytes) == (50, 321)
    assert found.segment is not None
    sealed = found.segment.seal()
    with sealed.path.open("rb") as file:
        urls = [stored.capture.url for stored in iter_captures(file)]
    assert urls == [sample(number).url for number in range(50)]
    assert verify_segment(sealed.path, sealed.sha256).captures == 50


def test_an_unmended_cut_is_damage_to_a_strict_reader(tmp_path: Path) -> None:
    """What recovery would cut, verification reports."""
    torn = small()
    path = left_open(tmp_path, torn.data[:-1])
    with pytest.raises(DamageError) as caught:
        verify_segment(path)
    assert caught.value.offset > torn.ends[2]

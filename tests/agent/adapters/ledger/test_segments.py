"""Segments of the ledger: sealed when full, with the links beside them."""

from __future__ import annotations

import gzip
import sqlite3
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path

import pytest

from agent.adapters.ledger import SqliteLedger, segments
from agent.adapters.ledger.database import DATABASE, Query
from agent.errors import HomeError
from shared.archive.capture import Capture
from shared.archive.cdxj import cdxj_line
from shared.archive.encode import EncodedCapture, encode_capture
from shared.archive.errors import DiskFullError
from shared.archive.reader import iter_captures
from shared.archive.rewritten import next_name
from shared.archive.segment import OPEN_SUFFIX
from shared.archive.verify import verify_segment
from shared.archive.writer import SegmentWriter
from tests.agent.adapters.installation import OPTIONS, captures_of, open_ledger

SMALL = replace(OPTIONS, max_segment_bytes=3000)
HEADER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def capture(number: int) -> EncodedCapture:
    return encode_capture(
        Capture(f"http://a.example/{number}", 1_700_000_000_000 + number, b"", HEADER, b"<p>")
    )


def append(ledger: SqliteLedger, number: int) -> None:
    ledger.append_captures([(capture(number), (f"http://b.example/{number}",))])


def page(number: int) -> str:
    return f"http://a.example/{number}"


def files(folder: Path, pattern: str) -> list[Path]:
    return sorted((folder / "segments").glob(pattern))


def links(folder: Path) -> list[bytes]:
    paths = [*files(folder, "*.links.gz"), *files(folder, "*.links.gz.open")]
    return [line for path in paths for line in gzip.decompress(path.read_bytes()).splitlines()]


def line(number: int) -> bytes:
    return f"http://b.example/{number}\thttp://a.example/{number}".encode()


def test_a_full_segment_is_sealed_at_a_commit(tmp_path: Path) -> None:
    """Sealed segments verify, have their index and links beside them, and are full."""
    ledger = open_ledger(tmp_path, SMALL)
    for number in range(20):
        append(ledger, number)
        ledger.commit()
    ledger.seal_segment()
    ledger.close()
    sealed = files(tmp_path, "*.warc.gz")
    assert len(sealed) > 2
    assert sum(verify_segment(path).captures for path in sealed) == 20
    for path in sealed:
        assert path.with_name(path.name + ".cdxj").exists()
        assert path.with_name(path.name + ".sha256").exists()
        assert path.with_name(path.name + ".links.gz").exists()
    assert files(tmp_path, "*.open") == []
    assert captures_of(tmp_path) == [page(number) for number in range(20)]
    assert sorted(links(tmp_path)) == sorted(line(number) for number in range(20))


@pytest.mark.parametrize("how", ["full", "asked"])
def test_a_sealed_segment_may_be_taken_away_at_once(tmp_path: Path, how: str) -> None:
    """The ledger does not ask for a segment again that it has sealed."""
    ledger = open_ledger(tmp_path, SMALL if how == "full" else OPTIONS)
    for number in range(9):
        append(ledger, number)
    ledger.commit()
    if how == "asked":
        ledger.seal_segment()
    ledger.abandon()
    for path in files(tmp_path, "*"):
        path.unlink()
    open_ledger(tmp_path).close()


def test_nothing_uncommitted_is_ever_sealed(tmp_path: Path) -> None:
    """A segment grows beyond its limit rather than being sealed between two commits."""
    ledger = open_ledger(tmp_path, SMALL)
    for number in range(20):
        append(ledger, number)
    assert files(tmp_path, "*.warc.gz") == []
    ledger.abandon()
    ledger = open_ledger(tmp_path, SMALL)
    assert captures_of(tmp_path) == []
    assert links(tmp_path) == []
    ledger.close()


def test_links_go_back_with_their_captures(tmp_path: Path) -> None:
    """What was appended after the last commit is in neither file after a crash."""
    ledger = open_ledger(tmp_path)
    append(ledger, 1)
    ledger.commit()
    append(ledger, 2)
    ledger.abandon()
    ledger = open_ledger(tmp_path)
    append(ledger, 3)
    ledger.commit()
    ledger.abandon()
    assert captures_of(tmp_path) == [page(1), page(3)]
    assert links(tmp_path) == [line(1), line(3)]


def test_pages_without_links_have_no_list(tmp_path: Path) -> None:
    """A list is made with the first link."""
    ledger = open_ledger(tmp_path)
    ledger.append_captures([(capture(1), ())])
    ledger.commit()
    assert files(tmp_path, "*.links.gz*") == []
    ledger.close()


@pytest.mark.parametrize("step", ["links", "segment"])
def test_a_crash_while_sealing_is_mended(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever of the renames was done, the next start finds every capture once."""
    ledger = open_ledger(tmp_path)
    append(ledger, 1)
    ledger.commit()
    [segment] = files(tmp_path, "*.warc.gz.open")
    [list_] = files(tmp_path, "*.links.gz.open")
    ledger.abandon()
    list_.rename(list_.with_name(list_.name.removesuffix(".open")))
    if step == "segment":
        segment.rename(segment.with_name(segment.name.removesuffix(".open")))
    ledger = open_ledger(tmp_path)
    append(ledger, 2)
    ledger.commit()
    ledger.abandon()
    assert captures_of(tmp_path) == [page(1), page(2)]
    assert sorted(links(tmp_path)) == [line(1), line(2)]


def test_segments_of_a_lost_ledger_are_kept(tmp_path: Path) -> None:
    """A new ledger seals what lies in its folder and goes on with new names."""
    ledger = open_ledger(tmp_path)
    append(ledger, 1)
    ledger.commit()
    ledger.abandon()
    for path in tmp_path.glob(f"{DATABASE}*"):
        path.unlink()
    ledger = open_ledger(tmp_path)
    assert [verify_segment(path).captures for path in files(tmp_path, "*.warc.gz")] == [1]
    append(ledger, 2)
    ledger.commit()
    assert captures_of(tmp_path) == [page(1), page(2)]
    assert sorted(links(tmp_path)) == [line(1), line(2)]
    ledger.close()


def test_segments_of_a_lost_ledger_outlast_a_start_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No room to seal them, or a kill: the next start still knows that its ledger is new."""
    ledger = open_ledger(tmp_path)
    append(ledger, 1)
    ledger.commit()
    ledger.abandon()
    for path in tmp_path.glob(f"{DATABASE}*"):
        path.unlink()

    def full(_: SegmentWriter) -> None:
        raise DiskFullError("no room")

    with monkeypatch.context() as patch, pytest.raises(DiskFullError):
        patch.setattr(SegmentWriter, "seal", full)
        open_ledger(tmp_path)
    open_ledger(tmp_path).close()
    assert captures_of(tmp_path) == [page(1)]


def test_a_draft_without_withdrawn_hosts_is_no_segment(tmp_path: Path) -> None:
    """Killed in the middle of it, then the ledger was moved away: the one before is what counts."""
    ledger = open_ledger(tmp_path)
    append(ledger, 1)
    append(ledger, 2)
    ledger.seal_segment()
    ledger.close()
    for path in tmp_path.glob(f"{DATABASE}*"):
        path.unlink()
    (whole,) = files(tmp_path, "*.warc.gz")
    draft = whole.with_name(next_name(whole.name) + OPEN_SUFFIX)
    with whole.open("rb") as segment:
        half = next(islice(iter_captures(segment), 1, None)).offset
    draft.write_bytes(whole.read_bytes()[:half])  # the first capture, and the second not yet
    open_ledger(tmp_path).close()
    assert files(tmp_path, "*.warc.gz") == [whole]
    assert not draft.exists()


def test_a_segment_that_lost_committed_bytes_is_refused(tmp_path: Path) -> None:
    """The ledger does not go on as if pages were there that are not."""
    ledger = open_ledger(tmp_path)
    append(ledger, 1)
    append(ledger, 2)
    ledger.commit()
    ledger.abandon()
    [segment] = files(tmp_path, "*.warc.gz.open")
    whole = segment.read_bytes()
    segment.write_bytes(whole[:-1])
    with pytest.raises(HomeError, match="but missing"):
        open_ledger(tmp_path)
    flipped = bytearray(whole)
    flipped[-100] ^= 255
    segment.write_bytes(bytes(flipped))
    with pytest.raises(HomeError, match="damaged"):
        open_ledger(tmp_path)
    for path in tmp_path.glob(f"{DATABASE}*"):  # what it says helps
        path.unlink()
    open_ledger(tmp_path).close()
    assert captures_of(tmp_path) == [page(1)]


def sealed_index(folder: Path) -> tuple[list[bytes], str]:
    """Return the index of the one sealed segment, and the sum that stands beside it."""
    (index,) = files(folder, "*.warc.gz.cdxj")
    (summed,) = files(folder, "*.warc.gz.sha256")
    (segment,) = files(folder, "*.warc.gz")
    assert summed.read_text().split()[0] == sha256(segment.read_bytes()).hexdigest()
    return index.read_bytes().splitlines(), segment.name


def work(ledger: SqliteLedger, numbers: range) -> None:
    for number in numbers:
        append(ledger, number)
        if number % 3 == 2:
            ledger.commit()


def test_a_start_does_not_read_the_records_of_the_open_segment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes by the rows of its index: of a gigabyte they are read in seconds."""
    with monkeypatch.context() as patch:
        patch.setattr(segments, "recover_segment", None)
        for start in range(0, 600, 200):  # more rows than are read at a time
            ledger = open_ledger(tmp_path)
            work(ledger, range(start, start + 200))
            ledger.abandon()  # up to two captures were not committed
        ledger = open_ledger(tmp_path)
        ledger.seal_segment()
        ledger.close()
    lines, name = sealed_index(tmp_path)
    kept = captures_of(tmp_path)
    assert kept == [page(number) for number in range(600) if number not in (198, 199, 399)]
    assert len(lines) == len(kept)
    found: list[bytes] = []
    verified = verify_segment(
        files(tmp_path, "*.warc.gz")[0],
        each=lambda entry: found.append(cdxj_line(entry, entry.offset, name).rstrip(b"\n")),
    )
    assert lines == sorted(found)
    assert verified.captures == len(kept)


def test_a_segment_that_an_older_program_wrote_to_is_read_as_a_whole(tmp_path: Path) -> None:
    """It knows no rows: those that are there end before what it committed."""
    ledger = open_ledger(tmp_path)
    work(ledger, range(9))
    ledger.abandon()
    connection = sqlite3.connect(tmp_path / DATABASE)
    assert connection.execute("DELETE FROM open_index WHERE id = 2").rowcount == 1
    connection.commit()
    connection.close()
    for start in (9, 18):  # nor are there rows of what comes behind a gap
        ledger = open_ledger(tmp_path)
        work(ledger, range(start, start + 9))
        assert ledger.database.ask(Query[tuple[int]]("SELECT * FROM open_index")) == []
        ledger.abandon()
    ledger = open_ledger(tmp_path)
    ledger.seal_segment()
    lines, _ = sealed_index(tmp_path)
    assert len(lines) == 27
    work(ledger, range(27, 30))
    assert ledger.database.ask(Query[tuple[int]]("SELECT captures FROM open_index")) == [(3,)]
    ledger.close()


def test_of_a_sealed_segment_no_rows_are_kept(tmp_path: Path) -> None:
    """They are of use until then only."""
    ledger = open_ledger(tmp_path)
    work(ledger, range(9))
    assert ledger.database.ask(Query[tuple[int]]("SELECT count(*) FROM open_index")) == [(3,)]
    ledger.seal_segment()
    assert ledger.database.ask_committed(Query[tuple[int]]("SELECT count(*) FROM open_index")) == [
        (0,)
    ]
    ledger.close()


def test_two_processes_cannot_write_one_segment(tmp_path: Path) -> None:
    """The second one is told so."""
    ledger = open_ledger(tmp_path)
    append(ledger, 1)
    ledger.commit()
    with pytest.raises(Exception, match="another process"):
        open_ledger(tmp_path)
    ledger.close()

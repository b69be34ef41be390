"""Refused bodies are kept for a while, and never without limit."""

from __future__ import annotations

import json
from pathlib import Path

from manager.store import Rejected, Spool, Spooled
from shared.errors import Fault, LineError
from shared.messages import Message

CRAWL_LOG = Message("segments.kind_log")
BAD = Message.of_text("it is bad")


def spooled(folder: Path, body: bytes) -> Spooled:
    folder.mkdir(exist_ok=True)
    writer = Spool(folder, free_bytes=lambda _: 10**15).begin(
        CRAWL_LOG, limit_bytes=10**6, declared_bytes=None
    )
    writer.write(body)
    return writer.finish()


def bodies(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix == ".body"]


def test_a_body_is_kept_with_its_reason(tmp_path: Path) -> None:
    """The administrator finds the body as it came and the reason beside it."""
    kept = tmp_path / "rejected"
    kept.mkdir()
    body = spooled(tmp_path / "spool", b"not a log")
    Rejected(kept, keep_s=100, keep_bytes=10**6).keep(body, 7, CRAWL_LOG, BAD, 1000)
    assert bodies(kept) == [b"not a log"]
    (note,) = [path.read_text() for path in kept.iterdir() if path.suffix == ".txt"]
    assert note == "crawl log of agent 7, 9 bytes: it is bad\n"
    assert not body.path.exists()


def test_a_note_has_the_code_and_the_line(tmp_path: Path) -> None:
    """Programs read the last line, and need no sentence."""
    kept = tmp_path / "rejected"
    kept.mkdir()
    body = spooled(tmp_path / "spool", b"not a log")
    error = LineError(17, "says month 13", Fault.TIME)
    Rejected(kept, 100, 10**6).keep(body, 7, CRAWL_LOG, error.message, 1000, error=error)
    (note,) = [path.read_text() for path in kept.iterdir() if path.suffix == ".txt"]
    assert json.loads(note.splitlines()[-1]) == {"code": "time", "line": 17}


def test_old_ones_and_too_many_go(tmp_path: Path) -> None:
    """Bodies over the age go, then the oldest until the rest fits; the newest always stays."""
    kept = tmp_path / "rejected"
    kept.mkdir()
    rejected = Rejected(kept, keep_s=10, keep_bytes=25)
    for now_ms, body in ((5_000, b"a" * 10), (10_000, b"b" * 10), (14_000, b"c" * 10)):
        rejected.keep(spooled(tmp_path / "spool", body), 7, CRAWL_LOG, BAD, now_ms)
    assert bodies(kept) == [b"b" * 10, b"c" * 10]  # three did not fit
    rejected.keep(spooled(tmp_path / "spool", b"d"), 7, CRAWL_LOG, BAD, 21_000)
    assert bodies(kept) == [b"c" * 10, b"d"]  # the first is over its age
    rejected.keep(spooled(tmp_path / "spool", b"e" * 25), 7, CRAWL_LOG, BAD, 21_001)
    assert bodies(kept) == [b"e" * 25]
    assert len(list(kept.iterdir())) == 2


def test_of_a_huge_body_only_the_reason_stays(tmp_path: Path) -> None:
    """A body larger than all together may be is dropped; why it was refused is still there."""
    kept = tmp_path / "rejected"
    kept.mkdir()
    rejected = Rejected(kept, keep_s=10, keep_bytes=25)
    rejected.keep(spooled(tmp_path / "spool", b"x" * 26), 7, CRAWL_LOG, BAD, 1_000)
    (note,) = kept.iterdir()
    assert "26 bytes: it is bad" in note.read_text()
    assert list((tmp_path / "spool").iterdir()) == []
    rejected.prune(1_000_000)
    assert list(kept.iterdir()) == [note]  # the newest always stays


def test_a_folder_that_is_gone_does_not_hurt(tmp_path: Path) -> None:
    """A body that cannot be kept is dropped: it is evidence, and the answer matters more."""
    (tmp_path / "rejected").mkdir()
    body = spooled(tmp_path / "spool", b"x")
    body.path.unlink()
    Rejected(tmp_path / "rejected", keep_s=10, keep_bytes=10).keep(body, 7, CRAWL_LOG, BAD, 1)
    assert bodies(tmp_path / "rejected") == []

"""What goes when the disk is short, and what must stay though the centre has it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.adapters.ledger import LedgerOptions, SqliteLedger, named_segment
from agent.collection.retention import delete_archived
from agent.collection.segment_records import SegmentRecords
from agent.collection.withdrawal import drop_hosts
from shared.archive.encode import SegmentInfo, encode_capture
from shared.archive.errors import DiskFullError
from tests.agent.link.fake_clock import FakeClock
from tests.manager.archived import page

INFO = SegmentInfo(software="prsm/0", operator="test", contact="mailto:test@example.org")
HOST = "http://a.example:80/"


def opened(folder: Path) -> SqliteLedger:
    return SqliteLedger.open(folder, LedgerOptions(agent="prs1", info=INFO), FakeClock())


def test_a_segment_stays_until_a_commit_knows_that_it_is_sealed(tmp_path: Path) -> None:
    """The disk was full after the seal, the centre took it, the process died: it begins again."""
    (tmp_path / "collection").mkdir()
    folder = tmp_path / "crawl"
    assert named_segment(folder) == ""
    ledger = opened(folder)
    ledger.append_captures([(encode_capture(page(HOST, b"x")), ())])
    ledger.commit()
    ledger._files.segments.seal()  # and no room for the transaction that says so
    ledger.abandon()
    records = SegmentRecords(folder / "segments", tmp_path / "collection")
    (name,) = records.names()
    assert named_segment(folder) == name
    records.write(replace(records.read(name), state="accepted"))
    assert delete_archived(records, 0, 10**15, lambda: True) == (0, 0)
    with pytest.raises(DiskFullError, match="not committed yet"):
        drop_hosts(records, {HOST: 10**15}, print)
    ledger = opened(folder)
    ledger.close()
    assert records.uncommitted == ""
    assert delete_archived(records, 0, 10**15, lambda: True)[0] == 1
    opened(folder).close()


def test_without_an_answer_of_the_ledger_the_newest_segment_stays(tmp_path: Path) -> None:
    """A full disk may keep the ledger from being read, too: what it calls open is the newest."""
    (tmp_path / "collection").mkdir()
    folder = tmp_path / "crawl"
    ledger = opened(folder)
    for number in range(2):
        ledger.append_captures([(encode_capture(page(f"{HOST}{number}", b"x")), ())])
        ledger.seal_segment()
    ledger.close()
    (folder / "ledger.sqlite").write_bytes(b"no room" * 1000)
    records = SegmentRecords(folder / "segments", tmp_path / "collection")
    old, new = records.names()
    for name in (old, new):
        records.write(replace(records.read(name), state="accepted"))
    assert records.uncommitted == new
    assert delete_archived(records, 0, 10**15, lambda: True)[0] == 1
    assert records.names() == [new]

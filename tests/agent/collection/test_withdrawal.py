"""Captures of withdrawn hosts leave the segments of a home; all others stay."""

from __future__ import annotations

import dataclasses
import gzip
from pathlib import Path

import pytest

from agent.adapters.ledger.trash import Trash
from agent.collection import withdrawal
from agent.collection.retention import delete_archived
from agent.collection.segment_records import SegmentRecords
from agent.collection.withdrawal import drop_hosts
from agent.collection.withdrawn_hosts import (
    add_withdrawn,
    hosts_to_delete,
    note_dropped,
    read_withdrawn,
)
from agent.errors import HomeError
from shared.archive.encode import SegmentInfo, encode_capture
from shared.archive.reader import iter_captures
from shared.archive.recover import Recovery, recover_segment
from shared.archive.verify import verify_segment
from shared.archive.writer import SegmentWriter
from shared.messages import Message
from tests.manager.archived import page

INFO = SegmentInfo(software="prsm/0", operator="test", contact="mailto:test@example.org")
AT_MS = 1_790_000_000_000
GONE, STAYS = "http://gone.example:80/", "http://stays.example:80/"
WITHDRAWN = {GONE: AT_MS + 1000}


@pytest.fixture
def records(tmp_path: Path) -> SegmentRecords:
    """Return a home without segments."""
    for name in ("segments", "collection"):
        (tmp_path / name).mkdir()
    return SegmentRecords(tmp_path / "segments", tmp_path / "collection")


def collect(records: SegmentRecords, *pages: tuple[str, int], links: bytes = b"") -> str:
    """Seal a segment of pages (URL, when); return its name."""
    writer = SegmentWriter(
        records.segment_folder, prefix="PRS", agent="a-b.example", info=INFO, now_ms=lambda: AT_MS,
        first_serial=len(records.names()),
    )  # fmt: skip
    for url, at_ms in pages:
        writer.append(encode_capture(page(url, url.encode() * 100, at_ms=at_ms)))
    before = set(records.names())
    writer.seal()
    writer.close()
    (name,) = set(records.names()) - before
    if links:
        (records.segment_folder / f"{name}.links.gz").write_bytes(gzip.compress(links))
    return name


def urls(records: SegmentRecords) -> list[str]:
    """Return what all segments hold, each checked to the last byte."""
    found = []
    for name in records.names():
        path = records.segment_folder / name
        verify_segment(path, records.read(name).sha256)
        with path.open("rb") as file:
            found += [stored.capture.url for stored in iter_captures(file)]
    return found


def test_a_segment_is_written_anew_without_the_host(records: SegmentRecords) -> None:
    """Under a name of its own, with index, sum and links; others are not touched."""
    links = b"http://x.example/\thttp://gone.example/\nhttp://y.example/\thttp://stays.example/b\n"
    mixed = collect(
        records, ("http://stays.example/a", AT_MS), ("http://gone.example/", AT_MS),
        ("http://stays.example/b", AT_MS), ("http://gone.example/late", AT_MS + 2000), links=links,
    )  # fmt: skip
    other = collect(records, ("http://stays.example/c", AT_MS))
    said: list[str] = []
    assert drop_hosts(records, WITHDRAWN, said.append) == 1
    anew = mixed.replace("-00000-", "-00000w-")
    assert records.names() == sorted([anew, other])
    assert sorted(urls(records)) == [
        "http://gone.example/late", *(f"http://stays.example/{one}" for one in "abc"),
    ]  # fmt: skip
    kept = gzip.decompress((records.segment_folder / f"{anew}.links.gz").read_bytes())
    assert kept == b"http://y.example/\thttp://stays.example/b\n"
    assert "deleted 1 captures of withdrawn hosts, kept 3" in said[0]
    assert not [path for path in records.segment_folder.iterdir() if mixed in path.name]
    assert drop_hosts(records, WITHDRAWN, said.append) == 0


def test_nothing_is_left_of_a_segment_of_that_host_alone(records: SegmentRecords) -> None:
    """No empty segment takes its place."""
    collect(records, ("http://gone.example/", AT_MS))
    drop_hosts(records, WITHDRAWN, print)
    assert list(records.segment_folder.iterdir()) == []


def test_what_the_centre_has_goes_whole(records: SegmentRecords) -> None:
    """Kept there: at once. Not judged yet: as soon as it is, whatever the retention says."""
    for state in ("accepted", "quarantined", "sent"):
        name = collect(records, ("http://gone.example/", AT_MS), ("http://stays.example/", AT_MS))
        records.write(dataclasses.replace(records.read(name), state=state, ended_ms=AT_MS))
        assert drop_hosts(records, WITHDRAWN, print) == 1
        if state != "sent":
            assert records.names() == []
    assert records.names() == [name]
    assert delete_archived(records, 1e9, AT_MS, lambda: False) == (0, 0)
    records.write(dataclasses.replace(records.read(name), state="accepted"))
    assert delete_archived(records, 1e9, AT_MS, lambda: False)[0] == 1


def test_a_kill_between_the_two_loses_nothing(records: SegmentRecords) -> None:
    """The new one is there, and the old one, too: the next pass deletes the old one."""
    mixed = collect(records, ("http://stays.example/a", AT_MS), ("http://gone.example/", AT_MS))
    old = {path: path.read_bytes() for path in records.segment_folder.iterdir()}
    drop_hosts(records, WITHDRAWN, print)
    for path, data in old.items():
        path.write_bytes(data)
    (records.segment_folder / (mixed.replace("-00000-", "-00000ww-") + ".open")).write_bytes(
        b"half"
    )
    drop_hosts(records, WITHDRAWN, print)
    assert urls(records) == ["http://stays.example/a"]


def test_a_segment_without_index_is_read(records: SegmentRecords) -> None:
    """Rather a pass too many than a capture too long."""
    name = collect(records, ("http://stays.example/a", AT_MS), ("http://gone.example/", AT_MS))
    (records.segment_folder / f"{name}.cdxj").unlink()
    drop_hosts(records, WITHDRAWN, print)
    assert urls(records) == ["http://stays.example/a"]


def test_what_can_be_read_of_a_damaged_segment_is_kept(records: SegmentRecords) -> None:
    """Pages of others that lie before the damage are on no other disk."""
    name = collect(
        records, ("http://stays.example/a", AT_MS), ("http://gone.example/", AT_MS),
        ("http://stays.example/b", AT_MS), ("http://stays.example/c", AT_MS),
    )  # fmt: skip
    path = records.segment_folder / name
    with path.open("rb") as file:
        last = list(iter_captures(file))[-1]
    data = bytearray(path.read_bytes())
    data[last.offset + 20 : last.offset + 40] = bytes(20)
    path.write_bytes(data)
    said: list[str] = []
    assert drop_hosts(records, WITHDRAWN, said.append) == 1
    assert urls(records) == ["http://stays.example/a", "http://stays.example/b"]
    assert "the rest is unreadable" in said[0]


def test_a_copy_that_is_not_whole_costs_nothing(
    records: SegmentRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk failed while it was written: the segment stays, and it is tried again."""
    name = collect(records, ("http://stays.example/a", AT_MS), ("http://gone.example/", AT_MS))

    def fails(draft: Path) -> Recovery:
        return dataclasses.replace(recover_segment(draft), problem=Message.of_text("0: zeros"))

    with monkeypatch.context() as patch, pytest.raises(HomeError, match="is not complete"):
        patch.setattr(withdrawal, "recover_segment", fails)
        drop_hosts(records, WITHDRAWN, print)
    assert records.names() == [name]
    drop_hosts(records, WITHDRAWN, print)
    assert urls(records) == ["http://stays.example/a"]


def test_links_that_are_cut_keep_nothing_up(records: SegmentRecords) -> None:
    """Else no later segment would ever lose a withdrawn host."""
    links = b"http://y.example/\thttp://stays.example/b\n" * 5000
    for _ in range(2):
        name = collect(
            records,
            ("http://stays.example/a", AT_MS),
            ("http://gone.example/", AT_MS),
            links=links,
        )
        path = records.segment_folder / f"{name}.links.gz"
        path.write_bytes(path.read_bytes()[:-20])
    assert drop_hosts(records, WITHDRAWN, print) == 2
    assert urls(records) == ["http://stays.example/a"] * 2


def test_each_host_is_gone_over_twice(tmp_path: Path) -> None:
    """At once, and when its list has surely ended; then never again."""
    add_withdrawn(tmp_path, [GONE], 7, AT_MS)
    assert read_withdrawn(tmp_path).number == 7
    assert hosts_to_delete(tmp_path, AT_MS) == {GONE: AT_MS + 600_000}
    note_dropped(tmp_path, [GONE], AT_MS + 5)
    assert hosts_to_delete(tmp_path, AT_MS + 599_999) == {}
    assert hosts_to_delete(tmp_path, AT_MS + 600_000) == {GONE: AT_MS + 600_000}
    note_dropped(tmp_path, [GONE], AT_MS + 600_001)
    assert hosts_to_delete(tmp_path, AT_MS + 10**9) == {}
    add_withdrawn(tmp_path, [STAYS], 8, AT_MS + 10**9)
    assert read_withdrawn(tmp_path).hosts == {STAYS: AT_MS + 10**9}
    (tmp_path / "withdrawn.json").write_text("[")
    assert (read_withdrawn(tmp_path).number, hosts_to_delete(tmp_path, AT_MS)) == (0, {})


def test_withdrawn_hosts_leave_the_trash(records: SegmentRecords) -> None:
    """A segment that the ledger does not name goes whole, one that cannot be read too."""
    trash = Trash(records.segment_folder.parent)
    for url in (f"{GONE}1", f"{STAYS}1"):
        trash.take(records.segment_folder / collect(records, (url, AT_MS)))
    kept, *_ = (path for path in trash.files() if b"gone" not in gzip.decompress(path.read_bytes()))
    damaged = records.segment_folder / "x.warc.gz.open"
    damaged.write_bytes(b"no gzip")
    trash.take(damaged)
    drop_hosts(records, WITHDRAWN, lambda _: None)
    assert list(trash.files()) == [kept]

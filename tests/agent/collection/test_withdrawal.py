"""Captures of withdrawn hosts leave the segments of a home; all others stay."""

from __future__ import annotations

import dataclasses
import gzip
from pathlib import Path

import pytest

from agent.adapters.ledger.trash import Trash
from agent.collection import withdrawal
from agent.collection.holdings import Holdings
from agent.collection.retention import drop_kept
from agent.collection.withdrawal import drop_hosts
from agent.collection.withdrawn_hosts import add_withdrawn, doomed, note_dropped, read_withdrawn
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
DOOMED = {GONE: AT_MS + 1000}


@pytest.fixture
def holdings(tmp_path: Path) -> Holdings:
    """Return a home without segments."""
    for name in ("segments", "collection"):
        (tmp_path / name).mkdir()
    return Holdings(tmp_path / "segments", tmp_path / "collection")


def collect(holdings: Holdings, *pages: tuple[str, int], links: bytes = b"") -> str:
    """Seal a segment of pages (URL, when); return its name."""
    writer = SegmentWriter(
        holdings.segments, prefix="PRS", agent="a-b.example", info=INFO, now_ms=lambda: AT_MS,
        first_serial=len(holdings.names()),
    )  # fmt: skip
    for url, at_ms in pages:
        writer.append(encode_capture(page(url, url.encode() * 100, at_ms=at_ms)))
    before = set(holdings.names())
    writer.seal()
    writer.close()
    (name,) = set(holdings.names()) - before
    if links:
        (holdings.segments / f"{name}.links.gz").write_bytes(gzip.compress(links))
    return name


def urls(holdings: Holdings) -> list[str]:
    """Return what all segments hold, each checked to the last byte."""
    found = []
    for name in holdings.names():
        path = holdings.segments / name
        verify_segment(path, holdings.held(name).sha256)
        with path.open("rb") as file:
            found += [stored.capture.url for stored in iter_captures(file)]
    return found


def test_a_segment_is_written_anew_without_the_host(holdings: Holdings) -> None:
    """Under a name of its own, with index, sum and links; others are not touched."""
    links = b"http://x.example/\thttp://gone.example/\nhttp://y.example/\thttp://stays.example/b\n"
    mixed = collect(
        holdings, ("http://stays.example/a", AT_MS), ("http://gone.example/", AT_MS),
        ("http://stays.example/b", AT_MS), ("http://gone.example/late", AT_MS + 2000), links=links,
    )  # fmt: skip
    other = collect(holdings, ("http://stays.example/c", AT_MS))
    said: list[str] = []
    assert drop_hosts(holdings, DOOMED, said.append) == 1
    anew = mixed.replace("-00000-", "-00000w-")
    assert holdings.names() == sorted([anew, other])
    assert sorted(urls(holdings)) == [
        "http://gone.example/late", *(f"http://stays.example/{one}" for one in "abc"),
    ]  # fmt: skip
    kept = gzip.decompress((holdings.segments / f"{anew}.links.gz").read_bytes())
    assert kept == b"http://y.example/\thttp://stays.example/b\n"
    assert "deleted 1 captures of withdrawn hosts, kept 3" in said[0]
    assert not [path for path in holdings.segments.iterdir() if mixed in path.name]
    assert drop_hosts(holdings, DOOMED, said.append) == 0


def test_nothing_is_left_of_a_segment_of_that_host_alone(holdings: Holdings) -> None:
    """No empty segment takes its place."""
    collect(holdings, ("http://gone.example/", AT_MS))
    drop_hosts(holdings, DOOMED, print)
    assert list(holdings.segments.iterdir()) == []


def test_what_the_centre_has_goes_whole(holdings: Holdings) -> None:
    """Kept there: at once. Not judged yet: as soon as it is, whatever the retention says."""
    for state in ("accepted", "quarantined", "sent"):
        name = collect(holdings, ("http://gone.example/", AT_MS), ("http://stays.example/", AT_MS))
        holdings.keep(dataclasses.replace(holdings.held(name), state=state, ended_ms=AT_MS))
        assert drop_hosts(holdings, DOOMED, print) == 1
        if state != "sent":
            assert holdings.names() == []
    assert holdings.names() == [name]
    assert drop_kept(holdings, 1e9, AT_MS, lambda: False) == (0, 0)
    holdings.keep(dataclasses.replace(holdings.held(name), state="accepted"))
    assert drop_kept(holdings, 1e9, AT_MS, lambda: False)[0] == 1


def test_a_kill_between_the_two_loses_nothing(holdings: Holdings) -> None:
    """The new one is there, and the old one, too: the next pass deletes the old one."""
    mixed = collect(holdings, ("http://stays.example/a", AT_MS), ("http://gone.example/", AT_MS))
    old = {path: path.read_bytes() for path in holdings.segments.iterdir()}
    drop_hosts(holdings, DOOMED, print)
    for path, data in old.items():
        path.write_bytes(data)
    (holdings.segments / (mixed.replace("-00000-", "-00000ww-") + ".open")).write_bytes(b"half")
    drop_hosts(holdings, DOOMED, print)
    assert urls(holdings) == ["http://stays.example/a"]


def test_a_segment_without_index_is_read(holdings: Holdings) -> None:
    """Rather a pass too many than a capture too long."""
    name = collect(holdings, ("http://stays.example/a", AT_MS), ("http://gone.example/", AT_MS))
    (holdings.segments / f"{name}.cdxj").unlink()
    drop_hosts(holdings, DOOMED, print)
    assert urls(holdings) == ["http://stays.example/a"]


def test_what_can_be_read_of_a_damaged_segment_is_kept(holdings: Holdings) -> None:
    """Pages of others that lie before the damage are on no other disk."""
    name = collect(
        holdings, ("http://stays.example/a", AT_MS), ("http://gone.example/", AT_MS),
        ("http://stays.example/b", AT_MS), ("http://stays.example/c", AT_MS),
    )  # fmt: skip
    path = holdings.segments / name
    with path.open("rb") as file:
        last = list(iter_captures(file))[-1]
    data = bytearray(path.read_bytes())
    data[last.offset + 20 : last.offset + 40] = bytes(20)
    path.write_bytes(data)
    said: list[str] = []
    assert drop_hosts(holdings, DOOMED, said.append) == 1
    assert urls(holdings) == ["http://stays.example/a", "http://stays.example/b"]
    assert "the rest is unreadable" in said[0]


def test_a_copy_that_is_not_whole_costs_nothing(
    holdings: Holdings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk failed while it was written: the segment stays, and it is tried again."""
    name = collect(holdings, ("http://stays.example/a", AT_MS), ("http://gone.example/", AT_MS))

    def fails(draft: Path) -> Recovery:
        return dataclasses.replace(recover_segment(draft), problem=Message.of_text("0: zeros"))

    with monkeypatch.context() as patch, pytest.raises(HomeError, match="is not complete"):
        patch.setattr(withdrawal, "recover_segment", fails)
        drop_hosts(holdings, DOOMED, print)
    assert holdings.names() == [name]
    drop_hosts(holdings, DOOMED, print)
    assert urls(holdings) == ["http://stays.example/a"]


def test_links_that_are_cut_keep_nothing_up(holdings: Holdings) -> None:
    """Else no later segment would ever lose a withdrawn host."""
    links = b"http://y.example/\thttp://stays.example/b\n" * 5000
    for _ in range(2):
        name = collect(
            holdings,
            ("http://stays.example/a", AT_MS),
            ("http://gone.example/", AT_MS),
            links=links,
        )
        path = holdings.segments / f"{name}.links.gz"
        path.write_bytes(path.read_bytes()[:-20])
    assert drop_hosts(holdings, DOOMED, print) == 2
    assert urls(holdings) == ["http://stays.example/a"] * 2


def test_each_host_is_gone_over_twice(tmp_path: Path) -> None:
    """At once, and when its list has surely ended; then never again."""
    add_withdrawn(tmp_path, [GONE], 7, AT_MS)
    assert read_withdrawn(tmp_path).number == 7
    assert doomed(tmp_path, AT_MS) == {GONE: AT_MS + 600_000}
    note_dropped(tmp_path, [GONE], AT_MS + 5)
    assert doomed(tmp_path, AT_MS + 599_999) == {}
    assert doomed(tmp_path, AT_MS + 600_000) == {GONE: AT_MS + 600_000}
    note_dropped(tmp_path, [GONE], AT_MS + 600_001)
    assert doomed(tmp_path, AT_MS + 10**9) == {}
    add_withdrawn(tmp_path, [STAYS], 8, AT_MS + 10**9)
    assert read_withdrawn(tmp_path).hosts == {STAYS: AT_MS + 10**9}
    (tmp_path / "withdrawn.json").write_text("[")
    assert (read_withdrawn(tmp_path).number, doomed(tmp_path, AT_MS)) == (0, {})


def test_withdrawn_hosts_leave_the_trash(holdings: Holdings) -> None:
    """A segment that the ledger does not name goes whole, one that cannot be read too."""
    trash = Trash(holdings.segments.parent)
    for url in (f"{GONE}1", f"{STAYS}1"):
        trash.take(holdings.segments / collect(holdings, (url, AT_MS)))
    kept, *_ = (path for path in trash.files() if b"gone" not in gzip.decompress(path.read_bytes()))
    damaged = holdings.segments / "x.warc.gz.open"
    damaged.write_bytes(b"no gzip")
    trash.take(damaged)
    drop_hosts(holdings, DOOMED, lambda _: None)
    assert list(trash.files()) == [kept]

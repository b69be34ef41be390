"""An agent's segments reach the centre once and whole, whatever happens on the way."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from agent.collection.orders import Order
from agent.collection.retention import delete_archived
from agent.collection.segment_records import SegmentRecord, SegmentRecords
from agent.collection.segment_upload import RetryPolicy, StopSendingError
from agent.link.call_schedule import Backoff
from manager.db.segments import segments
from manager.operations.segments.uploads import list_transfers
from shared.archive.errors import DiskFullError
from shared.messages import Message, render
from shared.messages.received import received_message
from tests.collection.line import BadLine, Fault
from tests.collection.site import CHUNK, Site
from tests.manager.running import START_MS, Running

DAY_MS = 86_400_000


def on(site: Site, fault: Fault) -> None:
    site.line = BadLine(site.prsm.public, fault)


def arrived(site: Site) -> list[str]:
    return [one.state for one in list_transfers(site.prsm.manager.db)]


def test_segments_arrive_and_are_accepted(site: Site) -> None:
    """All are judged by the centre, logged on both sides, and the order is done."""
    site.collect(3)
    site.order(Order("7"))
    progress = site.carry_out()["7"]
    assert (progress.state, progress.segments) == ("done", 3)
    assert progress.result == "3 accepted"
    assert progress.told, "the manager knows no order 7, and said so"
    assert site.states() == ["accepted"] * 3
    assert arrived(site) == ["accepted"] * 3
    assert site.prsm.files("incoming") == site.prsm.files("uploads") == []
    for folder in (site.folder / "logs", site.prsm.manager.layout.transfer_logs):
        (log,) = folder.iterdir()
        lines = log.read_text().splitlines()
        assert len(lines) == 4
        assert all("accepted" in line and "a.example" in line for line in lines[1:])


def test_a_difference_sends_what_is_missing_and_no_more(site: Site) -> None:
    """The second order sends one segment; the third nothing; `full` asks about all, sends none."""
    site.collect(2)
    site.order(Order("1"))
    site.carry_out()
    site.collect(1, at_ms=START_MS + 1000)
    site.line.body_bytes = 0
    site.order(Order("2"))
    assert site.carry_out()["2"].segments == 1
    once = site.line.body_bytes
    assert 700_000 < once < 800_000
    site.order(Order("3"))
    third = site.carry_out()["3"]
    assert third.result == "nothing to send"
    assert Message.of_json(third.message) == Message("agent.nothing_to_send")
    site.order(Order("4", "full"))
    fourth = site.carry_out()["4"]
    assert fourth.result == "3 accepted"
    said = received_message(fourth.message, fourth.result)
    assert said is not None
    assert render(said, "ja") == "受理 3 件", "a manager says it in the language of its reader"
    assert site.line.body_bytes < once + 10_000


def test_days_and_periods_name_captures(site: Site) -> None:
    """since and period take segments with captures of those days."""
    for day in range(4):
        site.collect(1, at_ms=START_MS + day * DAY_MS)
    site.prsm.clock.advance(5 * 86_400)
    middle = Order("1", "period", from_ms=START_MS + DAY_MS, until_ms=START_MS + 2 * DAY_MS)
    site.order(middle)
    assert site.carry_out()["1"].segments == 1
    assert site.states() == ["new", "accepted", "new", "new"]
    site.order(Order("2", "since", from_ms=START_MS + 2 * DAY_MS))
    site.carry_out()
    assert site.states() == ["new", "accepted", "accepted", "accepted"]


FAULTS: dict[str, Fault] = {
    "cut": lambda request, number: "cut 100000" if number % 3 == 0 else None,
    "answers lost": lambda request, number: "deaf" if number % 3 == 0 else None,
    "flipped": lambda request, n: "flip 7" if request.method == "PATCH" and n % 3 else None,
    "502 with HTML": lambda request, number: "html 502" if number % 3 == 0 else None,
    "a proxy's 200": lambda request, number: "html 200" if number % 3 == 0 else None,
    "reordered": lambda request, n: "late" if request.method == "PATCH" and n % 3 == 0 else None,
    "carried twice": lambda request, number: "twice" if number % 2 else None,
    "PATCH is blocked": lambda request, number: "html 405" if request.method == "PATCH" else None,
    "PATCH is forbidden": lambda request, number: "html 403" if request.method == "PATCH" else None,
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bad_line_costs_time_only(site: Site, fault: str) -> None:
    """Each segment arrives once, and right."""
    site.collect(2)
    sums = site.sums()
    site.order(Order("1"))
    on(site, FAULTS[fault])
    progress = site.carry_out()["1"]
    assert (progress.state, site.states()) == ("done", ["accepted"] * 2)
    assert {one.state for one in list_transfers(site.prsm.manager.db)} == {"accepted"}
    with site.prsm.manager.db.read() as tx:
        for sha256 in sums:
            assert segments.arrival_by_sha256(tx, site.agent.identity.id, sha256) is not None


def test_every_kind_of_trouble_at_random(site: Site) -> None:
    """Faults of all kinds, mixed: what arrives is right, and arrives once."""
    rng = random.Random(7)
    words = ["cut 120000", "cut 3", "deaf", "flip 500", "html 502", "html 503", "twice", "late"]

    def fault(request: httpx.Request, number: int) -> str | None:
        return rng.choice(words) if rng.random() < 0.35 else None

    site.collect(6)
    site.order(Order("1"))
    on(site, fault)
    progress = site.carry_out(patient(site, 50))["1"]
    assert (progress.state, progress.result) == ("done", "6 accepted")
    assert len(list_transfers(site.prsm.manager.db)) == 6


def patient(site: Site, failures: int) -> RetryPolicy:
    async def sleep(seconds: float) -> None:
        site.slept.append(seconds)

    return RetryPolicy(Backoff(1.0, 60.0), failures=failures, sleep=sleep)


def test_a_manager_that_is_away_is_tried_again_after_an_hour(site: Site) -> None:
    """The second failure ends the order; the next one brings everything."""
    site.collect(1)
    site.order(Order("1"))
    on(site, lambda request, number: "html 502")
    first = site.carry_out()["1"]
    assert (first.state, first.tries) == ("open", 1)
    assert first.next_try_ms == site.prsm.clock() + 3_600_000
    assert "502" in first.result
    asked = len(site.line.requests)
    site.carry_out()
    assert len(site.line.requests) == asked, "not before the hour is over"
    site.prsm.clock.advance(3601)
    second = site.carry_out()["1"]
    assert (second.state, second.tries) == ("failed", 2)
    on(site, lambda request, number: None)
    site.order(Order("2"))
    assert site.carry_out()["2"].state == "done"
    assert site.states() == ["accepted"]


def test_it_goes_on_where_a_killed_process_was(site: Site) -> None:
    """A process that ends in the middle has lost nothing; the next sends the rest only."""
    site.collect(1, body_bytes=10 * CHUNK)
    site.order(Order("1"))

    def kill(request: httpx.Request, number: int) -> str | None:
        if number == 6:
            raise SystemExit("killed")
        return None

    on(site, kill)
    with pytest.raises(SystemExit):
        site.carry_out()
    sent = site.line.body_bytes
    assert sent >= 4 * CHUNK
    on(site, lambda request, number: None)
    assert site.carry_out()["1"].state == "done"
    assert sent + site.line.body_bytes < 10 * CHUNK + 20_000


def test_hours_that_end_lose_nothing(site: Site) -> None:
    """Between two chunks sending stops; the order stays open and is no failure."""
    site.collect(1)
    site.order(Order("1"))

    def evening(request: httpx.Request, number: int) -> str | None:
        site.may_send = number < 3
        return None

    on(site, evening)
    with pytest.raises(StopSendingError):
        site.carry_out()
    assert (site.states(), site.carry_out_later()) == (["new"], "done")


def test_a_segment_that_changed_on_the_disk_is_not_sent(site: Site) -> None:
    """It is said, and the others go; it is never deleted as one that the centre has."""
    site.collect(2)
    name = site.records.names()[0]
    path = site.segments / name
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    site.order(Order("1"))
    assert site.carry_out()["1"].result == "1 accepted, 1 damaged"
    assert site.states() == ["damaged", "accepted"]
    assert delete_archived(site.records, 0, site.prsm.clock() + 1, lambda: True)[0] == 1
    assert site.records.names() == [name]


def test_what_is_not_ours_is_set_apart(prsm: Running, tmp_path: Path) -> None:
    """Captures of hosts that the agent did not hold are quarantined; it may delete them."""
    stranger = Site(prsm, tmp_path / "other", prsm.agent("b.example", kind="sync"))
    stranger.collect(1)
    stranger.order(Order("1"))
    assert stranger.carry_out()["1"].result == "1 quarantined"
    assert stranger.held()[0].is_archived


def test_only_what_the_centre_has_is_deleted(site: Site) -> None:
    """After its time, or where the disk is short; with what lies beside it."""
    site.collect(2)

    def drop(keep_s: float, short: bool) -> tuple[int, int]:
        return delete_archived(site.records, keep_s, site.prsm.clock(), lambda: short)

    assert drop(0, True) == (0, 0)
    site.order(Order("1"))
    site.carry_out()
    assert drop(3600, False) == (0, 0)
    site.prsm.clock.advance(3601)
    assert drop(3600, False)[0] == 2
    assert list(site.segments.iterdir()) == []
    assert list(site.folder.glob("*.warc.gz.json")) == []


def test_a_centre_without_room_ends_the_try_at_once(site: Site) -> None:
    """507 is no matter of minutes: the sentence is kept, and the next try is in an hour."""
    site.collect(1)
    parts = site.prsm.manager.parts
    parts._free_bytes = lambda _: 10
    site.order(Order("1"))
    progress = site.carry_out()["1"]
    assert progress.state == "open"
    assert "stay in reserve" in progress.result
    assert len(site.line.requests) == 2, "one creation, and one report"
    parts._free_bytes = lambda _: 10**12
    site.prsm.clock.advance(3601)
    assert site.carry_out()["1"].state == "done"


def test_a_centre_whose_disk_fills_up_keeps_what_came(site: Site) -> None:
    """In the middle of a segment: 507 ends the try, and the next one goes on at the byte."""
    site.collect(1, body_bytes=10 * CHUNK)
    site.order(Order("1"))
    parts = site.prsm.manager.parts

    def fill(request: httpx.Request, number: int) -> str | None:
        if number == 6:
            parts._free_bytes = lambda _: 10
        return None

    on(site, fill)
    progress = site.carry_out()["1"]
    assert (progress.state, site.states()) == ("open", ["new"])
    assert "stay in reserve" in progress.result
    (row,) = list_transfers(site.prsm.manager.db)
    assert (row.state, row.received_bytes) == ("receiving", 4 * CHUNK)
    parts._free_bytes = lambda _: 10**12
    site.prsm.clock.advance(3601)
    on(site, lambda request, number: None)
    assert site.carry_out()["1"].state == "done"
    assert site.line.body_bytes < 6 * CHUNK + 20_000


def test_two_that_send_at_once_send_one_file(site: Site) -> None:
    """Two processes with the same segment, as of a copied home, each with its own connection."""
    site.collect(1, body_bytes=10 * CHUNK)
    site.order(Order("1"))

    async def both() -> None:
        async with site.client() as one, site.client() as other:
            await asyncio.gather(
                site.carrier(one, patient(site, 100)).carry_out(),
                site.carrier(other, patient(site, 100)).carry_out(),
            )

    asyncio.run(both())
    assert site.states() == ["accepted"]
    assert [row.state for row in list_transfers(site.prsm.manager.db)] == ["accepted"]
    with site.prsm.manager.db.read() as tx:
        (sha256,) = site.sums()
        assert segments.arrival_by_sha256(tx, site.agent.identity.id, sha256) is not None


def test_a_file_that_the_centre_lost_is_sent_again(site: Site) -> None:
    """Between arriving and being judged its disk may go; the sender is asked once more."""
    site.collect(1)
    site.order(Order("1"))
    (site.prsm.manager.layout.incoming).mkdir(exist_ok=True)
    lost: list[Path] = []

    def lose(request: httpx.Request, number: int) -> str | None:
        for path in site.prsm.files("incoming") if not lost else []:
            path.unlink()
            lost.append(path)
        return None

    on(site, lose)
    assert site.carry_out()["1"].state == "done"
    assert lost
    assert site.states() == ["accepted"]


def test_two_of_one_home_send_one_file(site: Site) -> None:
    """A copy of a home that sends the same segment finds the upload done."""
    site.collect(1)
    site.order(Order("1"))
    site.carry_out()
    for note in site.folder.glob("*.warc.gz.json"):
        note.unlink()
    site.line.body_bytes = 0
    site.order(Order("2"))
    assert site.carry_out()["2"].result == "1 accepted"
    assert site.line.body_bytes < 10_000
    assert len(list_transfers(site.prsm.manager.db)) == 1
    assert replace(site.held()[0], sent_bytes=0).state == "accepted"


def test_a_full_disk_here_loses_nothing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be written down is asked again: no byte is sent twice, nothing is deleted."""
    site.collect(2)
    site.order(Order("1"))

    def full(self: SegmentRecords, segment: SegmentRecord) -> None:
        raise DiskFullError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(SegmentRecords, "write", full)
        assert site.carry_out()["1"].result == "2 accepted"
    assert site.states() == ["new", "new"]
    assert delete_archived(site.records, 0, site.prsm.clock() + 1, lambda: True) == (0, 0)
    site.line.body_bytes = 0
    site.order(Order("2"))
    assert site.carry_out()["2"].result == "2 accepted"
    assert site.line.body_bytes < 10_000


def test_a_proxy_that_buffers_costs_a_chunk(site: Site) -> None:
    """It takes a whole chunk and passes nothing on when the line breaks; chunks become smaller."""
    site.collect(1, body_bytes=4 * CHUNK)
    site.order(Order("1"))
    on(site, lambda request, n: "cut 0" if request.method == "PATCH" and n % 4 == 2 else None)
    assert site.carry_out()["1"].state == "done"
    assert site.states() == ["accepted"]

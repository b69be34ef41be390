"""Every file that a row names, and every file's row; what is damaged is named, and comes again."""

from __future__ import annotations

import errno
import gzip
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from manager.app import archive_keeper
from manager.db.segments import collection_orders, integrity, segments, transfers
from manager.db.segments.segments import SegmentRow
from manager.errors import ConflictError
from manager.operations.health.consistency_checks import check_files
from manager.operations.hosts.hosts import exclude_host
from manager.operations.segments.file_problems import file_alerts, list_problems
from manager.operations.segments.kept_file_list import files_after
from manager.operations.segments.scrub import (
    Pace,
    Scrubber,
    scrub_alerts,
    scrub_now,
    scrub_progress,
)
from manager.operations.segments.uploads import NewUpload, begin_upload
from shared.wire.crawl_log import Comment, LogLine
from tests.manager.archived import arrived, collected, hold, page, segment_bytes
from tests.manager.running import LOCAL, START_MS, Agent, Running, log_body, running

HOST = "http://www.example.jp:80/"
OTHER = "http://other.example:80/"
NAME = "prsm-20260901000000-00001-a.example.warc.gz"
LINES: list[LogLine | Comment] = [
    LogLine("http://www.example.jp/", 10, 20, 30, b"HTTP/1.1 200 OK\r\n")
]
PAGES = [page(), page("http://www.example.jp/2", os.urandom(5000))]
DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: path.unlink(),
    "wrong_size": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "wrong_digest": lambda path: path.write_bytes(
        path.read_bytes()[:-9] + bytes([path.read_bytes()[-9] ^ 1]) + path.read_bytes()[-8:]
    ),
}


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "kept").write_bytes(b"of somebody")


def link_to_itself(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def pipe_instead(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


NO_FILES: dict[str, Callable[[Path], None]] = {
    "folder": folder_instead,
    "loop": link_to_itself,
    "pipe": pipe_instead,
}


def segment(prsm: Running, number: int = 0) -> SegmentRow:
    with prsm.manager.db.read() as tx:
        return segments.segments_of_arrival(tx, 1)[number]


def files_of(prsm: Running) -> dict[str, Path]:
    row = segment(prsm)
    path = prsm.manager.archive.store.path(row.key)
    assert path is not None
    index = prsm.manager.layout.index_file(row.key)
    return {"segment": path, "index": index, "cdxj": index.with_suffix(".cdxj")}


def filled(prsm: Running) -> Agent:
    """Let an agent that syncs send a segment and a log."""
    agent = prsm.agent(kind="sync")
    hold(prsm, agent, HOST, OTHER)
    collected(prsm, agent, PAGES, NAME)
    return agent


def codes(prsm: Running, *, deep: bool = False) -> set[str]:
    return {
        one.code for one in check_files(prsm.manager.db, prsm.manager.archive.places, deep=deep)
    }


def scrubber(prsm: Running) -> Scrubber:
    return prsm.manager.archive.scrubber()


def put_back(path: Path, data: bytes) -> None:
    path.write_bytes(data)


@pytest.mark.parametrize("kind", ["segment", "index", "cdxj"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_each_file_of_a_segment_is_checked(tmp_path: Path, kind: str, damage: str) -> None:
    """A size without reading, a digest by reading; the finding names the segment."""
    with running(tmp_path) as prsm:
        filled(prsm)
        assert codes(prsm, deep=True) == set()
        DAMAGES[damage](files_of(prsm)[kind])
        quick = codes(prsm)
        assert quick == (set() if damage == "wrong_digest" else {f"{kind}_{damage}"})
        found = check_files(prsm.manager.db, prsm.manager.archive.places, deep=True)
        assert {(one.code, one.subject) for one in found} == {(f"{kind}_{damage}", NAME)}
        answer = prsm.local.get("/api/v1/check?deep=true").json()["findings"]
        assert [one["code"] for one in answer if one["code"]] == [f"{kind}_{damage}"]


@pytest.mark.parametrize("kind", ["segment", "index", "cdxj"])
@pytest.mark.parametrize("instead", NO_FILES)
def test_what_is_no_file_is_found_and_replaced(tmp_path: Path, kind: str, instead: str) -> None:
    """A folder, a link to itself, a pipe: nothing waits for it, a pass ends, and it is repaired."""
    with running(tmp_path) as prsm:
        agent = filled(prsm)
        path = files_of(prsm)[kind]
        whole = path.read_bytes()
        NO_FILES[instead](path)
        assert codes(prsm) == {f"{kind}_unreadable"}
        assert codes(prsm, deep=True) == {f"{kind}_unreadable"}
        scrubber(prsm).run()
        progress = scrub_progress(prsm.manager.db, prsm.manager.archive.pace, START_MS)
        assert (progress.running, progress.last_files) == (False, 3)
        if kind == "segment":
            again = arrived(tmp_path, segment_bytes(PAGES, NAME), NAME)
            assert NAME in str(prsm.manager.archive.intake.accept(agent.identity, again).said)
        assert path.read_bytes() == whole
        assert list_problems(prsm.manager.db) == []
        if instead == "folder":  # somebody's files may be in it
            (aside,) = path.parent.glob(".*.aside")
            assert (aside / "kept").read_bytes() == b"of somebody"


def test_a_pass_goes_on_where_an_index_cannot_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the disk cannot read the segment or has no room: the problem stays, and is told."""

    def broken(*_: object) -> bool:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(archive_keeper, "rebuild_index", broken)
    with running(tmp_path) as prsm:
        filled(prsm)
        files_of(prsm)["index"].write_bytes(b"")
        scrubber(prsm).run()
        progress = scrub_progress(prsm.manager.db, prsm.manager.archive.pace, START_MS)
        assert (progress.running, progress.last_files, progress.problems) == (False, 3, 1)


def test_a_digest_that_was_not_kept_is_learned(tmp_path: Path) -> None:
    """A CDXJ of a version before: by the first pass, where its last line is whole."""
    with running(tmp_path) as prsm:
        filled(prsm)
        kept = segment(prsm)
        with prsm.manager.db.write() as tx:
            integrity.set_index(tx, kept.id, cdxj_bytes=0, cdxj_sha256="")
        cdxj = files_of(prsm)["cdxj"]
        whole = cdxj.read_bytes()
        cdxj.write_bytes(whole[:-1])
        assert codes(prsm, deep=True) == {"cdxj_unreadable"}
        cdxj.write_bytes(whole)
        scrubber(prsm).run()
        assert segment(prsm) == kept


def test_a_log_is_checked_by_the_digest_of_its_file(tmp_path: Path) -> None:
    """Which is written down when it comes."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        hold(prsm, agent, HOST)
        assert agent.send_log(log_body("a.example", LINES)).status_code == 200
        (path,) = prsm.manager.layout.logs.rglob("*.parquet")
        data = path.read_bytes()
        path.write_bytes(data[:-20] + bytes([data[-20] ^ 1]) + data[-19:])
        assert codes(prsm) == set()
        assert codes(prsm, deep=True) == {"log_wrong_digest"}
        path.unlink()
        assert codes(prsm) == {"log_missing"}
        answer = prsm.local.get("/api/v1/check").json()["findings"]
        (found,) = [one for one in answer if one["code"]]
        assert found["problem"] == "report was accepted, but its rows are gone"


def test_uploads_are_checked_in_both_of_their_folders(tmp_path: Path) -> None:
    """One whose part is gone, and one that came whole and is gone."""
    with running(tmp_path) as prsm:
        agent = prsm.agent(kind="sync")
        manager = prsm.manager
        asked = NewUpload("x.warc.gz", "a" * 64, 100)
        row = begin_upload(
            manager.db, manager.parts, agent.identity, asked, manager.settings.collection, START_MS
        )
        assert codes(prsm) == set()
        part = manager.layout.uploads / f"{row.key}.part"
        part.unlink()
        assert codes(prsm) == {"upload_missing"}
        with manager.db.write() as tx:
            transfers.update(tx, row.id, state="received")
        assert codes(prsm) == {"arrival_missing"}


STRAYS = {
    "segment": "archive/segments/1/" + "a" * 64 + ".warc.gz",
    "index": "archive/index/1/" + "a" * 64 + ".parquet",
    "cdxj": "archive/index/1/" + "a" * 64 + ".cdxj",
    "log": "logs/1/" + "a" * 64 + ".parquet",
    "result": "archive/results/77.result",
    "upload": "uploads/" + "a" * 32 + ".part",
    "arrival": "incoming/" + "a" * 32 + ".warc.gz",
    "release": "releases/" + "a" * 64,
    "list": "lists/99/5.gz",
}


@pytest.mark.parametrize("kind", STRAYS)
def test_each_file_needs_its_row(tmp_path: Path, kind: str) -> None:
    """From the second day on: before, its row may be still to come."""
    with running(tmp_path) as prsm:
        path = tmp_path / STRAYS[kind]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\x1f\x8b\x08\x00" if kind != "list" else _gzip())
        assert codes(prsm) == set()
        two_days_ago = time.time() - 2 * 86_400
        os.utime(path, (two_days_ago, two_days_ago))
        found = check_files(prsm.manager.db, prsm.manager.archive.places)
        assert f"{kind}_no_row" in {one.code for one in found}


def _gzip() -> bytes:
    return gzip.compress(b"http://a.example/\n")


def test_lists_and_days_that_cannot_be_read_are_found(tmp_path: Path) -> None:
    """They would be sent as they are."""
    with running(tmp_path) as prsm:
        filled(prsm)
        folder = tmp_path / "lists" / "1"
        folder.mkdir()
        (folder / "3.gz").write_bytes(_gzip()[:-5])
        prsm.manager.layout.daily.mkdir(exist_ok=True)
        (prsm.manager.layout.daily / "2026-11-20.jsonl").write_text('{"name": \n')
        (prsm.manager.layout.daily / "2026-11-21.jsonl").write_text(json.dumps({"name": "no.gz"}))
        found = check_files(prsm.manager.db, prsm.manager.archive.places)
        assert {one.code for one in found} == {
            "list_unreadable", "daily_unreadable", "daily_no_row",
        }  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_segment_is_told_asked_for_and_replaced(tmp_path: Path, damage: str) -> None:
    """By the name of the segment, from its agent, by a collection order; under the same name."""
    with running(tmp_path) as prsm:
        agent = filled(prsm)
        manager = prsm.manager
        path = files_of(prsm)["segment"]
        whole = path.read_bytes()
        before = segment(prsm)
        DAMAGES[damage](path)
        assert scrubber(prsm).run() == 3
        (problem,) = list_problems(manager.db)
        assert (problem.kind, problem.subject, problem.problem) == ("segment", NAME, damage)
        assert problem.answer == "asked"
        (trouble,) = file_alerts(manager.db)
        assert NAME in str(trouble.message)
        assert NAME in str(prsm.local.get("/api/v1/alerts").json())
        assert NAME in str(prsm.local.get("/api/v1/audit?alerts=true").json())
        with manager.db.read() as tx:
            (order,) = collection_orders.open_orders(tx, [agent.identity.id])
        assert (order.condition, order.made_by) == ("full", "the scrub")
        again = arrived(tmp_path, segment_bytes(PAGES, NAME), NAME)
        asked = NewUpload(NAME, again.sha256, again.size_bytes)
        row = begin_upload(
            manager.db, manager.parts, agent.identity, asked, manager.settings.collection, START_MS
        )
        assert row.state == "receiving"
        assert manager.archive.intake.known(agent.identity, again.sha256) is None
        outcome = manager.archive.intake.accept(agent.identity, again)
        assert NAME in str(outcome.said)
        assert path.read_bytes() == whole
        assert segment(prsm) == before
        assert list_problems(manager.db) == []
        assert file_alerts(manager.db) == []
        assert codes(prsm, deep=True) == set()
        assert manager.archive.intake.known(agent.identity, again.sha256) is not None


def test_a_damaged_index_is_made_again_from_its_segment(tmp_path: Path) -> None:
    """Nobody is asked."""
    with running(tmp_path) as prsm:
        agent = filled(prsm)
        DAMAGES["wrong_digest"](files_of(prsm)["index"])
        scrubber(prsm).run()
        assert list_problems(prsm.manager.db) == []
        assert codes(prsm, deep=True) == set()
        with prsm.manager.db.read() as tx:
            assert collection_orders.open_orders(tx, [agent.identity.id]) == []
            found = integrity.problem_at(
                tx, "index", str(files_of(prsm)["index"].relative_to(tmp_path))
            )
        assert found is not None
        assert found.answer == "rebuilt"


def test_a_divided_segment_is_replaced_by_its_part(tmp_path: Path) -> None:
    """The part that is damaged, not the other one."""
    with running(tmp_path) as prsm:
        agent = prsm.agent(kind="sync")
        hold(prsm, agent, HOST)
        pages = [page(), page("http://stranger.example/")]
        collected(prsm, agent, pages, NAME)
        before = [segment(prsm, 0), segment(prsm, 1)]
        path = prsm.manager.archive.store.path(before[0].key)
        assert path is not None
        DAMAGES["missing"](path)
        scrubber(prsm).run()
        assert [one.subject for one in list_problems(prsm.manager.db)] == [before[0].name]
        prsm.manager.archive.intake.accept(
            agent.identity, arrived(tmp_path, segment_bytes(pages, NAME), NAME)
        )
        assert [segment(prsm, 0), segment(prsm, 1)] == before
        assert codes(prsm, deep=True) == set()


def test_what_was_excluded_since_does_not_come_back_with_a_repair(tmp_path: Path) -> None:
    """The segment has another name then, and third parties hear of both."""
    with running(tmp_path) as prsm:
        agent = prsm.agent(kind="sync")
        hold(prsm, agent, HOST, OTHER)
        pages = [page(), page("http://other.example/x")]
        collected(prsm, agent, pages, NAME)
        path = files_of(prsm)["segment"]
        DAMAGES["missing"](path)
        scrubber(prsm).run()
        exclude_host(prsm.manager.db, OTHER, "asked to", LOCAL, START_MS)
        prsm.manager.archive.intake.accept(
            agent.identity, arrived(tmp_path, segment_bytes(pages, NAME), NAME)
        )
        with prsm.manager.db.read() as tx:
            rows = segments.segments_of_arrival(tx, 1)
        assert [row.state for row in rows] == ["gone", "current"]
        assert rows[1].captures == 1
        assert codes(prsm, deep=True) == set()
        assert list_problems(prsm.manager.db) == []


@pytest.mark.parametrize("state", ["done", "failed"])
def test_an_agent_that_does_not_keep_it_is_not_asked_for_ever(tmp_path: Path, state: str) -> None:
    """After an order that was carried out; one that failed is repeated after a day."""
    with running(tmp_path) as prsm:
        agent = filled(prsm)
        db = prsm.manager.db
        DAMAGES["missing"](files_of(prsm)["segment"])
        scrubber(prsm).run()
        with db.write() as tx:
            (order,) = collection_orders.open_orders(tx, [agent.identity.id])
            collection_orders.update_order(tx, order.id, state=state, ended_ms=prsm.clock())
        scrubber(prsm).run()
        (problem,) = list_problems(db)
        assert problem.answer == ("not_kept" if state == "done" else "asked")
        prsm.clock.advance(25 * 3600)
        scrubber(prsm).run()
        with db.read() as tx:
            assert len(collection_orders.open_orders(tx, [agent.identity.id])) == (
                state == "failed"
            )


def test_a_plain_agent_cannot_be_asked(tmp_path: Path) -> None:
    """A person is told so."""
    with running(tmp_path) as prsm:
        agent = prsm.agent(kind="plain")
        hold(prsm, agent, HOST)
        collected(prsm, agent, PAGES, NAME)
        DAMAGES["missing"](files_of(prsm)["segment"])
        scrubber(prsm).run()
        (problem,) = list_problems(prsm.manager.db)
        assert problem.answer == "no_agent"


def test_a_pass_goes_on_behind_its_cursor_and_comes_again(tmp_path: Path) -> None:
    """Whoever goes on with it; the next begins after `archive.scrub_days`."""
    with running(tmp_path) as prsm:
        agent = prsm.agent(kind="sync")
        hold(prsm, agent, HOST)
        for number in range(12):
            collected(prsm, agent, [page(f"http://www.example.jp/{number}")], f"s{number}.warc.gz")
        manager, pace = prsm.manager, Pace(30, 10**9)
        ticks = iter(range(0, 10**6, 100))  # each look at the clock is 100 s later

        def one() -> Scrubber:
            return Scrubber(
                manager.db, manager.archive.places, pace, prsm.clock, clock_s=lambda: next(ticks)
            )

        assert one().run() == 30
        progress = scrub_progress(manager.db, pace, prsm.clock())
        assert (progress.running, progress.files, progress.total_files) == (True, 30, 36)
        assert progress.ends_ms is not None
        with pytest.raises(ConflictError, match="30 of 36"):
            scrub_now(manager.db, LOCAL, prsm.clock())
        while scrub_progress(manager.db, pace, prsm.clock()).running:
            one().run()
        progress = scrub_progress(manager.db, pace, prsm.clock())
        assert (progress.last_files, progress.last_problems) == (36, 0)
        assert one().run() == 0
        scrub_now(manager.db, LOCAL, prsm.clock())
        assert scrub_progress(manager.db, pace, prsm.clock()).running
        while scrub_progress(manager.db, pace, prsm.clock()).running:
            one().run()
        prsm.clock.advance(31 * 86_400)
        assert one().run() > 0


def test_reading_waits_for_its_rate_and_ends_with_the_manager(tmp_path: Path) -> None:
    """In the middle of a file; what was not read to its end is read by the next one."""
    with running(tmp_path) as prsm:
        filled(prsm)
        slow = Scrubber(prsm.manager.db, prsm.manager.archive.places, Pace(30, 1000), prsm.clock)
        slow.end()
        assert slow.run() == 0
        assert scrub_progress(prsm.manager.db, Pace(30, 1000), prsm.clock()).running
        assert scrubber(prsm).run() == 3


def test_more_than_can_be_read_in_time_is_told(tmp_path: Path) -> None:
    """With both settings that help."""
    with running(tmp_path) as prsm:
        filled(prsm)
        (trouble,) = scrub_alerts(prsm.manager.db, Pace(1, 0.0001))
        assert trouble.message.code == "segments.scrub_too_slow"
        assert scrub_alerts(prsm.manager.db, Pace(1, 10**6)) == []
        assert Pace(10, 10**9).rate(864_000 * 10**6) == pytest.approx(2 * 10**6)


def test_pages_of_files_reach_all_of_them(tmp_path: Path) -> None:
    """A few rows at a time, each once."""
    with running(tmp_path) as prsm:
        filled(prsm)
        seen, cursor = [], ""
        while True:
            found = files_after(prsm.manager.db, prsm.manager.archive.places, cursor, 1)
            seen += [one.place for one in found.files]
            cursor = found.cursor
            if not cursor:
                break
        assert len(seen) == len(set(seen)) == 3
        answer = prsm.local.get("/api/v1/check/files?cursor=nonsense")
        assert answer.status_code == 400


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_a_deep_check_finds_is_told_and_asked_for_again(tmp_path: Path, damage: str) -> None:
    """`prsm check --deep` does what the scrub does with what it finds."""
    with running(tmp_path) as prsm:
        agent = filled(prsm)
        DAMAGES[damage](files_of(prsm)["segment"])
        page = prsm.local.post("/api/v1/check/files", json={}).json()
        assert [one["subject"] for one in page["findings"]] == [NAME]
        (problem,) = list_problems(prsm.manager.db)
        assert (problem.subject, problem.answer) == (NAME, "asked")
        with prsm.manager.db.read() as tx:
            (order,) = collection_orders.open_orders(tx, [agent.identity.id])
        assert order.condition == "full"
        prsm.local.post("/api/v1/check/files", json={})
        assert len(list_problems(prsm.manager.db)) == 1


def test_looking_changes_nothing(tmp_path: Path) -> None:
    """A viewer may ask for the same by GET: nothing is written down, nobody is asked."""
    with running(tmp_path) as prsm:
        filled(prsm)
        remove_one = files_of(prsm)["segment"]
        remove_one.unlink()
        page = prsm.local.get("/api/v1/check/files?deep=true").json()
        assert [one["subject"] for one in page["findings"]] == [NAME]
        assert list_problems(prsm.manager.db) == []

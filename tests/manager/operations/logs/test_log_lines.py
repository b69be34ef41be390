"""A search over crawl logs finds each line once, newest first, in whatever portions."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from manager.db.engine import Database, Transaction
from manager.db.logs import reports
from manager.db.logs.reports import ReportRow
from manager.errors import BusyError, NotFoundError
from manager.operations.logs import log_lines
from manager.operations.logs.log_filters import Wanted, read_moment
from manager.operations.logs.log_lines import FoundLines, LogLines, Mark
from manager.operations.request_senders import sender, work_for
from manager.store import Layout
from manager.store.logs.log_search import LineSearch, line_search
from manager.store.logs.log_search import LogLine as StoredLine
from shared.errors import FormatError
from tests.manager.operations.fleet.test_contact import crawling
from tests.manager.operations.logged import add_log
from tests.manager.operations.world import World

STATUSES = (200, 404, 500, None)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Return an empty data directory."""
    made = Layout(tmp_path / "data")
    made.create()
    return made


@pytest.fixture
def world(database: Database, layout: Layout) -> World:
    """Return a world of two agents and ten logs of four lines."""
    made = crawling(database, "a", "b")
    for number in range(10):
        lines = [
            (f"http://h{number % 3}.example.jp:80/p{number}/{at}", status)
            for at, status in enumerate(STATUSES)
        ]
        add_log(made.db, layout, made.agents["ab"[number % 2]].identity, number, lines)
    return made


def _all(world: World, layout: Layout, wanted: Wanted, most: int, patience_s: float) -> list[str]:
    mark: Mark | None = None
    urls: list[str] = []
    logs = LogLines(layout)
    for _ in range(100):
        found = logs.find(world.db, wanted, mark=mark, most=most, patience_s=patience_s)
        urls += [one.line.url for one in found.lines]
        if found.mark is None:
            return urls
        mark = Mark.read(str(found.mark))
    raise AssertionError("a search without end")


FILTERS = (
    (Wanted(host="h1.example.jp"), 12),
    (Wanted(host="H1.example.jp."), 12),
    (Wanted(host="example.jp"), 0),
    (Wanted(host="*.example.jp"), 40),
    (Wanted(host="*.ample.jp"), 0),
    (Wanted(status="500"), 10),
    (Wanted(status="5XX"), 10),
    (Wanted(status="none"), 10),
    (Wanted(status="bad"), 30),
    (Wanted(status="503"), 0),
    (Wanted(url="/P3/"), 4),
    (Wanted(url="%"), 0),
    (Wanted(agent="b"), 20),
    (Wanted(agent="b", status="404", host="h0.example.jp"), 2),
    (Wanted(kind="probe"), 0),
    (Wanted(quarantined=True), 0),
    (Wanted(since_ms=8 * 3_600_000 + 1), 8),
    (Wanted(until_ms=3_600_000), 4),
    (Wanted(since_ms=3 * 3_600_000 + 1, until_ms=4 * 3_600_000), 4),
    # What would end a sentence of SQL or a pattern is a text like any other.
    *(
        (Wanted(url=text), 0)
        for text in ("'", '"; DROP TABLE files; --', "\\", "$name", "\0", "日本")
    ),
)
REFUSED = (
    (Wanted(host="http://x.jp/"), FormatError),
    (Wanted(host="x" * 300 + "\u202e"), FormatError),
    (Wanted(host="a b"), FormatError),
    (Wanted(status="six"), FormatError),
    (Wanted(status="9999"), FormatError),
    (Wanted(kind="crawling"), FormatError),
    (Wanted(agent="nobody"), NotFoundError),
)


def test_each_line_is_found_once(
    world: World, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the portions, all lines come, newest report first, last line first."""
    monkeypatch.setattr("manager.operations.logs.log_lines.REPORTS_AT_ONCE", 2)
    expected = [
        f"http://h{number % 3}.example.jp:80/p{number}/{at}"
        for number in reversed(range(10))
        for at in reversed(range(4))
    ]
    for most in (1, 3, 4, 1000):
        for patience_s in (0, 100):
            assert _all(world, layout, Wanted(), most, patience_s) == expected


def test_filters(world: World, layout: Layout) -> None:
    """Each filter leaves what it says, together they leave what all do; nonsense is refused."""
    for wanted, count in FILTERS:
        assert len(_all(world, layout, wanted, 1000, 100)) == count, wanted
    for wanted, error in REFUSED:
        with pytest.raises(error):
            LogLines(layout).find(world.db, wanted)


def test_a_line_says_all_that_was_logged(world: World, layout: Layout) -> None:
    """The line has its numbers and headers, its log, and the time of its log."""
    add_log(
        world.db, layout, world.agents["a"].identity, 77, [("http://x.jp:80/", 200)], held=False
    )
    found = LogLines(layout).find(world.db, Wanted(quarantined=True))
    (one,) = found.lines
    assert (one.agent, one.log) == ("a", f"a.{77:012}")
    assert (one.since_ms, one.until_ms) == (77 * 3_600_000, 78 * 3_600_000)
    line = one.line
    assert (line.line, line.status, line.unit, line.round, line.kind) == (2, 200, None, 1, "crawl")
    assert (line.request_bytes, line.response_bytes, line.elapsed_ms) == (100, 1000, 7)
    assert line.headers == b"HTTP/1.1 200\r\nX: \xff\r\n"
    assert (found.mark, found.reports, found.back_to_ms) == (None, 1, 77 * 3_600_000)


def test_files_that_are_gone_or_broken_hide_no_other(world: World, layout: Layout) -> None:
    """A missing and a damaged file are counted, the others are searched."""
    files = sorted(layout.logs.rglob("*.parquet"))
    files[0].unlink()
    files[1].write_bytes(b"PAR1 no more PAR1")
    found = LogLines(layout).find(world.db, Wanted(), most=1000, patience_s=100)
    assert (len(found.lines), found.reports, found.gone) == (32, 10, 2)


def test_what_was_opened_is_kept_while_it_is_sound(
    world: World, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches one after the other read with the same; after a failure the next has its own."""
    opened: list[LineSearch] = []

    def noted(memory_bytes: int, spill: Path) -> LineSearch:
        opened.append(line_search(memory_bytes, spill))
        return opened[-1]

    monkeypatch.setattr(log_lines, "line_search", noted)
    logs = LogLines(layout)
    for _ in range(3):
        assert len(logs.find(world.db, Wanted(), patience_s=100).lines) == 40
    assert len(opened) == 1
    broken = max(layout.logs.rglob("*.parquet"))
    whole = broken.read_bytes()
    broken.write_bytes(b"PAR1 no more PAR1")
    assert logs.find(world.db, Wanted(), patience_s=100).gone == 1
    broken.write_bytes(whole)
    for _ in range(2):
        assert len(logs.find(world.db, Wanted(), patience_s=100).lines) == 40
    assert len(opened) == 2


def test_one_person_has_one_search_at_a_time(
    world: World, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever begins ten leaves a place to others, whose search ends before his."""
    hold, begun = threading.Event(), threading.Semaphore(0)

    class Held:
        is_sound = True

        def __init__(self, *_: object) -> None: ...

        def find(self, *_: object) -> tuple[list[StoredLine], int]:
            begun.release()
            if sender() == "hostile":
                assert hold.wait(60)
            return [], 0

        def close(self) -> None: ...

    monkeypatch.setattr(log_lines, "line_search", Held)
    logs = LogLines(layout)

    def search(name: str) -> FoundLines:
        work_for(name)
        return logs.find(world.db, Wanted(), patience_s=0)

    with ThreadPoolExecutor(12) as threads:
        hostile = [threads.submit(search, "hostile") for _ in range(10)]
        assert begun.acquire(timeout=60)
        threads.submit(search, "anna").result(60)
        assert not any(one.done() for one in hostile)
        hold.set()
        for one in hostile:
            one.result(60)


def test_who_waits_too_long_for_a_turn_hears_the_limit(
    world: World, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503, with a time at which to come again."""
    monkeypatch.setattr(log_lines, "WAIT_S", 0.0)
    logs = LogLines(layout)
    with logs._turn(), pytest.raises(BusyError, match="one per person") as caught:
        logs.find(world.db, Wanted())
    assert caught.value.retry_after_s == 5
    assert logs.find(world.db, Wanted(), patience_s=100).lines


def test_the_first_look_is_at_few_reports(
    world: World, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What most lines match is found in them; what is rare is looked for in more and more."""
    asked: list[int] = []
    logs_before = reports.logs_before

    def noted(tx: Transaction, before_id: int | None, **options: Any) -> list[ReportRow]:
        asked.append(options["limit"])
        return logs_before(tx, before_id, **options)

    monkeypatch.setattr(reports, "logs_before", noted)
    LogLines(layout).find(world.db, Wanted(), most=5, patience_s=100)
    assert asked == [2]
    LogLines(layout).find(world.db, Wanted(host="nothing.example"), patience_s=100)
    assert asked[1:] == [2, 8, 32]


def test_moments_are_days_or_iso() -> None:
    """A day is its beginning or its end, in UTC; a zone may be said."""
    assert read_moment("", "since", is_end=False) is None
    assert read_moment("1970-01-02", "since", is_end=False) == 86_400_000
    assert read_moment("1970-01-02", "until", is_end=True) == 2 * 86_400_000
    assert read_moment("1970-01-01T09:00+09:00", "since", is_end=False) == 0
    assert read_moment("1970-01-02+09:00", "since", is_end=False) == 15 * 3_600_000
    assert read_moment("1970-01-02-02:30", "until", is_end=True) == 86_400_000 * 2 + 9_000_000
    assert read_moment("1970-01-02Z", "until", is_end=True) == 2 * 86_400_000
    for bad in ("yesterday", "2026-13-01", "2026-11-23+99:00", "9" * 30):
        with pytest.raises(FormatError, match="must be a day or a moment"):
            read_moment(bad, "since", is_end=False)
    for bad in ("", "1", "1.2.3", "-1.2", "1.2x"):
        with pytest.raises(FormatError, match="mark"):
            Mark.read(bad)

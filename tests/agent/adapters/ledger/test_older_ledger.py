"""A ledger that was restored from a backup, beside files that its newer self wrote to."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent.adapters.ledger import SqliteLedger
from agent.adapters.ledger.database import DATABASE, Query
from agent.adapters.ledger.recovery import FILE
from agent.adapters.ledger.trash import Trash
from agent.pipeline.messages.jobs import Job
from shared.archive.reader import iter_captures
from shared.archive.verify import verify_segment
from tests.agent.adapters.installation import OPTIONS, TINY, captures_of, lines_of, open_ledger
from tests.agent.adapters.ledger.test_segments import SMALL, append, files, page
from tests.agent.modules.answers import due_of, ended


def fetch(ledger: SqliteLedger, numbers: range) -> None:
    """Keep pages with their log lines, a commit after each."""
    for number in numbers:
        append(ledger, number)
        ledger.append_log([ended(due_of(page(number)))])
        ledger.commit()


def back_up(folder: Path, ledger: SqliteLedger) -> Path:
    """Return a copy of the database as a backup would hold it."""
    target = folder.with_name("backup.sqlite")
    ledger.database.ask(Query[tuple[int]]("PRAGMA wal_checkpoint(TRUNCATE)"))
    shutil.copyfile(folder / DATABASE, target)
    return target


def restore(folder: Path, backup: Path) -> None:
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
        (folder / name).unlink(missing_ok=True)
    shutil.copyfile(backup, folder / DATABASE)


def trashed(folder: Path) -> list[str]:
    return sorted(path.name for path in Trash(folder).files())


def all_lines(folder: Path) -> list[str]:
    return sorted(line.url for line in lines_of(folder))


@pytest.mark.parametrize("options", [OPTIONS, SMALL])
def test_nothing_that_was_committed_is_cut(tmp_path: Path, options: object) -> None:
    """Captures behind the end that it knows are sealed, lines are reported: none is lost."""
    folder = tmp_path / "crawl"
    ledger = open_ledger(folder, options)  # type: ignore[arg-type]
    fetch(ledger, range(5))
    backup = back_up(folder, ledger)
    fetch(ledger, range(5, 20))
    ledger.abandon()
    restore(folder, backup)
    again = open_ledger(folder, options)  # type: ignore[arg-type]
    assert sorted(captures_of(folder)) == sorted(page(number) for number in range(20))
    assert all_lines(folder) == sorted(page(number) for number in range(20))
    assert trashed(folder) == []
    fetch(again, range(20, 24))
    again.seal_segment()
    again.close()
    sealed = files(folder, "*.warc.gz")
    assert sum(verify_segment(path).captures for path in sealed) == 24
    assert sorted(captures_of(folder)) == sorted(page(number) for number in range(24))


def test_its_reports_are_not_taken_for_those_of_its_newer_self(tmp_path: Path) -> None:
    """Logs that were handed on since are forgotten; the numbers go on behind them."""
    folder = tmp_path / "crawl"
    ledger = open_ledger(folder)
    fetch(ledger, range(3))
    first = ledger.close_log(1000)
    backup = back_up(folder, ledger)
    assert first is not None
    fetch(ledger, range(3, 6))
    second = ledger.close_log(2000)
    assert second is not None
    fetch(ledger, range(6, 8))
    for one in (first, second):
        ledger.forget_log(one)
    ledger.commit()
    mark, job = ledger.mark, ledger.new_job_number()
    ledger.open_job(Job(job, "http://a.example:80/", "crawl", 1))
    ledger.commit()
    ledger.abandon()
    restore(folder, backup)
    again = open_ledger(folder)
    assert again.mark != mark
    assert again.closed_logs() == []
    assert all_lines(folder) == [page(6), page(7)]
    third = again.close_log(3000)
    assert third is not None
    assert third.serial == 3
    assert again.new_job_number() > job
    again.close()
    # A start that finds nothing newer changes nothing any more.
    once_more = open_ledger(folder)
    assert once_more.mark == again.mark
    assert [one.serial for one in once_more.closed_logs()] == [3]
    once_more.close()


def test_logs_that_its_newer_self_had_not_handed_on_are_closed(tmp_path: Path) -> None:
    """They are reported once, as they would have been."""
    folder = tmp_path / "crawl"
    ledger = open_ledger(folder)
    fetch(ledger, range(3))
    backup = back_up(folder, ledger)
    fetch(ledger, range(3, 6))
    ledger.close_log(2000)
    fetch(ledger, range(6, 8))
    ledger.abandon()
    restore(folder, backup)
    again = open_ledger(folder)
    assert [one.serial for one in again.closed_logs()] == [1]
    assert all_lines(folder) == [page(number) for number in range(8)]
    again.close()


def test_without_the_mark_what_is_cut_lies_in_the_trash(tmp_path: Path) -> None:
    """Nobody can tell it from the rest of a crash then; its bytes are kept all the same."""
    folder = tmp_path / "crawl"
    ledger = open_ledger(folder)
    fetch(ledger, range(5))
    backup = back_up(folder, ledger)
    fetch(ledger, range(5, 9))
    ledger.abandon()
    (folder / FILE).unlink()
    restore(folder, backup)
    open_ledger(folder).close()
    assert captures_of(folder) == [page(number) for number in range(5)]
    (tail,) = [path for path in Trash(folder).files() if ".warc.gz.open.from-" in path.name]
    with tail.open("rb") as file:
        assert [one.capture.url for one in iter_captures(file)] == [page(n) for n in range(5, 9)]
    assert len(trashed(folder)) == 3  # with the links, and the lines of the log


def test_runs_of_known_urls_that_no_commit_names_go_to_the_trash(tmp_path: Path) -> None:
    """The older ledger names none of the newer runs; its own ones are all there."""
    folder = tmp_path / "crawl"
    ledger = open_ledger(folder, TINY)
    ledger.open_job(Job(ledger.new_job_number(), "http://a.example:80/", "crawl", 1))
    ledger.commit()
    backup = back_up(folder, ledger)
    for start in range(0, 200, 4):
        ledger.add_new(1, [page(number) for number in range(start, start + 4)])
        ledger.commit()
    runs = {path.name: path.read_bytes() for path in (folder / "seen").glob("*.run")}
    assert runs
    ledger.abandon()
    restore(folder, backup)
    open_ledger(folder, TINY).close()
    kept = {path.name: path.read_bytes() for path in Trash(folder).files()}
    assert runs.items() <= kept.items()


def test_a_crash_between_commit_and_mark_is_no_older_ledger(tmp_path: Path) -> None:
    """A mark that lags behind says nothing: the ledger is as its last commit left it."""
    folder = tmp_path / "crawl"
    ledger = open_ledger(folder)
    fetch(ledger, range(3))
    lagging = (folder / FILE).read_bytes()
    mark = ledger.mark
    fetch(ledger, range(3, 5))
    ledger.seal_segment()
    ledger.abandon()
    (folder / FILE).write_bytes(lagging)
    again = open_ledger(folder)
    assert again.mark == mark
    assert captures_of(folder) == [page(number) for number in range(5)]
    again.close()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"ledger": "x"}', "\0" * 100])
def test_half_a_mark_is_none(tmp_path: Path, text: str) -> None:
    """It is written without a sync, so a loss of power may leave anything."""
    folder = tmp_path / "crawl"
    ledger = open_ledger(folder)
    fetch(ledger, range(3))
    ledger.abandon()
    (folder / FILE).write_text(text)
    open_ledger(folder).close()
    assert captures_of(folder) == [page(number) for number in range(3)]

"""The exact seen-sets: runs are written beside the crawl, merged, and freed when jobs are done."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from agent.adapters.clock import SystemClock
from agent.adapters.ledger import LedgerOptions, SqliteLedger
from agent.adapters.ledger.database import Query
from agent.adapters.ledger.seen_sets.runs import RunState
from agent.errors import HomeError
from agent.pipeline.ledger import QueuedUrl
from agent.pipeline.messages.jobs import Job
from tests.agent.adapters.installation import OPTIONS, TINY, SqliteCase, open_ledger

SMALL = replace(OPTIONS, run_keys=100)


def opened(ledger: SqliteLedger) -> int:
    number = ledger.new_job_number()
    ledger.open_job(Job(number, f"http://h{number}.example:80/", "crawl", 1))
    return number


def urls(start: int, end: int) -> list[str]:
    return [f"http://a.example/{page}" for page in range(start, end)]


def meet(ledger: SqliteLedger, job: int, count: int, step: int = 50) -> None:
    """Enter new URLs, with a commit after each handful."""
    for start in range(0, count, step):
        new = urls(start, start + step)
        assert all(ledger.add_new(job, new))
        ledger.push(QueuedUrl(0, url, job, 1, 0, None) for url in new)
        ledger.commit()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "seen").iterdir())


def named(ledger: SqliteLedger) -> list[str]:
    rows = ledger.database.ask(Query[tuple[int]]("SELECT number FROM seen_runs ORDER BY number"))
    return [f"seen-{number:08d}.run" for (number,) in rows]


def recent(ledger: SqliteLedger) -> int:
    rows = ledger.database.ask(Query[tuple[int]]("SELECT length(keys) FROM seen_recent"))
    return sum(size for (size,) in rows) // 12


def kept(ledger: SqliteLedger) -> int:
    rows = ledger.database.ask(Query[tuple[int]]("SELECT keys FROM seen_runs"))
    return sum(keys for (keys,) in rows) + recent(ledger)


@pytest.mark.parametrize("options", [OPTIONS, SMALL, TINY])
def test_nothing_is_forgotten_and_nothing_invented(tmp_path: Path, options: LedgerOptions) -> None:
    """Over runs, merges and restarts a job knows exactly what it has met."""
    ledger = open_ledger(tmp_path, options)
    job, other = opened(ledger), opened(ledger)
    meet(ledger, job, 3000)
    ledger.abandon()
    ledger = open_ledger(tmp_path, options)
    assert not any(ledger.add_new(job, urls(0, 3000)))
    assert all(ledger.add_new(job, urls(3000, 6000)))
    assert all(ledger.add_new(other, urls(0, 3000)))
    ledger.close()


def test_memory_and_runs_stay_few(tmp_path: Path) -> None:
    """Keys leave the memory, runs of one size become one, and nothing else lies in the folder."""
    ledger = open_ledger(tmp_path, SMALL)
    job = opened(ledger)
    meet(ledger, job, 10_000)
    for _ in range(9):
        ledger.add_new(job, [f"http://b.example/{_}"])
        ledger.commit()
    assert recent(ledger) <= 2 * SMALL.run_keys
    assert len(named(ledger)) <= 12
    assert files(tmp_path) == named(ledger)
    ledger.close()


def test_keys_of_jobs_that_are_done_go(tmp_path: Path) -> None:
    """When half of all keys are of jobs that are done, they are left out; others stay known."""
    ledger = open_ledger(tmp_path, SMALL)
    done, dropped, alive = (opened(ledger) for _ in range(3))
    for job in (done, dropped, alive):
        meet(ledger, job, 1000)
    ledger.finish_job(done)
    ledger.drop_job(dropped)
    for number in range(5):
        ledger.add_new(alive, [f"http://new.example/{number}"])
        ledger.commit()
    assert kept(ledger) <= 1300
    assert not any(ledger.add_new(alive, urls(0, 1000)))
    ledger.close()


def test_keys_of_jobs_that_were_done_before_a_restart_go(tmp_path: Path) -> None:
    """That a job is done is not forgotten by a process that dies before it has cleaned up."""
    later = Later()
    ledger = open_ledger(tmp_path, SMALL)
    done, alive = opened(ledger), opened(ledger)
    meet(ledger, done, 2000)
    meet(ledger, alive, 1000)
    ledger.close()
    ledger = open_later(tmp_path, later)
    ledger.finish_job(done)
    ledger.commit()
    ledger.abandon()
    ledger = open_ledger(tmp_path, SMALL)
    for number in range(5):
        ledger.add_new(alive, [f"http://new.example/{number}"])
        ledger.commit()
    assert kept(ledger) <= 1300
    assert not any(ledger.add_new(alive, urls(0, 1000)))
    ledger.close()


def test_without_any_job_everything_goes_at_once(tmp_path: Path) -> None:
    """When the last job is done, no run is left, and a job that follows begins with nothing."""
    ledger = open_ledger(tmp_path, SMALL)
    job = opened(ledger)
    meet(ledger, job, 1000)
    assert files(tmp_path)
    ledger.finish_job(job)
    ledger.commit()
    ledger.commit()
    assert files(tmp_path) == []
    assert recent(ledger) == 0
    follows = opened(ledger)
    assert all(ledger.add_new(follows, urls(0, 1000)))
    ledger.close()


class Later:
    """Has runs written when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[object, Future[RunState]]] = []

    def __call__(self, write: object) -> Future[RunState]:
        future: Future[RunState] = Future()
        self.waiting.append((write, future))
        return future

    def write(self) -> None:
        write, future = self.waiting.pop()
        assert callable(write)
        future.set_result(write())


def open_later(folder: Path, later: Later) -> SqliteLedger:
    return SqliteLedger.open(folder, SMALL, SystemClock(), submit=later)


def test_a_run_that_is_not_finished_is_not_needed(tmp_path: Path) -> None:
    """Keys stay known while their run is written, and over a crash in the middle of it."""
    later = Later()
    ledger = open_later(tmp_path, later)
    job = opened(ledger)
    assert all(ledger.add_new(job, urls(0, 150)))
    ledger.commit()
    assert len(later.waiting) == 1
    assert not any(ledger.add_new(job, urls(0, 150)))
    assert all(ledger.add_new(job, urls(150, 180)))
    ledger.commit()
    later.write()  # complete, but no commit has named it
    ledger.abandon()
    later = Later()
    ledger = open_later(tmp_path, later)
    assert files(tmp_path) == []
    assert not any(ledger.add_new(job, urls(0, 180)))
    later.waiting.clear()
    ledger.abandon()


def test_a_run_takes_the_place_of_its_rows_in_one_commit(tmp_path: Path) -> None:
    """After the commit that names a run, the rows of its keys are gone, and only those."""
    later = Later()
    ledger = open_later(tmp_path, later)
    job = opened(ledger)
    ledger.add_new(job, urls(0, 150))
    ledger.commit()
    ledger.add_new(job, urls(150, 180))
    later.write()
    ledger.commit()
    assert files(tmp_path) == named(ledger) == ["seen-00000001.run"]
    assert recent(ledger) == 30
    ledger.abandon()
    ledger = open_later(tmp_path, later)
    assert not any(ledger.add_new(job, urls(0, 180)))
    ledger.close()


def test_a_run_without_room_is_written_later(tmp_path: Path) -> None:
    """A disk that is full for runs loses no key; when there is room the run is written."""
    case = SqliteCase(tmp_path, SMALL)
    ledger = case.start()
    assert isinstance(ledger, SqliteLedger)
    job = opened(ledger)
    ledger.add_new(job, urls(0, 150))
    case.fill_disk(True)
    with pytest.raises(Exception, match="no room"):
        ledger.commit()
    case.fill_disk(False)
    for start in (150, 160, 170):
        ledger.add_new(job, urls(start, start + 10))
        ledger.commit()
    assert len(files(tmp_path)) == 1
    assert not any(ledger.add_new(job, urls(0, 180)))
    case.end()


def test_a_lost_run_is_said(tmp_path: Path) -> None:
    """The ledger does not go on as if URLs were new that it has met."""
    ledger = open_ledger(tmp_path, SMALL)
    meet(ledger, opened(ledger), 500)
    ledger.close()
    path = next((tmp_path / "seen").iterdir())
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(HomeError, match="are committed"):
        open_ledger(tmp_path, SMALL)


def test_hashes_are_keyed_by_the_installation(tmp_path: Path) -> None:
    """Nobody outside can choose URLs that collide: two installations hash differently."""
    keys = set()
    for name in ("one", "two"):
        ledger = open_ledger(tmp_path / name)
        job = opened(ledger)
        ledger.add_new(job, ["http://a.example/"])
        ledger.commit()
        keys.add(ledger.database.ask(Query[tuple[bytes]]("SELECT keys FROM seen_recent"))[0][0])
        ledger.close()
    assert len(keys) == 2

"""What a ledger does not name is not deleted: the ledger may be empty, or another's."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agent.adapters.ledger import LedgerOptions, SqliteLedger
from agent.adapters.ledger.database import DATABASE
from agent.adapters.ledger.trash import Trash
from agent.errors import HomeError
from tests.agent.adapters.installation import captures_of, open_ledger
from tests.agent.adapters.ledger.test_segments import SMALL, append, files, page

DAY_S = 86_400.0
OTHER = replace(SMALL, agent="b1.example")


def trashed(folder: Path) -> list[str]:
    """Return the names of what lies in the trash."""
    return sorted(path.name for path in Trash(folder).files())


def crawl(folder: Path, numbers: range, options: LedgerOptions = SMALL) -> SqliteLedger:
    """Return a ledger with committed captures; all but the last segment are sealed."""
    ledger = open_ledger(folder, options)
    for number in numbers:
        append(ledger, number)
        ledger.commit()
    return ledger


def age(folder: Path) -> None:
    """Let all files be two days old."""
    at = time.time() - 2 * DAY_S
    for path in folder.rglob("*"):
        os.utime(path, (at, at))


@pytest.mark.parametrize("how", ["empty", "missing"])
def test_an_empty_ledger_loses_no_capture(tmp_path: Path, how: str) -> None:
    """Sealed segments stay, the open one is sealed; the journal of the lost ledger is kept."""
    crawl(tmp_path, range(20)).abandon()
    (tmp_path / "logs" / "crawl-00000001.log").write_bytes(b"lines that nobody was told\n")
    (tmp_path / "logs" / "crawl-00000002.log").write_bytes(b"more of them\n")
    age(tmp_path)
    database = tmp_path / DATABASE
    database.unlink()
    if how == "empty":
        database.touch()
    (tmp_path / f"{DATABASE}-wal").write_bytes(b"changes")
    open_ledger(tmp_path).close()
    assert captures_of(tmp_path) == [page(number) for number in range(20)]
    assert files(tmp_path, "*.open") == []
    assert trashed(tmp_path) == [
        "crawl-00000001.log",
        "crawl-00000002.log",
        f"{DATABASE}-wal",
    ]


def test_anothers_ledger_deletes_nothing(tmp_path: Path) -> None:
    """With an open segment of its own somewhere else: it's refused, and all stays."""
    crawl(tmp_path / "a", range(7)).abandon()
    crawl(tmp_path / "b", range(100, 104), OTHER).abandon()
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
        (tmp_path / "a" / name).unlink(missing_ok=True)
        if (tmp_path / "b" / name).exists():
            (tmp_path / "b" / name).rename(tmp_path / "a" / name)
    age(tmp_path / "a")
    before = captures_of(tmp_path / "a")
    with pytest.raises(HomeError, match="are committed, but missing"):
        open_ledger(tmp_path / "a", SMALL)
    assert captures_of(tmp_path / "a") == before


def test_anothers_ledger_without_an_open_segment(tmp_path: Path) -> None:
    """It knows nothing of the open segment here: that goes to the trash with its links."""
    crawl(tmp_path / "a", range(7)).abandon()
    other = crawl(tmp_path / "b", range(100, 104), OTHER)
    other.seal_segment()
    other.close()
    (tmp_path / "a" / DATABASE).unlink()
    (tmp_path / "a" / f"{DATABASE}-wal").unlink(missing_ok=True)
    (tmp_path / "b" / DATABASE).rename(tmp_path / "a" / DATABASE)
    (open_one,) = files(tmp_path / "a", "*.warc.gz.open")
    held = open_one.read_bytes()
    open_ledger(tmp_path / "a", SMALL).close()
    (kept,) = [path for path in Trash(tmp_path / "a").files() if path.name == open_one.name]
    assert kept.read_bytes() == held


def test_the_trash_is_emptied_after_days(tmp_path: Path) -> None:
    """A few at a time, the oldest first; at once only where the disk is short."""
    trash = Trash(tmp_path)
    for number in range(40):
        path = tmp_path / "x"
        path.write_bytes(b"%d" % number)
        trash.take(path)
    now_s = time.time()
    assert trash.empty(DAY_S, now_s) == (0, 0)
    assert trash.empty(DAY_S, now_s + 3 * DAY_S)[0] == 2
    assert trash.empty(DAY_S, now_s, at_once=True)[0] == 1
    for _ in range(40):
        trash.empty(DAY_S, now_s + 3 * DAY_S)
    assert list(trash.files()) == []
    assert not any(trash.folder.iterdir())


def test_nothing_is_kept_of_nothing(tmp_path: Path) -> None:
    """Empty files are no data, and what is gone is gone."""
    (tmp_path / "x").touch()
    trash = Trash(tmp_path)
    trash.take(tmp_path / "x")
    trash.take(tmp_path / "x")
    assert list(trash.files()) == []

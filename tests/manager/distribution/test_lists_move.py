"""Files are withdrawn while somebody reads a list page by page: none of the others is left out."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from manager.operations.archive import daily_files
from manager.operations.archive.archive_files import FileFilter, list_files
from manager.operations.archive.daily_files import daily_file, keep_daily_files
from tests.manager.archived import collected, page
from tests.manager.asgi import Caller
from tests.manager.distribution.test_withdrawing import withdraw
from tests.manager.running import Agent, Running

FILES = [f"s{number}-a.example.warc.gz" for number in range(6)]
GONE = FILES[1]


@pytest.fixture(autouse=True)
def six(prsm: Running, agent: Agent) -> None:
    """Let six segments come, one of them of a host of its own."""
    for number in range(6):
        host = "other.example" if number == 1 else "www.example.jp"
        collected(prsm, agent, [page(f"http://{host}/{number}")], f"s{number}.warc.gz")


def following(library: Caller, address: str) -> dict[str, Any]:
    parts = urlsplit(address)
    answer: dict[str, Any] = library.get(f"{parts.path}?{parts.query}").json()
    return answer


@pytest.mark.parametrize(
    ("address", "name"), [("/wasapi/v1/webdata", "filename"), ("/api/v1/index", "segment")]
)
def test_who_follows_next_misses_nothing(
    prsm: Running, library: Caller, address: str, name: str
) -> None:
    """Counted from the first, the second page would begin one file too late."""
    answer = library.get(f"{address}?page_size=2").json()
    assert answer["count"] == 6
    found = [file[name] for file in answer["files"]]
    assert found == FILES[:2]
    withdraw(prsm)
    while answer["next"]:
        answer = following(library, answer["next"])
        assert answer["count"] == 5
        found += [file[name] for file in answer["files"]]
    assert found == FILES


def test_numbers_of_pages_are_counted_as_before(library: Caller) -> None:
    """Who asks for a page by its number gets it, and the way back has no mark of the way there."""
    second = library.get("/wasapi/v1/webdata?page=2&page_size=2").json()
    assert [file["filename"] for file in second["files"]] == FILES[2:4]
    third = following(library, second["next"])
    assert [file["filename"] for file in third["files"]] == FILES[4:]
    assert third["next"] is None
    back = following(library, third["previous"])
    assert back["files"] == second["files"]
    assert library.get("/wasapi/v1/webdata?after_file=-1").status_code == 400


def test_a_days_file_has_all_that_stay(prsm: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though one of the first goes while it is written."""
    monkeypatch.setattr(daily_files, "ROWS_AT_ONCE", 2)
    read = []

    def list_and_withdraw(*given: object, **more: object) -> object:
        read.append(list_files(*given, **more))  # type: ignore[arg-type]
        if len(read) == 1:
            withdraw(prsm)
        return read[-1]

    monkeypatch.setattr(daily_files, "list_files", list_and_withdraw)
    folder = prsm.manager.layout.daily
    assert keep_daily_files(prsm.manager.db, folder, prsm.clock()) == 6
    (today,) = [day for day in daily_files.daily_files(folder) if daily_file(folder, day)]
    lines = daily_file(folder, today).decode().splitlines()
    assert [name for name in FILES if any(name in line for line in lines)] == FILES
    assert list_files(prsm.manager.db, FileFilter(), 10).count == 5

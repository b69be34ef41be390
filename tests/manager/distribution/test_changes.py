"""Who follows the changes misses nothing, and is told when it asks too late."""

from __future__ import annotations

import hashlib

import duckdb
import pytest

from manager.db.archive import archive_withdrawals
from tests.manager.archived import collected, page
from tests.manager.asgi import Caller
from tests.manager.running import START_MS, Agent, Running

CHANGES = "/api/v1/changes"


def come(prsm: Running, agent: Agent, number: int) -> None:
    collected(prsm, agent, [page(f"http://www.example.jp/{number}")], f"s{number}.warc.gz")


def test_following(prsm: Running, agent: Agent, library: Caller) -> None:
    """From the present cursor on, page by page, each change once."""
    come(prsm, agent, 0)
    cursor = library.get(CHANGES).json()["next"]
    for number in range(1, 6):
        come(prsm, agent, number)
    seen: list[str] = []
    more = True
    while more:
        answer = library.get(CHANGES, params={"since": cursor, "limit": 2}).json()
        seen += [change["name"] for change in answer["changes"]]
        cursor, more = answer["next"], answer["more"]
    assert seen == [f"s{number}-a.example.warc.gz" for number in range(1, 6)]
    again = library.get(CHANGES, params={"since": cursor}).json()
    assert (again["changes"], again["next"]) == ([], cursor)


def test_since_a_date(prsm: Running, agent: Agent, library: Caller) -> None:
    """A difference since yesterday holds exactly what came since."""
    come(prsm, agent, 1)
    prsm.clock.advance(86_400)
    come(prsm, agent, 2)
    changes = library.get(CHANGES, params={"since": "2026-09-22"}).json()["changes"]
    assert [change["name"] for change in changes] == ["s2-a.example.warc.gz"]
    (change,) = changes
    path = change["location"].removeprefix("http://127.0.0.1")
    data = library.get(path).content
    assert hashlib.sha256(data).hexdigest() == change["checksums"]["sha256"]
    assert len(data) == change["size"]


def test_a_clock_that_was_ahead_hides_nothing(prsm: Running, agent: Agent, library: Caller) -> None:
    """What came while it was a month ahead is behind today, and nothing behind it is forgotten."""
    cursor = library.get(CHANGES).json()["next"]
    come(prsm, agent, 1)
    prsm.clock.advance(30 * 86_400)
    come(prsm, agent, 2)
    prsm.clock.advance(-30 * 86_400 + 60)
    come(prsm, agent, 3)
    today = library.get(CHANGES, params={"since": "2026-09-22"}).json()["changes"]
    assert [change["name"] for change in today] == [
        "s2-a.example.warc.gz",
        "s3-a.example.warc.gz",
    ]
    prsm.clock.advance(401 * 86_400)  # of what is kept for 400 days the second is the oldest
    prsm.manager.archive.tidy()
    library.headers["Authorization"] = (
        "Bearer " + prsm.local.post("/api/v1/clients/library/tokens", json={}).json()["token"]
    )
    assert library.get(CHANGES, params={"since": cursor}).status_code == 410
    with prsm.manager.db.read() as tx:
        second = archive_withdrawals.change_before(tx, START_MS + 29 * 86_400_000)
        kept = archive_withdrawals.changes_after(tx, second, 10)
    assert [change.name for change in kept] == ["s2-a.example.warc.gz", "s3-a.example.warc.gz"]


@pytest.mark.parametrize("cursor", ["7", "1.aaaaaaaaaaaaaaaaaaaaaa", "x" * 30, "1.", "-1.a"])
def test_forged_cursors(library: Caller, cursor: str) -> None:
    """A cursor that this server did not give is refused."""
    answer = library.get(CHANGES, params={"since": cursor})
    assert (answer.status_code, answer.json()["code"]) == (400, "archive.bad_cursor")


def test_too_old(prsm: Running, agent: Agent, library: Caller) -> None:
    """Where changes behind a cursor are forgotten the answer is 410 and how to begin anew."""
    cursor = library.get(CHANGES).json()["next"]
    come(prsm, agent, 1)
    prsm.clock.advance(401 * 86_400)
    come(prsm, agent, 2)
    prsm.manager.archive.tidy()
    library.headers["Authorization"] = (
        "Bearer " + prsm.local.post("/api/v1/clients/library/tokens", json={}).json()["token"]
    )
    answer = library.get(CHANGES, params={"since": cursor})
    assert (answer.status_code, "full list" in answer.text) == (410, True)
    assert library.get(CHANGES, params={"since": "2026-09-01"}).status_code == 410
    newest = library.get(CHANGES).json()["next"]
    assert library.get(CHANGES, params={"since": newest}).json()["changes"] == []


def test_the_index_is_read_by_duckdb(prsm: Running, agent: Agent, library: Caller) -> None:
    """Each public segment has its Parquet file and CDXJ; withheld captures are in none."""
    collected(
        prsm,
        agent,
        [
            page("http://www.example.jp/2"),
            page("http://www.example.jp/1"),
            page("http://www.example.jp/0", fields="X-Robots-Tag: noindex\r\n"),
        ],
    )
    (file,) = library.get("/api/v1/index").json()["files"]
    data = library.get(file["location"].removeprefix("http://127.0.0.1")).content
    assert hashlib.sha256(data).hexdigest() == file["checksums"]["sha256"]
    path = prsm.manager.layout.data / "got.parquet"
    path.write_bytes(data)
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT url, fetched_ms, filename FROM read_parquet(?)", [str(path)]
        ).fetchall()
    assert rows == [
        (f"http://www.example.jp/{number}", START_MS, "x-a.example-r1.warc.gz") for number in (1, 2)
    ]
    lines = library.get(file["cdxj"].removeprefix("http://127.0.0.1")).text.splitlines()
    assert [line.split(" ", 1)[0] for line in lines] == ["jp,example)/1", "jp,example)/2"]

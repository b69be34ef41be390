"""Segments that no row names are entered again, and no more is given away than before."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from manager.cli import main
from manager.cli.archive import adoption
from manager.cli.options import Target
from manager.operations.identity.enrolment import identity_by_id
from manager.operations.people.clients import issue_token, register_client
from manager.store.owner_marks import MARK, Mark
from tests.manager.archived import arrived, collected, hold, page, segment_bytes
from tests.manager.asgi import Caller
from tests.manager.kept_files import contents, fill_archive, sqlite_of, start, unmark
from tests.manager.running import LOCAL, Running, running

ROWS = (
    "SELECT name, kind, state, key, sha256, md5, captures, index_sha256, cdxj_sha256 FROM segments"
)
SHARES = (
    "SELECT name, hosts.key, segment_hosts.captures, bytes FROM segment_hosts"
    " JOIN segments ON segments.id = segment_id JOIN hosts ON hosts.id = host_id"
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return an archive of three segments, one divided; its manager has ended."""
    folder = tmp_path / "data"
    with running(folder) as prsm:
        fill_archive(prsm)
        agent = prsm.agent("b.example")
        hold(prsm, agent, "http://third.example:80/")
        captures = [
            page("http://third.example/1"),
            page("http://third.example/2", fields="X-Robots-Tag: noindex\r\n"),
            page("http://stranger.example/"),
        ]
        collected(prsm, agent, captures, "x-20261122000000-00009-b.example.warc.gz")
    return folder


@pytest.fixture
def rows(data: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return what the tables say of the archive."""
    return tables(data)


def tables(data: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return what the tables say of the archive, without the numbers of rows."""
    return {query: sorted(sqlite_of(data, query)) for query in (ROWS, SHARES)}


def adopt(data: Path, *options: str, code: int = 0) -> Result:
    """Run `prsm archive adopt` where no manager serves."""
    arguments = ["archive", "adopt", "--yes", *options]
    result = CliRunner().invoke(main, arguments, obj=Target(data, None))
    assert result.exit_code == code, result.output
    return result


def told(data: Path, *options: str) -> dict[str, object]:
    """Return what `prsm archive adopt --json` says."""
    found = json.loads(adopt(data, "--json", *options).stdout)
    assert isinstance(found, dict)
    return found


def test_a_lost_database_is_made_anew(
    data: Path, rows: dict[str, list[tuple[object, ...]]]
) -> None:
    """All segments with their kinds, digests and hosts; the id is that of the files."""
    before = contents(data)
    marked = Mark.decoded((data / MARK).read_bytes()).installation
    (data / "prsm.sqlite").write_bytes(b"")
    seen = told(data, "--dry-run")
    assert (seen["segments"], seen["new_agents"], seen["new_hosts"]) == (5, 2, 3)
    assert (data / "prsm.sqlite").stat().st_size == 0
    done = told(data)
    assert {**done, "dry_run": True} == {**seen, "installation": marked, "id_from": "files"}
    assert done["installation"] == marked
    assert tables(data) == rows
    assert contents(data).keys() == before.keys()
    start(data)
    (row,) = sqlite_of(data, "SELECT alert, detail FROM audit WHERE action = 'archive.adopt'")
    assert row[0] == 1
    assert json.loads(str(row[1]))["segments"] == 5
    assert told(data)["segments"] == 0


def test_an_adoption_says_how_far_it_is(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On standard error, while segments are read side by side."""
    monkeypatch.setattr(adoption, "PROGRESS_S", 0.0)
    (data / "prsm.sqlite").write_bytes(b"")
    shown = adopt(data).stderr.splitlines()
    assert [line.partition(" read")[0] for line in shown] == [
        f"{number} of 5 segments" for number in range(1, 6)
    ]


def test_an_older_backup_finds_what_came_since(data: Path, tmp_path: Path) -> None:
    """Rows of before stay, and the agent's own segment is known when it comes again."""
    shutil.copy(data / "prsm.sqlite", tmp_path / "older.sqlite")
    with running(data) as prsm:
        identity = identity_by_id(prsm.manager.db, 1)
        body = segment_bytes([page("http://www.example.jp/later")])
        name = "x-20261123000000-00003-a.example.warc.gz"
        prsm.manager.archive.intake.accept(identity, arrived(data, body, name))
    since = tables(data)
    shutil.copy(tmp_path / "older.sqlite", data / "prsm.sqlite")
    done = told(data)
    assert done["entered"] == [name]
    assert (done["id_from"], done["new_agents"], done["missing_count"]) == ("", 0, 0)
    assert tables(data) == since
    with running(data) as prsm:
        outcome = prsm.manager.archive.intake.accept(identity, arrived(data, body, name))
        assert getattr(outcome, "repeated", False)


def test_what_is_in_the_trash_is_taken_out(
    data: Path, rows: dict[str, list[tuple[object, ...]]]
) -> None:
    """Moved there by a mistake, with their indexes."""
    before = contents(data)
    with running(data) as prsm:
        for name in before:
            prsm.manager.archive.reading.trash.take(name, "2026-11-01")
    (data / "prsm.sqlite").unlink()
    assert contents(data) == {}
    assert told(data)["segments"] == 5
    assert contents(data).keys() == before.keys()
    assert tables(data) == rows


def test_a_lost_index_is_made_again(data: Path) -> None:
    """Without proof of rights all is quarantined; with trust, noindex is withheld all the same."""
    shutil.rmtree(data / "archive/index")
    (data / "prsm.sqlite").unlink()
    assert told(data, "--dry-run")["quarantined"] == 7
    done = told(data, "--trust")
    assert done["quarantined"] == 0
    kinds = sqlite_of(data, "SELECT kind, sum(captures) FROM segments GROUP BY kind ORDER BY kind")
    assert kinds == [("public", 6), ("withheld", 1)]
    start(data)


def test_rights_that_are_known_are_proof(data: Path) -> None:
    """A segment without index and row, in a database that knows its agent: judged as it came."""
    (before,) = sqlite_of(data, f"{ROWS} WHERE name LIKE '%00000-a.example%'")
    number = sqlite_of(data, "SELECT id FROM segments WHERE name LIKE '%00000-a.example%'")[0][0]
    for statement in (
        f"DELETE FROM archive_changes WHERE segment_id = {number}",
        f"DELETE FROM segment_hosts WHERE segment_id = {number}",
        f"DELETE FROM segments WHERE id = {number}",
        "DELETE FROM arrivals WHERE name LIKE '%00000-a.example%'",
    ):
        sqlite_of(data, statement)
    index = data / "archive/index" / str(before[3]).replace(".warc.gz", ".parquet")
    index.unlink()
    done = told(data)
    assert (done["segments"], done["quarantined"]) == (1, 0)
    assert sqlite_of(data, f"{ROWS} WHERE name LIKE '%00000-a.example%'") == [before]


def test_damage_is_left_as_it_is(data: Path) -> None:
    """Bytes that are not those of the name are not entered, and not deleted."""
    damaged = next((data / "archive/segments/1").iterdir())
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    (data / "prsm.sqlite").unlink()
    done = told(data)
    assert (done["segments"], done["not_entered_count"]) == (4, 1)
    assert "damaged" in str(done["not_entered"])
    assert damaged.exists()
    assert f"not entered: 1/{damaged.name}" in adopt(data).output


def test_what_was_withdrawn_is_not_entered(data: Path) -> None:
    """A segment whose row says that it is gone: it waits to be deleted."""
    sqlite_of(data, "UPDATE segments SET state = 'gone' WHERE id = 1")
    assert told(data)["segments"] == 0


def test_hosts_that_are_excluded_stay_so(data: Path) -> None:
    """What holds one is entered as withdrawn, and rewritten without it."""
    with running(data) as prsm:
        prsm.local.post("/api/v1/hosts/exclude", json={"host": "other.example", "reason": "x"})
    for table in ("archive_changes", "segment_hosts", "segments", "arrivals"):
        sqlite_of(data, f"DELETE FROM {table}")
    assert told(data)["segments"] == 5
    states = sqlite_of(data, "SELECT state, count(*) FROM segments GROUP BY state ORDER BY state")
    assert states == [("current", 3), ("withdrawn", 2)]
    with running(data) as prsm:
        assert prsm.local.post("/api/v1/archive/compact", json={}).json() == {
            "rewritten": 2,
            "deleted": 0,
        }


def test_missing_files_are_said(data: Path) -> None:
    """An archive without an id and with a hole is adopted by hand, and the hole is named."""
    unmark(data)
    gone = next((data / "archive/segments").rglob("*.warc.gz"))
    gone.unlink()
    done = told(data)
    assert done["missing"] == [f"archive/segments/{gone.parent.name}/{gone.name}"]
    start(data)


def test_another_installations_files(data: Path, tmp_path: Path) -> None:
    """A database that knows agents gives the files its own id, and other agents their names."""
    other = tmp_path / "other"
    with running(other) as prsm:
        prsm.agent("z.example")
    (other / "prsm.toml").write_text(f'[database]\nfiles_folder = "{data}"\n')
    assert told(other, "--dry-run", "--id-of", "files")["id_from"] == "files"
    done = told(other)
    assert (done["id_from"], done["segments"], done["new_agents"]) == ("database", 5, 2)
    names = sqlite_of(
        other, "SELECT agents.name, count(*) FROM segments JOIN agents ON agents.id = agent_id"
        " GROUP BY agents.name ORDER BY agents.name",
    )  # fmt: skip
    assert names == [("a.example", 2), ("b.example", 3)]
    start(other)
    with pytest.raises(Exception, match="its files are of installation"):
        start(data)


def test_the_id_of_the_files_on_request(data: Path) -> None:
    """A database that was made anew has agents already: they know it by the files' id."""
    marked = Mark.decoded((data / MARK).read_bytes()).installation
    sqlite_of(data, "UPDATE installation SET uuid = 'another'")
    assert told(data, "--id-of", "files")["installation"] == marked
    assert sqlite_of(data, "SELECT uuid FROM installation") == [(marked,)]
    sqlite_of(data, "UPDATE installation SET uuid = 'another'")
    (data / MARK).write_bytes(b"")
    assert "no common installation id" in adopt(data, "--id-of", "files", code=1).output
    assert told(data)["installation"] == "another"


def test_a_served_directory_is_adopted_over_its_manager(data: Path) -> None:
    """By the API, with the rows of the running manager; who only reads may not."""
    for table in ("archive_changes", "segment_hosts", "segments", "arrivals"):
        sqlite_of(data, f"DELETE FROM {table}")
    with running(data) as prsm:
        dry = prsm.local.post("/api/v1/archive/adopt", json={"dry_run": True})
        assert (dry.status_code, dry.json()["segments"]) == (200, 5)
        assert sqlite_of(data, "SELECT count(*) FROM segments") == [(0,)]
        done = prsm.local.post("/api/v1/archive/adopt", json={}).json()
        assert (done["segments"], done["dry_run"]) == (5, False)
        assert prsm.anybody.post("/api/v1/archive/adopt", json={}).status_code in (401, 403)
        assert prsm.local.get("/api/v1/archive/trash").json() == []
        assert given(prsm) == 3


def given(prsm: Running) -> int:
    """Return how many segments third parties get."""
    register_client(prsm.manager.db, "library", "x", "", LOCAL, prsm.clock())
    token = issue_token(prsm.manager.db, "library", LOCAL, prsm.clock()).token
    library = Caller(prsm.public, headers={"Authorization": f"Bearer {token}"})
    return int(library.get("/wasapi/v1/webdata").json()["count"])


def test_while_a_manager_serves_nothing_is_adopted_beside_it(data: Path) -> None:
    """Its lock refuses: the API is the way, and the socket was not there."""
    with running(data):
        result = adopt(data, code=1)
    assert "another manager serves" in result.output

"""What a web server in front is told when it asks for the next piece of a file."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from manager.db import Database
from manager.operations.archive.downloads import Taken, list_downloads, store_downloads
from manager.operations.people.clients import issue_token
from tests.manager.archived import collected, page
from tests.manager.asgi import Caller
from tests.manager.distribution.test_jobs import submit
from tests.manager.distribution.test_segments import caller, token_of
from tests.manager.running import LOCAL, Agent, Running

PIECES = "/api/v1/pieces"


def ask(who: Caller, path: str, piece: str = "bytes=0-8388607") -> int:
    return who.get(PIECES, headers={"X-Piece-Path": path, "X-Piece-Range": piece}).status_code


@pytest.fixture
def path(prsm: Running, agent: Agent) -> str:
    """Return where nginx finds a segment that was collected."""
    collected(prsm, agent, [page(), page("http://other.example/", b"x" * 1000)])
    (file,) = prsm.files("archive/segments")
    return f"/segments/{file.parent.name}/{file.name}"


def test_each_kind_of_file(prsm: Running, path: str, library: Caller) -> None:
    """A segment, its index and CDXJ, a result: as long as they are given away."""
    submit(library)
    prsm.manager.archive.run_jobs()
    stem = path.removeprefix("/segments").removesuffix(".warc.gz")
    paths = (path, f"/index{stem}.parquet", f"/index{stem}.cdxj", "/results/1.result")
    assert [ask(library, each) for each in paths] == [204] * 4
    other = caller(prsm, token_of(prsm, "other"))
    assert [ask(other, each) for each in paths] == [204, 204, 204, 403]
    answer = prsm.local.post(
        "/api/v1/hosts/exclude", json={"host": "other.example", "reason": "asked to"}
    )
    assert answer.status_code == 204
    assert [ask(library, each) for each in paths] == [403] * 4


def test_other_paths(library: Caller) -> None:
    """What is no file of the archive is refused, whatever it is."""
    digest = "0" * 64
    for path in ("", "/", "/../prsm.toml", f"/segments/1/{digest}.warc.gz", "/results/1.part",
                 "/results/9.result", f"/segments/1/../1/{digest}.warc.gz"):  # fmt: skip
        assert ask(library, path) == 403, path


def test_tokens(prsm: Running, path: str) -> None:
    """No token, a narrow one, and one that is revoked; asking is not counted as a request."""
    assert ask(prsm.anybody, path) == 403
    narrow = caller(prsm, token_of(prsm, scopes=["pages"]))
    assert ask(narrow, path) == 403
    db = prsm.manager.db
    token = issue_token(db, "library", LOCAL, prsm.clock(), requests_per_minute=1)
    mine = caller(prsm, token.token)
    assert [ask(mine, path) for _ in range(3)] == [204] * 3
    prsm.local.post(f"/api/v1/clients/library/tokens/{token.id}/revoke", json={})
    assert ask(mine, path) == 403


def test_pieces_are_progress(prsm: Running, path: str, library: Caller) -> None:
    """How far a download behind nginx is, and its end."""
    (file,) = prsm.files("archive/segments")
    size, downloads = file.stat().st_size, prsm.manager.archive.downloads
    assert ask(library, path, "bytes=0-99") == 204
    downloads.flush()
    (row,) = list_downloads(prsm.manager.db, prsm.clock())
    assert (row.name, row.sent_bytes, row.size_bytes) == ("x-a.example.warc.gz", 100, size)
    assert row.state == "going"
    assert ask(library, path, "bytes=100-8388607") == 204
    downloads.flush()
    (row,) = list_downloads(prsm.manager.db, prsm.clock())
    assert (row.state, row.sent_bytes) == ("done", size)


def test_what_comes_while_it_is_written_down_is_kept(
    prsm: Running, path: str, library: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A piece that is sent while the database is slow is in the next writing."""
    downloads = prsm.manager.archive.downloads
    assert ask(library, path, "bytes=0-99") == 204

    def slow(db: Database, taken: Sequence[Taken]) -> None:
        store_downloads(db, taken)
        assert ask(library, path, "bytes=100-149") == 204

    with monkeypatch.context() as patched:
        patched.setattr("manager.distribution.downloads.store_downloads", slow)
        downloads.flush()
    downloads.flush()
    (row,) = list_downloads(prsm.manager.db, prsm.clock())
    assert row.sent_bytes == 150

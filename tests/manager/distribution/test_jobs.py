"""Large selections are files: queued, made, fetched in parts, and only by who asked."""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from manager.db.archive import selection_jobs as rows
from manager.operations.archive import selection_files, selection_jobs, selection_results
from manager.operations.hosts.hosts import exclude_host
from manager.store import StoreFullError
from manager.store.captures import page_zip
from tests.manager.archived import collected, page
from tests.manager.asgi import Caller
from tests.manager.distribution.test_segments import caller, token_of
from tests.manager.running import LOCAL, Agent, Running

JOBS = "/wasapi/v1/jobs"


def submit(library: Caller, query: str = "host=.*", function: str = "extract-zip") -> str:
    answer = library.post(JOBS, json={"function": function, "query": query})
    assert answer.status_code == 201, answer.text
    assert answer.json()["state"] == "queued"
    return str(answer.json()["jobtoken"])


def entries(archive: bytes) -> dict[str, bytes]:
    """Return what lies in the zips of hosts in a zip, by place."""
    found: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(archive)) as outer:
        for host in outer.namelist():
            with zipfile.ZipFile(io.BytesIO(outer.read(host))) as inner:
                found |= {f"{host}/{name}": inner.read(name) for name in inner.namelist()}
    return found


def test_a_job_is_made_and_fetched(prsm: Running, agent: Agent, library: Caller) -> None:
    """Its result has size and digests, and comes in parts, as a segment does."""
    collected(prsm, agent, [page(), page("http://other.example/")])
    token = submit(library)
    assert library.get(f"{JOBS}/{token}/result").status_code == 409
    assert prsm.manager.archive.run_jobs() == 1
    shown = library.get(f"{JOBS}/{token}").json()
    assert (shown["state"], shown["done"], shown["total"]) == ("complete", 2, 2)
    (file,) = library.get(f"{JOBS}/{token}/result").json()["files"]
    path = file["locations"][0].removeprefix("http://127.0.0.1")
    whole = library.get(path)
    assert hashlib.sha256(whole.content).hexdigest() == file["checksums"]["sha256"]
    assert len(whole.content) == file["size"]
    with zipfile.ZipFile(io.BytesIO(whole.content)) as read:
        assert len(read.namelist()) == 2
    part = library.get(path, headers={"Range": "bytes=10-19", "If-Range": whole.headers["etag"]})
    assert (part.status_code, part.content) == (206, whole.content[10:20])
    streamed = library.get("/api/v1/pages.zip", params={"host": ".*"})
    assert entries(streamed.content) == entries(whole.content)
    assert [each["jobtoken"] for each in library.get(JOBS).json()["jobs"]] == [token]


def test_an_index_that_went_ends_its_job_and_says_so(
    prsm: Running, agent: Agent, library: Caller
) -> None:
    """Compaction may take a segment's index away between the look-up and the reading."""
    collected(prsm, agent, [page()])
    token = submit(library)
    (index,) = (prsm.manager.layout.kept / "archive" / "index").rglob("*.parquet")
    index.unlink()
    assert prsm.manager.archive.run_jobs() == 1
    with prsm.manager.db.read() as tx:
        (job,) = rows.all_jobs(tx, client="", state="", before=None, limit=1)
    assert job.state == "failed"
    assert job.problem is not None
    assert job.problem.code == "archive.index_unreadable"
    assert library.get(f"{JOBS}/{token}").json()["state"] == "failed"


def test_jobs_are_their_owners(prsm: Running, agent: Agent, library: Caller) -> None:
    """Another client sees neither job nor result."""
    collected(prsm, agent, [page()])
    token = submit(library)
    prsm.manager.archive.run_jobs()
    other = caller(prsm, token_of(prsm, "other"))
    for path in (f"{JOBS}/{token}", f"{JOBS}/{token}/result", f"/api/v1/results/{token}"):
        assert other.get(path).status_code == 404
    assert other.get(JOBS).json()["count"] == 0


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"function": "build-wat", "query": "host=.*"}, "extract-warc"),
        ({"function": "extract-zip", "query": "hosts=.*"}, "did you mean host?"),
        ({"function": "extract-zip", "query": ""}, "at least one"),
        ({"function": "extract-zip", "query": "host"}, "must be like"),
        ({"function": "extract-zip", "query": "host=("}, "missing )"),
    ],
)
def test_bad_jobs(library: Caller, body: dict[str, str], said: str) -> None:
    """What cannot be made is refused when it is submitted."""
    answer = library.post(JOBS, json=body)
    assert (answer.status_code, said in answer.text) == (400, True), answer.text


def test_too_many_jobs(library: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client has so many jobs waiting, not more."""
    monkeypatch.setattr(selection_jobs, "OPEN_JOBS", 2)
    submit(library)
    submit(library)
    answer = library.post(JOBS, json={"function": "extract-zip", "query": "host=.*"})
    assert (answer.status_code, answer.headers["x-error-code"]) == (409, "archive.too_many_jobs")


def test_a_full_disk_fails_the_job(
    prsm: Running, agent: Agent, library: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job says why; no part of a result stays; the next one is made."""

    def full(*_: object) -> object:
        raise StoreFullError("the disk of results is full")

    collected(prsm, agent, [page()])
    token = submit(library)
    with monkeypatch.context() as patched:
        patched.setattr(selection_results, "make", full)
        prsm.manager.archive.run_jobs()
    shown = library.get(f"{JOBS}/{token}").json()
    assert (shown["state"], "full" in shown["problem"]) == ("failed", True)
    assert prsm.files("archive/results") == []
    submit(library)
    assert prsm.manager.archive.run_jobs() == 1


def test_a_killed_manager_begins_again(prsm: Running, agent: Agent, library: Caller) -> None:
    """A job that ran when the process ended is made by the next one."""
    collected(prsm, agent, [page()])
    token = submit(library)
    with prsm.manager.db.write() as tx:
        rows.change_job(tx, 1, state="running", done=1)
    assert prsm.manager.archive.run_jobs() == 0
    assert selection_results.begin_again(prsm.manager.db) == 1
    assert prsm.manager.archive.run_jobs() == 1
    assert library.get(f"{JOBS}/{token}").json()["state"] == "complete"


def test_a_job_that_is_removed_while_it_is_made(
    prsm: Running, agent: Agent, library: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It leaves nothing, and stays removed."""
    collected(prsm, agent, [page()])
    token = submit(library)

    def removed_meanwhile(*given: Any) -> Iterator[bytes]:
        selection_jobs.remove_job(prsm.manager.db, 1, LOCAL, prsm.clock())
        yield from selection_files.make(*given)

    monkeypatch.setattr(selection_results, "make", removed_meanwhile)
    assert prsm.manager.archive.run_jobs() == 1
    shown = library.get(f"{JOBS}/{token}").json()
    assert (shown["state"], shown["problem"]) == ("gone", "removed by test")
    assert prsm.files("archive/results") == []
    assert library.get(f"/api/v1/results/{token}").status_code == 410


def test_a_host_that_is_withdrawn_while_its_pages_are_made(
    prsm: Running, agent: Agent, library: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job is made again, without the host."""
    collected(prsm, agent, [page(), page("http://other.example/1"), page("http://other.example/2")])
    token = submit(library, function="extract-warc")
    monkeypatch.setattr(selection_files, "WATCH_S", -1.0)

    def withdrawn_meanwhile(picked: Any, reader: Any) -> Iterator[bytes]:
        for number, record in enumerate(page_zip.warc_records(picked, reader)):
            if number == 1:
                exclude_host(prsm.manager.db, "other.example", "asked", LOCAL, prsm.clock())
            yield record

    monkeypatch.setattr(selection_files, "warc_records", withdrawn_meanwhile)
    assert prsm.manager.archive.run_jobs() == 2
    shown = library.get(f"{JOBS}/{token}").json()
    assert (shown["state"], shown["done"]) == ("complete", 1)
    answer = library.get(f"/api/v1/results/{token}")
    assert b"other.example" not in gzip.decompress(answer.content)

"""A host that is taken down is given to nobody, at once and everywhere, and then rewritten away."""

from __future__ import annotations

import gzip
import io
import tempfile
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manager.db.segments import segments
from manager.db.segments.segments import SegmentRow
from manager.operations.archive.selection_results import remove_old_results
from manager.operations.segments.archive_upkeep import remove_orphans
from manager.operations.segments.segment_outcomes import Refused
from shared.archive.verify import verify_segment
from tests.examples import examples
from tests.manager.archived import collected, hold, page, revisit_of
from tests.manager.asgi import Caller
from tests.manager.distribution.test_segments import caller, token_of
from tests.manager.running import START_MS, Agent, Running, running

NAME = "x-a.example.warc.gz"
SEGMENT = f"/api/v1/segments/{NAME}"
INDEX = f"/api/v1/index/{NAME}.parquet"


def withdraw(prsm: Running, host: str = "other.example") -> None:
    answer = prsm.local.post("/api/v1/hosts/exclude", json={"host": host, "reason": "asked to"})
    assert answer.status_code == 204, answer.text


def compact(prsm: Running) -> dict[str, int]:
    answer = prsm.local.post("/api/v1/archive/compact", json={})
    assert answer.status_code == 200, answer.text
    done: dict[str, int] = answer.json()
    return done


def all_segments(prsm: Running) -> list[SegmentRow]:
    with prsm.manager.db.read() as tx:
        return segments.segments_of_arrival(tx, 1)


@pytest.fixture
def two(prsm: Running, agent: Agent) -> None:
    """Let a segment come that holds two hosts."""
    first = page("http://www.example.jp/1", b"keep me")
    pages = [
        first,
        page("http://other.example/secret", b"forget me"),
        revisit_of(first, START_MS + 1),
    ]
    collected(prsm, agent, pages)


def job(prsm: Running, library: Caller, host: str) -> str:
    asked = {"function": "extract-zip", "query": f"host={host}"}
    made = library.post("/wasapi/v1/jobs", json=asked)
    assert made.status_code == 201, made.text
    assert prsm.manager.archive.run_jobs() == 1
    return str(made.json()["jobtoken"])


@pytest.mark.usefixtures("two")
def test_withdrawn_at_once_everywhere(prsm: Running, library: Caller) -> None:
    """Segment, index, result, list and selection: 410 or without it, before any compaction."""
    start = library.get("/api/v1/changes").json()["next"]
    all_of_it = job(prsm, library, ".*")
    others = job(prsm, library, "www.*")
    assert library.get(f"/api/v1/results/{all_of_it}").status_code == 200
    withdraw(prsm)
    for path in (SEGMENT, INDEX, f"/api/v1/index/{NAME}.cdxj", f"/api/v1/results/{all_of_it}"):
        answer = library.get(path)
        assert (answer.status_code, path) == (410, path)
    assert library.get(f"/api/v1/results/{others}").status_code == 200
    assert library.get("/wasapi/v1/webdata").json()["count"] == 0
    assert library.get("/api/v1/index").json()["count"] == 0
    (change,) = library.get("/api/v1/changes", params={"since": start}).json()["changes"]
    assert (change["what"], change["name"], "location" in change) == ("deleted", NAME, False)
    answer = library.get("/api/v1/pages.warc.gz", params={"host": ".*"})
    assert answer.content.count(b"\x1f\x8b\x08") >= 3
    assert library.get("/api/v1/pages", params={"host": "other.*"}).json()["hosts"] == 0


@pytest.mark.usefixtures("two")
def test_the_next_compaction_rewrites(prsm: Running, library: Caller, tmp_path: Path) -> None:
    """The other hosts come back under a new name; no byte of the host is left on the disk."""
    start = library.get("/api/v1/changes").json()["next"]
    withdraw(prsm)
    assert compact(prsm) == {"rewritten": 1, "deleted": 0}
    assert compact(prsm) == {"rewritten": 0, "deleted": 0}
    old, new = all_segments(prsm)
    assert (old.state, new.state, new.revision) == ("gone", "current", 1)
    assert new.name == "x-a.example-r1.warc.gz"
    assert [file.name.split(".")[1] for file in prsm.files("archive/index")] == ["cdxj", "parquet"]
    (kept,) = prsm.files("archive/segments")
    assert verify_segment(kept, new.sha256).captures == 2
    path = tmp_path / "got.warc.gz"
    path.write_bytes(library.get(f"/api/v1/segments/{new.name}").content)
    assert verify_segment(path, new.sha256).captures == 2
    assert library.get(SEGMENT).status_code == 410
    changes = library.get("/api/v1/changes", params={"since": start}).json()["changes"]
    assert [(change["what"], change["name"]) for change in changes] == [
        ("deleted", NAME), ("created", new.name),
    ]  # fmt: skip


def test_a_segment_of_nothing_else_is_deleted(prsm: Running, agent: Agent, library: Caller) -> None:
    """Where all captures were the host's, nothing is left."""
    collected(prsm, agent, [page("http://other.example/")])
    withdraw(prsm)
    assert compact(prsm) == {"rewritten": 0, "deleted": 1}
    assert prsm.files("archive/segments") == prsm.files("archive/index") == []
    assert library.get(SEGMENT).status_code == 410


def test_withheld_captures_go_too(prsm: Running, agent: Agent) -> None:
    """What was kept and not given away is the host's as well."""
    secret = page("http://other.example/", fields="X-Robots-Tag: noarchive\r\n")
    collected(prsm, agent, [page(), secret])
    withdraw(prsm)
    assert compact(prsm) == {"rewritten": 0, "deleted": 1}
    assert [row.state for row in all_segments(prsm)] == ["current", "gone"]


@pytest.mark.usefixtures("two")
def test_later_uploads_are_refused(prsm: Running, agent: Agent) -> None:
    """What an agent sends of the host afterwards is not kept."""
    withdraw(prsm)
    got = collected(prsm, agent, [page("http://other.example/late")], "late.warc.gz")
    assert isinstance(got.outcome, Refused)


@pytest.mark.usefixtures("two")
def test_included_again_in_time(prsm: Running, library: Caller) -> None:
    """Before the compaction nothing is lost: it is given away again, and followers hear."""
    start = library.get("/api/v1/changes").json()["next"]
    before = library.get(SEGMENT).content
    withdraw(prsm)
    prsm.local.post("/api/v1/hosts/include", json={"host": "other.example"})
    assert library.get(SEGMENT).status_code == 410
    assert compact(prsm) == {"rewritten": 0, "deleted": 0}
    assert library.get(SEGMENT).content == before
    changes = library.get("/api/v1/changes", params={"since": start}).json()["changes"]
    assert [change["what"] for change in changes] == ["deleted", "created"]


@pytest.mark.usefixtures("two")
def test_strays_are_removed(prsm: Running) -> None:
    """A file that no row names goes when it is a day old; what is named stays."""
    archive_of = prsm.manager.archive
    (kept,) = prsm.files("archive/segments")
    stray = kept.with_name("0" * 64 + ".warc.gz")
    stray.write_bytes(b"x")
    assert remove_orphans(prsm.manager.db, archive_of.reading) == 0
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("manager.operations.segments.archive_upkeep.ORPHAN_S", -1.0)
        assert remove_orphans(prsm.manager.db, archive_of.reading) == 1
    assert prsm.files("archive/segments") == [kept]


@pytest.mark.usefixtures("two")
def test_twice_withdrawn(prsm: Running, library: Caller) -> None:
    """Rewritten once without one host and again without the other: nothing is left."""
    withdraw(prsm)
    compact(prsm)
    withdraw(prsm, "www.example.jp")
    assert compact(prsm) == {"rewritten": 0, "deleted": 1}
    assert library.get("/wasapi/v1/webdata").json()["count"] == 0


@pytest.mark.usefixtures("two")
def test_results_are_removed(prsm: Running, library: Caller) -> None:
    """The file of a result that is gone, or old, is removed."""
    job(prsm, library, ".*")
    withdraw(prsm)
    job(prsm, library, ".*")
    making = prsm.manager.archive.making
    assert remove_old_results(making, 60) == 0
    assert len(prsm.files("archive/results")) == 1
    prsm.clock.advance(61)
    assert remove_old_results(making, 60) == 1
    assert prsm.files("archive/results") == []


def plain_of(data: bytes) -> bytes:
    """Return bytes with all that is packed in them: zips in zips, gzip members, Parquet."""
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive_of:
            names = " ".join(archive_of.namelist()).encode()
            return names + b"".join(plain_of(archive_of.read(one)) for one in archive_of.namelist())
    if data.startswith(b"\x1f\x8b"):
        return gzip.decompress(data)
    if data.startswith(b"PAR1"):
        return str(pq.read_table(io.BytesIO(data)).to_pylist()).encode()
    return data


@given(
    ranges=st.lists(
        st.tuples(st.integers(0, 3000), st.integers(0, 3000)).map(sorted), min_size=1, max_size=4
    ),
    compacts=st.booleans(),
    expression=st.sampled_from([".*", "other.*", ".*:80", "(www|other)[.].*"]),
)
@settings(max_examples=examples(8), deadline=None)
def test_nothing_of_a_withdrawn_host_is_given(
    ranges: list[list[int]], compacts: bool, expression: str
) -> None:
    """By none of the ways, whole or in ranges, resumed or anew, before and after a compaction."""
    with (
        tempfile.TemporaryDirectory() as name,
        running(Path(name)) as prsm,
    ):
        agent = prsm.agent()
        hold(prsm, agent, "http://www.example.jp:80/", "http://other.example:80/")
        kept = page("http://www.example.jp/1", b"<p>KEEP")
        gone = page("http://other.example/secret", b"<p>FORGET" * 100)
        collected(prsm, agent, [kept, gone, revisit_of(gone, START_MS + 1)])
        prsm.manager.archive.tidy()
        token = token_of(prsm)
        library = caller(prsm, token)
        jobs = [job(prsm, library, expression) for _ in range(2)]
        tags = {path: library.get(path).headers["etag"] for path in (SEGMENT, INDEX)}
        withdraw(prsm)
        if compacts:
            compact(prsm)
        again = library.post(
            "/wasapi/v1/jobs", json={"function": "extract-warc", "query": f"host={expression}"}
        ).json()["jobtoken"]
        prsm.manager.archive.run_jobs()
        said = b""
        listed = library.get("/wasapi/v1/webdata").json()["files"]
        current = [file["filename"] for file in listed]
        assert len(current) == compacts
        paths = [SEGMENT, INDEX, f"/api/v1/index/{NAME}.cdxj"]
        paths += [f"/api/v1/results/{one}" for one in (*jobs, again)]
        for one in current:
            paths += [f"/api/v1/segments/{one}", f"/api/v1/index/{one}.parquet"]
            paths += [f"/api/v1/index/{one}.cdxj"]
        for path in paths:
            whole = library.get(path)
            said += plain_of(whole.content) if whole.status_code == 200 else b""
            for first, last in ranges:
                fields = {"Range": f"bytes={first}-{last}"}
                if path in tags:
                    fields["If-Range"] = tags[path]
                part = library.get(path, headers=fields)
                if part.status_code == 206:
                    assert whole.status_code == 200
                    assert part.content == whole.content[first : last + 1]
                else:
                    assert part.status_code in (200, 410, 416)
        for way in ("pages.zip", "pages.warc.gz", "pages/hosts"):
            for asked in ({"host": expression}, {"host": ".*"}, {"url": "http://other.example/"}):
                answer = library.get(f"/api/v1/{way}", params=asked)
                assert answer.status_code == 200
                said += plain_of(answer.content)
        for day in library.get("/api/v1/daily").json():
            said += library.get(f"/api/v1/daily/{day}").content
        said += library.get("/api/v1/changes", params={"since": "2020"}).content
        assert b"FORGET" not in said
        assert b"other.example" not in said
        assert (b"KEEP" in said) or expression == "other.*"

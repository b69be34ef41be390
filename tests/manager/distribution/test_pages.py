"""Pages of hosts: the source's request, byte for byte, and the same as WARC."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import duckdb
import pytest
from warcio.archiveiterator import ArchiveIterator

from manager.db.tables import hosts
from manager.operations.hosts.hosts import exclude_host
from shared.archive.capture import Capture
from shared.archive.limits import MAX_BODY_BYTES
from shared.archive.verify import verify_segment
from tests.fixtures_dir import fixture_folder
from tests.manager.archived import collected, hold, page, revisit_of
from tests.manager.asgi import Caller
from tests.manager.running import LOCAL, START_MS, Agent, Running
from tests.shared.archive.classic_lists import read_dates, read_links, read_paths

PAGES = "/api/v1/pages.zip"
WARC = "/api/v1/pages.warc.gz"
ETL = "http://www.etl.go.jp:80/"
INSIDE = "html/6700/9e/www.etl.go.jp:80.zip"
HOUR = 3_600_000


def hosts_in(data: bytes) -> dict[str, zipfile.ZipFile]:
    with zipfile.ZipFile(io.BytesIO(data)) as outer:
        assert outer.testzip() is None
        return {name: zipfile.ZipFile(io.BytesIO(outer.read(name))) for name in outer.namelist()}


def paths_of(inner: zipfile.ZipFile) -> list[str]:
    return list(read_paths(io.BytesIO(inner.read("transferredurl.list"))))


def test_the_layout_of_the_source(prsm: Running, agent: Agent, library: Caller) -> None:
    """The folder of `www.etl.go.jp:80` is 6700/9e; in it the three lists and the pages."""
    hold(prsm, agent, ETL)
    body = (
        b"<a href='http://www.Example.jp/x#y'>1</a><a href=/local>2</a>"
        b'<base href="http://third.example/"><a href="z">3</a><a href="javascript:x">4</a>'
    )
    modified = "Last-Modified: Mon, 21 Sep 2026 14:13:20 GMT\r\n"
    pages = [
        page("http://www.etl.go.jp/", body, fields=modified),
        page("http://www.etl.go.jp/b?q=1", b"abc", mime="text/plain", at_ms=START_MS + 1),
        page("http://www.etl.go.jp/gone", b"no", status="404 Not Found"),
    ]
    collected(prsm, agent, pages)
    answer = library.get(PAGES, params={"host": r"www[.]etl[.]go[.]jp:80"})
    assert answer.status_code == 200, answer.text
    inner = hosts_in(answer.content)
    assert list(inner) == [INSIDE]
    found = inner[INSIDE]
    assert found.testzip() is None
    assert paths_of(found) == ["/", "/b?q=1"]
    dates = list(read_dates(io.BytesIO(found.read("transferredurldate.list"))))
    assert [(each.fetched_ms, each.modified_ms, each.size_bytes) for each in dates] == [
        (START_MS, START_MS, len(body)), (START_MS + 1, 0, 3),
    ]  # fmt: skip
    raw = found.read("transferredurldate.list")
    assert raw[:8] == START_MS.to_bytes(8, "big")
    assert len(raw) == 48
    assert found.read("data/1") == body
    assert found.read("data/2.hdr") == pages[1].response_header
    links = list(read_links(io.BytesIO(found.read("extserver.list"))))
    assert links == [
        ("http://www.example.jp/x", "http://www.etl.go.jp/"),
        ("http://third.example/z", "http://www.etl.go.jp/"),
    ]
    again = library.get(PAGES, params={"host": r"www[.]etl[.]go[.]jp:80"})
    assert again.content == answer.content


@pytest.fixture
def history(prsm: Running, agent: Agent) -> list[Capture]:
    """Return what was fetched of a host: a page, the same again, a change; another page, once."""
    first = page("http://www.example.jp/a", b"<p>one</p>")
    same = revisit_of(first, START_MS + HOUR)
    changed = page("http://www.example.jp/a", b"<p>two</p>", at_ms=START_MS + 3 * HOUR)
    other = page("http://www.example.jp/b", b"<p>b</p>", at_ms=START_MS + 2 * HOUR)
    collected(prsm, agent, [first], "s1.warc.gz")
    prsm.clock.advance(4 * 3600)
    collected(prsm, agent, [same, other, changed], "s2.warc.gz")
    return [first, same, other, changed]


def at(hours: float) -> str:
    minutes = round(hours * 60) + 14 * 60 + 13
    return f"2026-09-21T{minutes // 60:02d}:{minutes % 60:02d}:20Z"


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    ("asked", "bodies"),
    [
        ({}, {"/a": b"<p>two</p>", "/b": b"<p>b</p>"}),
        ({"until": at(1.5)}, {"/a": b"<p>one</p>"}),
        ({"since": at(0.5), "until": at(1.5)}, {"/a": b"<p>one</p>"}),
        ({"since": at(2)}, {"/a": b"<p>two</p>", "/b": b"<p>b</p>"}),
        ({"since": at(5)}, {}),
        ({"updated_since": at(2.5)}, {"/a": b"<p>two</p>"}),
        ({"updated_since": at(0.5), "until": at(1.5)}, {}),
        ({"url": "http://www.example.jp/b"}, {"/b": b"<p>b</p>"}),
        ({"url": "http://www.example.jp/nothing"}, {}),
    ],
)
def test_conditions(library: Caller, asked: dict[str, str], bodies: dict[str, bytes]) -> None:
    """since and until are of the fetch, updated_since of the first time that a body was seen."""
    answer = library.get(PAGES, params={"host": "www[.]example[.]jp:80", **asked})
    assert answer.status_code == 200, answer.text
    found: dict[str, bytes] = {}
    for inner in hosts_in(answer.content).values():
        for number, path in enumerate(paths_of(inner), 1):
            found[path] = inner.read(f"data/{number}")
    assert found == bodies


def records(data: bytes) -> list[tuple[str, str, str]]:
    return [
        (
            record.rec_type,
            record.rec_headers.get_header("WARC-Target-URI"),
            record.content_stream().read().decode(),
        )
        for record in ArchiveIterator(io.BytesIO(data))
        if record.rec_type in ("response", "revisit")
    ]


@pytest.mark.usefixtures("history")
def test_revisits_are_expanded(tmp_path: Path, library: Caller) -> None:
    """A revisit whose original is inside stays one; else it becomes the capture it stands for."""
    url = "http://www.example.jp/a"
    whole = library.get(WARC, params={"host": "www.*", "until": at(1.5)})
    assert records(whole.content) == [("response", url, "<p>one</p>"), ("revisit", url, "")]
    part = library.get(WARC, params={"host": "www.*", "since": at(0.5), "until": at(1.5)})
    assert records(part.content) == [("response", url, "<p>one</p>")]
    for number, data in enumerate((whole.content, part.content)):
        path = tmp_path / f"{number}.warc.gz"
        path.write_bytes(data)
        assert verify_segment(path).captures == 2 - number


def test_expressions_match_hosts(prsm: Running, agent: Agent, library: Caller) -> None:
    """All of `name:port` must match, in RE2's language; each host is a zip of its own."""
    collected(prsm, agent, [page(), page("http://other.example/")])
    for expression, names in (
        (".*", {"www.example.jp:80", "other.example:80"}),
        ("other[.]example", set()),
        ("(www|w3)[.].*:80", {"www.example.jp:80"}),
        (r".*[.]example:\d+", {"other.example:80"}),
    ):
        inner = hosts_in(library.get(PAGES, params={"host": expression}).content)
        assert {name.rsplit("/", 1)[1].removesuffix(".zip") for name in inner} == names


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "at least one"),
        ({"host": "("}, "missing )"),
        ({"host": "(?=x)"}, "invalid perl operator"),
        ({"host": "x" * 1001}, "the limit is 1000"),
        ({"host": "((a{1,1000}){1,1000}){1,1000}"}, "repetition"),
        ({"url": "HTTP://www.example.jp/"}, "canonical URL"),
        ({"url": "ftp://x/"}, "only http"),
        ({"host": ".*", "since": "2027", "until": "2026"}, "the period is empty"),
        ({"host": ".*", "since": "soon"}, "since ="),
    ],
)
def test_hostile_questions(library: Caller, asked: dict[str, str], said: str) -> None:
    """What cannot be asked is a sentence, at once."""
    answer = library.get(PAGES, params=asked)
    assert answer.status_code == 400, answer.text
    assert said in answer.json()["detail"]


@pytest.mark.parametrize(
    "key", ["http://..:80/", "http://a..b:80/", "http://A.example:80/", "http://%2e:80/"]
)
def test_a_name_that_is_no_folder_is_left_out(
    prsm: Running, agent: Agent, library: Caller, key: str
) -> None:
    """A host whose name could leave the folder of the zip is in no zip, wherever it came from."""
    collected(prsm, agent, [page(), page("http://other.example/")])
    with prsm.manager.db.write() as tx:
        tx.execute(hosts.update().where(hosts.c.key == "http://other.example:80/").values(key=key))
    found = hosts_in(library.get(PAGES, params={"host": ".*"}).content)
    assert [name.rsplit("/", 1)[1] for name in found] == ["www.example.jp:80.zip"]


def test_an_excluded_host_is_given_to_nobody(prsm: Running, agent: Agent, library: Caller) -> None:
    """From the moment that it is excluded; the other hosts of its segment still are."""
    collected(prsm, agent, [page(), page("http://other.example/")])
    exclude_host(prsm.manager.db, "other.example", "asked to", LOCAL, prsm.clock())
    inner = hosts_in(library.get(PAGES, params={"host": ".*"}).content)
    assert [name.rsplit("/", 1)[1] for name in inner] == ["www.example.jp:80.zip"]
    assert library.get("/api/v1/pages", params={"host": ".*"}).json() == {"hosts": 1, "captures": 1}


def test_encoded_bodies_are_decoded(prsm: Running, agent: Agent, library: Caller) -> None:
    """data/N is the page as a reader sees it; one that cannot be decoded is as it came."""
    plain = b"<p>" + b"x" * 1000
    pages = [
        page(
            "http://www.example.jp/1",
            gzip.compress(plain, mtime=0),
            fields="Content-Encoding: gzip\r\n",
        ),
        page("http://www.example.jp/2", b"no gzip", fields="Content-Encoding: gzip\r\n"),
    ]
    collected(prsm, agent, pages)
    (inner,) = hosts_in(library.get(PAGES, params={"host": ".*"}).content).values()
    assert (inner.read("data/1"), inner.read("data/2")) == (plain, b"no gzip")
    dates = list(read_dates(io.BytesIO(inner.read("transferredurldate.list"))))
    assert [each.size_bytes for each in dates] == [1003, 7]


@pytest.mark.parametrize(
    ("encoding", "name"), [("br", "html-br.bin"), ("zstd", "html-zstd-static-content-size.bin")]
)
def test_newer_encodings_are_decoded(
    prsm: Running, agent: Agent, library: Caller, encoding: str, name: str
) -> None:
    """br and zstd too: the page, its size in the list, and its fingerprint."""
    folder = fixture_folder("compressed-bodies")
    encoded = page(
        "http://www.example.jp/1",
        (folder / name).read_bytes(),
        fields=f"Content-Encoding: {encoding}\r\n",
    )
    bomb = page(
        "http://www.example.jp/2",
        (folder / f"bomb-{encoding}.bin").read_bytes(),
        fields=f"Content-Encoding: {encoding}\r\n",
    )
    collected(prsm, agent, [encoded, bomb])
    (inner,) = hosts_in(library.get(PAGES, params={"host": ".*"}).content).values()
    plain = inner.read("data/1")
    assert plain.rstrip().endswith(b"</html>")
    dates = list(read_dates(io.BytesIO(inner.read("transferredurldate.list"))))
    assert dates[0].size_bytes == len(plain) > len(encoded.body)
    assert len(inner.read("data/2")) <= MAX_BODY_BYTES
    (index,) = prsm.files("archive/index")[1:]
    with duckdb.connect() as connection:
        asked = f"SELECT simhash FROM read_parquet('{index}') WHERE url LIKE '%/1'"
        ((fingerprint,),) = connection.execute(asked).fetchall()
    assert fingerprint is not None


def test_scope_and_head(prsm: Running, agent: Agent, library: Caller) -> None:
    """HEAD makes nothing; who has no token gets nothing."""
    collected(prsm, agent, [page()])
    assert library.send("HEAD", PAGES, params={"host": ".*"}).content == b""
    assert prsm.anybody.get(PAGES, params={"host": ".*"}).status_code == 401

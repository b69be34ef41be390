"""Hosts through the API: imported from any file, found, looked at, excluded."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.manager.running import Running, running

IMPORT = "/api/v1/hosts/import"


def keys(prsm: Running, query: str = "") -> list[str]:
    return [host["key"] for host in prsm.local.get(f"/api/v1/hosts?{query}").json()["hosts"]]


def test_a_list_is_imported(prsm: Running) -> None:
    """Names get a scheme, comments and empty lines are skipped, pages become start pages."""
    body = (
        b"# hosts of the institute\n\nwww.example.jp\nhttps://b.example/\r\n"
        b"http://www.example.jp/deep/page.html\thttp://b.example/\nWWW.EXAMPLE.JP:80\n"
    )
    answer = prsm.local.post(IMPORT, body)
    assert answer.status_code == 200
    assert answer.json() == {
        "new": 2, "start_pages": 1, "known": 1, "refused": [], "refused_count": 0,
        "refused_lines": [],
    }  # fmt: skip
    assert keys(prsm) == ["https://b.example:443/", "http://www.example.jp:80/"]
    assert prsm.files("spool") == []


def test_garbage_lines_are_answered_by_their_numbers(prsm: Running) -> None:
    """What names no host is refused line by line, with the reason; the rest is taken."""
    body = (
        b"good.example\nno host here\nhttp://user:secret@y/\n\x00\xff\xfe\nhttp://\nalso.example\n"
    )
    answer = prsm.local.post(IMPORT, body).json()
    assert (answer["new"], answer["refused_count"]) == (2, 4)
    assert [(one["line"], one["code"], one["text"]) for one in answer["refused_lines"]] == [
        (2, "not_a_url", "http://no host here"),
        (3, "credentials", "http://user:secret@y/"),
        (4, "not_a_url", "http://\ufffd\ufffd\ufffd"),
        (5, "not_a_url", "http://"),
    ]
    assert [number for number, _ in answer["refused"]] == [2, 3, 4, 5]
    assert all(reason for _, reason in answer["refused"])


def test_gzip_is_imported_as_well(prsm: Running) -> None:
    """A gzip file is taken as it is; one that is cut short is refused whole."""
    body = gzip.compress(b"a.example\nb.example\n")
    assert prsm.local.post(IMPORT, body[:-9]).status_code == 400
    assert keys(prsm) == []
    assert prsm.local.post(IMPORT, body).json()["new"] == 2


@pytest.mark.parametrize("size", [None, 10 * 1000**3])
def test_a_list_over_the_limit_is_413(tmp_path: Path, size: int | None) -> None:
    """Too many bytes, declared or not, plain or decoded, are refused and nothing is taken."""
    headers = {} if size is None else {"Content-Length": str(size)}
    with running(tmp_path, "limits.hosts_bytes=1000") as prsm:
        body = b"" if size else b"a.example\n" * 101
        assert prsm.local.post(IMPORT, body, headers=headers).status_code == 413
        bomb = gzip.compress(b"a.example\n" * 101)
        assert prsm.local.post(IMPORT, bomb).status_code == 413
        assert keys(prsm) == []
        assert prsm.local.post(IMPORT, b"a.example\n" * 100).status_code == 200


def test_a_line_without_end_is_413(prsm: Running) -> None:
    """A line of any length is refused by its number, and nothing is taken."""
    answer = prsm.local.post(IMPORT, b"a.example\n" + b"x" * 20_000)
    assert answer.status_code == 413
    assert answer.json()["detail"] == "line 2: longer than 16384 bytes"
    assert keys(prsm) == []


def test_hosts_are_found(prsm: Running) -> None:
    """By domain, by text, by state; sorted and paged."""
    prsm.local.post(IMPORT, b"a.example.jp\nb.example.jp\nexample.com\n")
    assert keys(prsm, "domain=example.jp") == ["http://a.example.jp:80/", "http://b.example.jp:80/"]
    assert keys(prsm, "text=com") == ["http://example.com:80/"]
    assert len(keys(prsm, "state=new")) == 3
    assert keys(prsm, "sort=-domain&limit=1&offset=1") == ["http://a.example.jp:80/"]
    for wrong in ("sort=colour", "state=happy", "limit=0", "limit=x", "offset=-1"):
        answer = prsm.local.get(f"/api/v1/hosts?{wrong}")
        assert answer.status_code == 400, wrong
        assert wrong.partition("=")[0] in answer.json()["detail"]


def test_a_host_is_looked_at_and_excluded(prsm: Running) -> None:
    """All is shown of a host that is known; excluded, it says why; included, it is new again."""
    prsm.local.post(IMPORT, b"a.example\n")
    excluded = prsm.local.post(
        "/api/v1/hosts/exclude", json={"host": "a.example", "reason": "asked by its owner"}
    )
    assert excluded.status_code == 204
    detail = prsm.local.get("/api/v1/hosts/detail?host=http://A.example/any/page").json()
    assert detail["host"]["key"] == "http://a.example:80/"
    assert detail["host"]["excluded_reason"] == "asked by its owner"
    assert [unit["state"] for unit in detail["units"]] == ["excluded"]
    prsm.local.post("/api/v1/hosts/include", json={"host": "a.example"})
    assert keys(prsm, "state=new") == ["http://a.example:80/"]
    for path in ("exclude", "include"):
        missing = prsm.local.post(f"/api/v1/hosts/{path}", json={"host": "no.example"})
        assert missing.status_code == 404
    assert prsm.local.get("/api/v1/hosts/detail?host=no.example").status_code == 404
    assert prsm.local.get("/api/v1/hosts/detail?host=http://").status_code == 400

"""The source's layout of one host, written and read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shared.archive.classic import ExternalLink, TransferDate, read_links
from shared.archive.export import ExportedPage, HostExport, read_export, url_path
from shared.archive.sums import host_folder
from shared.errors import ConflictError, FormatError
from tests.shared.archive.captures import NOON_MS, revisit_of, sample

HOST = "www.example.jp:80"
HEADER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    b"Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n"
)


def exported(root: Path, *, replace_old: bool = False) -> Path:
    """Export two pages and a link; return the folder."""
    with HostExport(root, HOST, replace=replace_old) as export:
        assert export.add(sample(1), b"<html>hello</html>") == 1
        assert export.add(sample(2, header=HEADER), b"decoded") == 2
        export.link("http://other.jp/", "http://www.example.jp/page/1")
    return export.folder


def test_an_export_has_the_layout_of_the_source(tmp_path: Path) -> None:
    """Lists and data lie in html/sumh/suml/host:port, byte for byte as specified."""
    folder = exported(tmp_path)
    assert folder == tmp_path / host_folder(HOST)
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert found == [
        "data/1",
        "data/1.hdr",
        "data/2",
        "data/2.hdr",
        "extserver.list",
        "transferredurl.list",
        "transferredurldate.list",
    ]
    assert (folder / "transferredurl.list").read_bytes() == b"/page/1\n/page/2\n"
    assert (folder / "extserver.list").read_bytes() == (
        b"http://other.jp/\thttp://www.example.jp/page/1\n"
    )
    dates = (folder / "transferredurldate.list").read_bytes()
    assert dates == b"".join(
        number.to_bytes(8, "big")
        for number in (NOON_MS + 1000, 0, 18, NOON_MS + 2000, 784_111_777_000, 7)
    )
    assert (folder / "data" / "2").read_bytes() == b"decoded"
    assert (folder / "data" / "2.hdr").read_bytes() == HEADER


def test_an_export_can_be_read(tmp_path: Path) -> None:
    """Pages come back in order with their dates; links too."""
    folder = exported(tmp_path)
    pages = list(read_export(folder))
    assert pages[1] == ExportedPage(
        "/page/2", TransferDate(NOON_MS + 2000, 784_111_777_000, 7), HEADER, b"decoded"
    )
    assert [page.path for page in pages] == ["/page/1", "/page/2"]
    with (folder / "extserver.list").open("rb") as file:
        assert list(read_links(file)) == [
            ExternalLink("http://other.jp/", "http://www.example.jp/page/1")
        ]


def test_a_revisit_is_exported_with_the_body_it_refers_to(tmp_path: Path) -> None:
    """The caller expands a revisit; the export does not show that it was one."""
    with HostExport(tmp_path, HOST) as export:
        export.add(revisit_of(sample(1)), b"<html>hello</html>")
    (page,) = read_export(export.folder)
    assert (page.body, page.date.size_bytes) == (b"<html>hello</html>", 18)


def test_a_failed_export_leaves_nothing(tmp_path: Path) -> None:
    """The folder appears complete or not at all, without remains."""
    with pytest.raises(RuntimeError), HostExport(tmp_path, HOST) as export:
        export.add(sample(1), b"x")
        raise RuntimeError
    assert not export.folder.exists()
    assert list(export.folder.parent.iterdir()) == []


def test_an_export_is_not_overwritten_by_chance(tmp_path: Path) -> None:
    """An existing folder is kept, unless it is to be replaced, and then nothing old remains."""
    folder = exported(tmp_path)
    (folder / "data" / "99").write_bytes(b"old")
    with pytest.raises(ConflictError, match="exists already"):
        HostExport(tmp_path, HOST)
    assert exported(tmp_path, replace_old=True) == folder
    assert not (folder / "data" / "99").exists()
    assert len(list(read_export(folder))) == 2
    assert [path.name for path in folder.parent.iterdir()] == [HOST]


def test_two_exports_at_once_do_not_mix(tmp_path: Path) -> None:
    """The one that finishes last is refused, the other stays whole."""
    with pytest.raises(ConflictError, match="exists already"), HostExport(tmp_path, HOST) as late:
        late.add(sample(1), b"late")
        with HostExport(tmp_path, HOST) as early:
            early.add(sample(1), b"early")
    assert [page.body for page in read_export(early.folder)] == [b"early"]
    assert [path.name for path in early.folder.parent.iterdir()] == [HOST]


@pytest.mark.parametrize("host", ["../../x:80", "/etc:80", "www.example.jp", "", "a\0:80"])
def test_a_hostile_host_creates_nothing(tmp_path: Path, host: str) -> None:
    """A name that is no host makes no folder anywhere."""
    with pytest.raises(FormatError):
        HostExport(tmp_path / "root", host)
    assert list(tmp_path.iterdir()) == []


def test_pages_of_other_hosts_are_refused(tmp_path: Path) -> None:
    """A folder holds its own host only, and links that leave it."""
    with HostExport(tmp_path, HOST) as export:
        with pytest.raises(FormatError, match="not on www"):
            export.add(replace(sample(1), url="http://other.jp/"), b"")
        with pytest.raises(FormatError, match="not on www"):
            export.add(replace(sample(1), url="http://www.example.jp:8080/"), b"")
        with pytest.raises(FormatError, match="not on www"):
            export.link("http://x.jp/", "http://other.jp/")
        with pytest.raises(FormatError, match="leads to www"):
            export.link("http://www.example.jp/b", "http://www.example.jp/a")
        assert export.add(sample(3), b"") == 1
    assert [page.path for page in read_export(export.folder)] == ["/page/3"]


def test_a_hostile_path_is_refused_and_takes_no_number(tmp_path: Path) -> None:
    """A URL that was not made canonical writes nothing."""
    with HostExport(tmp_path, HOST) as export:
        with pytest.raises(FormatError, match="path"):
            export.add(replace(sample(1), url="http://www.example.jp/a\nb"), b"x")
        assert export.add(sample(1), b"x") == 1
    assert len(list((export.folder / "data").iterdir())) == 2


def test_data_that_do_not_fit_the_lists_are_refused(tmp_path: Path) -> None:
    """A page of another size than its entry was changed or cut."""
    folder = exported(tmp_path)
    (folder / "data" / "2").write_bytes(b"longer than it was")
    with pytest.raises(FormatError, match="18 bytes, but transferredurldate"):
        list(read_export(folder))


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://www.foo.jp/", "/"),
        ("http://www.foo.jp", "/"),
        ("http://www.foo.jp:8080/a/b?c=/d", "/a/b?c=/d"),
        ("http://www.foo.jp?q", "/?q"),
        ("http://[::1]/x", "/x"),
    ],
)
def test_a_path_is_what_follows_the_host(url: str, path: str) -> None:
    """`http://www.foo.jp/` is `/`."""
    assert url_path(url) == path

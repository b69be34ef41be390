"""Folders of real files as hosts: types, listings, links, and no way out of the folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simweb.servers.answer import Answer
from simweb.servers.request import Request
from simweb.sites.builder import build_world
from simweb.sites.expectation import expect_host
from simweb.sites.file_site import FILE_LIMIT_BYTES, local_path
from simweb.sites.options import WorldOptions
from simweb.sites.plan import HostPlan
from tests.simweb.conftest import PORT, Served, served


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Return a folder with pages, packed files, links in and out, and robots.txt."""
    folder = tmp_path / "docs"
    (folder / "sub dir").mkdir(parents=True)
    (folder / "plain").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "other.html").write_text("<a href='../index.html'>x</a>")
    (folder / "index.html").write_text(
        "<a href='sub%20dir'>s</a> <a href='plain/'>p</a> <img src='a.png'>"
        "<a href='link/other.html'>o</a> <a href='hidden/x.html'>h</a> <a href='gone.html'>g</a>"
    )
    (folder / "sub dir" / "index.html").write_text("<a href='page.html#x'>page</a>")
    (folder / "sub dir" / "page.html").write_text("<base href='/plain/'><a href='a&amp;b.txt'>")
    (folder / "plain" / "a&b.txt").write_text("text")
    (folder / "plain" / "changelog.gz").write_bytes(b"\x1f\x8b")
    (folder / "a.png").write_bytes(b"\x89PNG")
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /hidden/\n")
    (folder / "hidden").mkdir()
    (folder / "hidden" / "x.html").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "outside")
    return folder


def web_of(folder: Path, **options: object) -> Served:
    """Return a world of one folder."""
    values: dict[str, object] = {"hosts": 0, "folder": (f"docs={folder}",), "compress_share": 0}
    return served(WorldOptions(**{**values, **options}))  # type: ignore[arg-type]  # by field


def ask(web: Served, target: str, **headers: str) -> Answer:
    """Ask the folder host for a path."""
    host = web.world.hosts[0]
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = Request("GET", target, "HTTP/1.1", {"host": host.name, **names})
    return web.answers.answer(request, host, "127.10.0.1")


def header(answer: Answer, name: str) -> str | None:
    """Return a header's value."""
    return next((value for key, value in answer.headers if key == name), None)


def test_files_and_their_types(docs: Path) -> None:
    """The index for `/`, types by name, packed files as what they are."""
    web = web_of(docs)
    assert ask(web, "/").body == (docs / "index.html").read_bytes()
    types = {
        "/": "text/html",
        "/a.png": "image/png",
        "/plain/a&b.txt": "text/plain",
        "/plain/a%26b.txt": "text/plain",
        "/plain/changelog.gz": "application/gzip",
        "/robots.txt": "text/plain",
    }
    for path, kind in types.items():
        answer = ask(web, path)
        assert (answer.status, header(answer, "Content-Type")) == (200, kind)
    assert header(ask(web, "/plain/changelog.gz"), "Content-Encoding") is None


def test_a_directory_without_its_slash_redirects_to_it(docs: Path) -> None:
    """Relative, so that no name in the path becomes a host."""
    answer = ask(web_of(docs), "/sub%20dir?x=y")
    assert (answer.status, header(answer, "Location")) == (301, "./sub%20dir/?x=y")
    assert ask(web_of(docs), "/a.png/").status == 404


def test_a_directory_without_an_index_is_listed_or_not(docs: Path) -> None:
    """By --folder-listing."""
    body = ask(web_of(docs), "/plain/").body.decode()
    assert '<a href="./a%26b.txt">a&amp;b.txt</a>' in body
    assert ask(web_of(docs, folder_listing=False), "/plain/").status == 404


def test_files_are_validated(docs: Path) -> None:
    """ETag and Last-Modified of the file give 304, and a new file gives 200."""
    web = web_of(docs)
    first = ask(web, "/a.png")
    tag = header(first, "ETag") or ""
    assert ask(web, "/a.png", if_none_match=tag).status == 304
    assert ask(web, "/a.png", if_modified_since=header(first, "Last-Modified") or "").status == 304
    (docs / "a.png").write_bytes(b"\x89PNG2")
    assert ask(web, "/a.png", if_none_match=tag).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/../outside/other.html",
        "/%2e%2e/outside/other.html",
        "/sub dir/..%2f..%2foutside/other.html",
        "/..%2foutside/other.html",
        "/a%00.png",
        "//etc/passwd",
        "/" + "x" * 5_000,
    ],
)
def test_no_path_leaves_the_folder(docs: Path, path: str) -> None:
    """Dots, escapes, zeros and long names are 404."""
    assert ask(web_of(docs), path).status == 404


@given(st.text(st.sampled_from("/.%2eEfF5cC\\a\0"), max_size=30))
def test_whatever_the_spelling_a_path_stays_inside(path: str) -> None:
    """Without links to follow, every path that is found lies under the root."""
    root = Path(__file__).resolve().parent
    found = local_path(root, "/" + path, follow_symlinks=False)
    assert found is None or found.resolve().is_relative_to(root)


def test_links_out_of_the_folder_are_the_operators_choice(docs: Path) -> None:
    """Followed by default, as in a folder of Debian's documents; else 404."""
    assert ask(web_of(docs), "/link/other.html").status == 200
    assert ask(web_of(docs, folder_follow_symlinks=False), "/link/other.html").status == 404
    (docs / "index.html").unlink()
    (docs / "index.html").symlink_to(docs.parent / "outside" / "other.html")
    closed = web_of(docs, folder_follow_symlinks=False, folder_listing=False)
    assert ask(closed, "/").status == 404


def test_only_regular_files_are_read(docs: Path) -> None:
    """A pipe would hold the server for ever; a huge file would fill it."""
    os.mkfifo(docs / "pipe")
    with (docs / "huge.bin").open("wb") as file:
        file.truncate(FILE_LIMIT_BYTES + 1)
    assert ask(web_of(docs), "/pipe").status == 404
    assert ask(web_of(docs), "/huge.bin").status == 403


def test_names_that_are_no_unicode_are_listed_and_served(docs: Path) -> None:
    """A file named in Shift_JIS has an escaped URL."""
    name = "日本.txt".encode("shift_jis")
    Path(os.fsdecode(os.fsencode(docs / "plain") + b"/" + name)).write_text("x")
    web = web_of(docs)
    assert b"%93%FA%96%7B.txt" in ask(web, "/plain/").body
    assert ask(web, "/plain/%93%FA%96%7B.txt").status == 200


def test_the_folders_robots_txt_judges(docs: Path) -> None:
    """Its rules decide what counts as disobedience; without the file all is allowed."""
    web = web_of(docs)
    host = web.world.hosts[0]
    request = Request("GET", "/hidden/x.html", "HTTP/1.1", {"host": host.name})
    assert web.answers.disallowed(host, request)
    (docs / "robots.txt").unlink()
    assert not web.answers.disallowed(host, request)


def host_of(folder: Path) -> tuple[WorldOptions, HostPlan]:
    """Return the options and plan of a folder host."""
    options = WorldOptions(hosts=0, folder=(f"docs={folder}",))
    return options, build_world(options).hosts[0]


def test_the_expected_set_follows_links(docs: Path) -> None:
    """Links of pages, base and escapes included; not the forbidden, the missing, the unlinked."""
    options, host = host_of(docs)
    (docs / "unlinked.html").write_text("x")
    top = host.url(PORT)
    found = expect_host(build_world(options), host, PORT).captures
    assert found == {
        top,
        f"{top}sub%20dir/",
        f"{top}sub%20dir/page.html",
        f"{top}plain/",
        f"{top}plain/a&b.txt",
        f"{top}plain/a%26b.txt",
        f"{top}plain/changelog.gz",
        f"{top}a.png",
        f"{top}link/other.html",
        f"{top}index.html",
    }

"""The links of a page."""

from __future__ import annotations

import json

import pytest

from agent.modules.page.html.markup import by_tree, links_of_markup
from agent.modules.page.links import PageLinks, links_of
from tests.fixtures_dir import FIXTURES

PAGE = "http://a.example/dir/page.html"
BASES = FIXTURES / "url-pairs" / "w3lib_html.json"


def links(html: str, header: bytes = b"", max_links: int = 100) -> PageLinks:
    """Return what the tree says of a page, if the compiled reader says the same."""
    tree, _ = by_tree(html.encode(), "utf-8")
    found, _ = links_of_markup(html.encode(), "utf-8", "prsm")
    links, compiled = (
        links_of(each, header, PAGE, "utf-8", agent_token="prsm", max_links=max_links)
        for each in (tree, found)
    )
    assert compiled == links
    return links


def paths(html: str, header: bytes = b"") -> list[str]:
    return [url.removeprefix("http://a.example/dir/") for url in links(html, header).urls]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href=x>", ["x"]),
        ("<map><area href=x></map>", ["x"]),
        ("<link rel=stylesheet href=x>", ["x"]),
        ("<link rel=next href=x>", ["x"]),
        ("<link rel='preconnect' href=//x.example>", []),
        ("<frameset><frame src=x></frameset>", ["x"]),
        ("<iframe src=x></iframe>", ["x"]),
        ("<img src=x srcset='y 1x, z 2x'>", ["x", "y", "z"]),
        ("<picture><source srcset=x></picture>", ["x"]),
        ("<video src=x poster=y><track src=z></video>", ["x", "y", "z"]),
        ("<audio><source src=x></audio>", ["x"]),
        ("<embed src=x><object data=y></object>", ["x", "y"]),
        ("<script src=x></script>", ["x"]),
        ("<input type=image src=x><input type=text src=y>", ["x"]),
        ("<body background=x><table background=y>", ["x", "y"]),
        ("<form action='x?mode=1'>", ["x"]),
        ("<form action=x method=GET>", ["x"]),
        ("<form action=x method=post>", []),
        ("<form action=x method=' POST '>", []),
        ("<form>", []),
        ("<meta http-equiv=Refresh content='0; url=x'>", ["x"]),
        ("<a href=x rel='external NoFollow'>", []),
        ("<a href=x rel=nofollow><a href=x>", ["x"]),
        ("<!-- <a href=x> --><script>'<a href=y>'</script>", []),
        ("<noscript><a href=x></a></noscript>", ["x"]),
        ("<blockquote cite=x><a ping='y w' href=z>", ["z", "x", "y", "w"]),
        ("<a href=''><a href=' '><img src>", []),
        ("<a href=x#1><a href=x#2><a href=./x>", ["x"]),
        ("<a href=b><a href=a><a href=b>", ["b", "a"]),
        ("<a href=' x\ny '>", ["xy"]),
        ("<a href='?a=1&amp;b=2'>", ["page.html?a=1&b=2"]),
        ("<a href='mailto:x@y'><a href='javascript:x'>", []),
    ],
)
def test_links_of_every_kind(html: str, expected: list[str]) -> None:
    """What a reader can follow or a browser would load is a link, once, in order."""
    assert paths(html) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b'HTTP/1.1 200 OK\r\nLink: <n>; rel=next, <s>; rel="style x"\r\n\r\n', ["n", "s"]),
        (b"HTTP/1.1 200 OK\r\nlink: <//h>; rel=dns-prefetch\r\n\r\n", []),
        (b"HTTP/1.1 200 OK\r\nRefresh: 5; url=r\r\n\r\n", ["r"]),
        (b"HTTP/1.1 200 OK\r\nX-Robots-Tag: nofollow\r\nLink: <n>; rel=next\r\n\r\n", []),
    ],
)
def test_links_of_the_header(header: bytes, expected: list[str]) -> None:
    """A server may link in the header."""
    assert paths("", header) == expected


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", [b"<a>;x", b'<a>;rel="', b"<", b"<>;", b"; rel=a", b"<a> ; "])
def test_a_hostile_link_field_takes_one_pass(piece: bytes) -> None:
    """Sixty-four kilobytes of unfinished parameters do no harm."""
    links("", b"HTTP/1.1 200 OK\r\nLink: " + piece * (64_000 // len(piece)) + b"\r\n\r\n")


@pytest.mark.parametrize("row", json.loads(BASES.read_text()) if BASES.exists() else [])
def test_the_base_is_the_first_real_one(row: dict[str, list[str] | str]) -> None:
    """A base in a comment is none; the first of several counts."""
    expected = str(row["expected"]) or PAGE
    if expected.startswith("https://example.org"):
        expected = PAGE
    html = row["args"][0] + "<a href='rel'>"
    base = expected.rpartition("/")[0]
    hidden = html.rfind("<!--") > html.rfind("-->")  # a comment that never ends hides the link
    assert links(html).urls == (() if hidden else (f"{base}/rel",))


@pytest.mark.parametrize("base", ["ftp://f.example/", "about:blank", "mailto:x", "//b.example:0/"])
def test_a_base_of_another_scheme_leaves_whole_addresses(base: str) -> None:
    """What is meant against it leads where no crawler can go."""
    found = ["http://a.example/w", "http://a.example/dir/x"] if ":0" in base else []
    html = f"<base href='{base}'><a href='x'>x</a><a href=' HTTP://a.example/w'>y</a>"
    assert sorted(links(html).urls) == sorted(found or ["http://a.example/w"])


def test_a_base_without_use_is_ignored() -> None:
    """A base that is no address, or of data or a script, leaves the page's own."""
    assert paths("<base href='javascript:0'><a href=x>") == ["x"]
    assert paths("<base href='http://[/'><a href=x>") == ["x"]
    assert paths("<base href='data:text/html,'><a href=x>") == ["x"]
    assert links("<base href='/other/'><a href=x>").urls == ("http://a.example/other/x",)
    assert links("<base target=_top><base href=/o/><a href=x>").urls == ("http://a.example/o/x",)


def test_nofollow_takes_all_links() -> None:
    """A page that asks not to be followed has no links; its own address is still noted."""
    found = links("<meta name=robots content=nofollow><link rel=canonical href=c><a href=x>")
    assert found.urls == ()
    assert found.canonical_url == "http://a.example/dir/c"
    assert found.tag.nofollow


def test_a_canonical_link_without_address_is_none() -> None:
    """It names nothing, whatever else it carries; the first that names something counts."""
    found = links("<link rel=canonical background=b><link rel=canonical href=c>")
    assert found.canonical_url == "http://a.example/dir/c"


def test_links_have_a_limit() -> None:
    """Of a page with endless links the first are taken, and the cut is told."""
    html = "".join(f"<a href={number}>" for number in range(20))
    assert len(links(html, max_links=5).urls) == 5
    assert links(html, max_links=5).cut
    assert not links(html, max_links=20).cut

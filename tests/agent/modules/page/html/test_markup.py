"""The compiled reader of pages, beside the tree that it stands in for."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.page.html import markup
from agent.modules.page.html.markup import by_tree, links_of_markup
from agent.modules.page.links import PageLinks, links_of
from shared import native
from shared.native import absence_reason, library, made_for

PAGE = "http://a.example/dir/page.html"
TOKEN = "prsm"


@pytest.fixture
def _anew() -> Iterator[None]:
    """Let the library be looked for again, in the test and after it."""
    for known in (native._looked_for, markup._function):
        known.cache_clear()
    yield
    for known in (native._looked_for, markup._function):
        known.cache_clear()


def read(body: bytes) -> str | None:
    """Return what the compiled reader writes of a page."""
    function = markup._function()
    assert function is not None
    written = markup._read(function, body, TOKEN.encode())
    assert written is not None
    return written.text


def both(body: bytes, codec: str = "utf-8") -> tuple[PageLinks, PageLinks]:
    """Return the links of a page, as the compiled reader finds them and as the tree does."""
    compiled, tree = (
        links_of(found, b"", PAGE, codec, agent_token=TOKEN, max_links=10_000)
        for found, _ in (links_of_markup(body, codec, TOKEN), by_tree(body, codec))
    )
    return compiled, tree


def test_it_was_made_for_this_machine() -> None:
    """The environment that tests run in has it; else nothing here would be tested."""
    assert platform.machine() in ("x86_64", "aarch64")
    assert library() is not None
    assert absence_reason() is None
    assert read(b"<a href=x>") == "x\0"


@pytest.mark.parametrize(
    ("page", "written"),
    [
        ("<a href=x><a href='x#1'><a href=y>", "x\0y\0"),
        ("<a href='#top'>", "\0"),
        ("<a href=x\x7f#1>", "x\x7f#1\0"),
        ("<a href='x #1'>", "x #1\0"),
        ("<a href><a href=''>", ""),
        ("<A HREF=x REL='Next NoFollow'><a href=y rel=next>", "y\0"),
        ("<a href=x rel=nofollowé>", "\x01a\x02href\x03x\x02rel\x03nofollowé\0"),
        ("<base href>", "\x01base\x02href\0"),
        ("<base href=''>", "\x01base\x02href\x03\0"),
        ("<a href='a&amp;b&lt;&#109;&#x6D;&c=1&'>", "a&b<mm&c=1&\0"),
        ("<meta name=viewport content=x><meta name=' PRSM ' content=none>",
         "\x01meta\x02name\x03 PRSM \x02content\x03none\0"),
        ("<img src=x><img src=x srcset=y>", "x\0\x01img\x02src\x03x\x02srcset\x03y\0"),
        ("<input src=x><input type=IMAGE src=x>", "\x01input\x02src\x03x\x02type\x03IMAGE\0"),
        ("<a href=x href=y><a/href=z/>", "x\0z/\0"),
        ("<svg viewBox='0 0'><title>x</title><path d=x/></svg><a href=x>", "x\0"),
        ("<svg/><a href=x>", "x\0"),
        ("<a href=x", ""),
        ("<a href='x>", ""),
    ],
)  # fmt: skip
def test_what_it_writes(page: str, written: str) -> None:
    """References by themselves and once; elements with what counts of them; nothing else."""
    assert read(page.encode()) == written


@pytest.mark.parametrize(
    "page",
    [
        "<svg><a href=x></svg>",
        "<svg><p><a href=x>",
        "<svg></p><a href=x>",
        "<svg><style><a href=x></style></svg>",
        "<svg><title><a href=x></title></svg>",
        "<svg><![CDATA[<a href=x>]]></svg>",
        "<svg width=1/><a href=x>",
        "<math><a href=x>",
        "<select><a href=x></select>",
        "<select><textarea><a href=x></select>",
        "<select><script></script></select>",
        "<template><a href=x></template>",
        "<frameset><frame src=x>",
        "<frame src=x>",
        "<image src=x>",
        "<plaintext><a href=x>",
        "<form action=x><form action=y>",
        "<body background=x>",
        "<td background=x>",
        "<a href='x&copy;'>",
        "<a href='x&copy'>",
        "<a href='x&#233;'>",
        "<a href='x&#109'>",
        "<a href='x&#128;'>",
        "<a href='x\0'>",
        "<a href='x\x01'>",
        "<a href='x\r\n'>",
        "<script><!-- <script> --></script><a href=x>",
    ],
)
def test_what_it_leaves_to_the_tree(page: str) -> None:
    """What only a tree, or a table of names, can tell is not guessed; the links are the tree's."""
    assert read(page.encode()) is None
    compiled, tree = both(page.encode())
    assert compiled == tree


PIECES = (
    *("<a ", "<a href=", "<area href=", "<img src=", "<img srcset=", "<script src=", "<script>"),
    *("</script>", "<style>", "</style>", "<title>", "</title>", "<textarea>", "</textarea>"),
    *("<iframe src=", "</iframe>", "<xmp>", "</xmp>", "<noscript>", "</noscript>", "<p>", "</p>"),
    *("<link href=", "<link rel=canonical href=", "<meta name=robots content=", "<base href="),
    *("<form action=", "</form>", "<select>", "</select>", "<option>", "<svg>", "</svg>", "<svg/>"),
    *("<path d=", "<g>", "</g>", "<desc>", "</desc>", "<video poster=", "<input type=image src="),
    *(
        "<noembed>",
        "</noembed>",
        "<template>",
        "</template>",
        "<template shadowrootmode=open>",
        "<template shadowrootmode='x'>",
        "<div title=",
        "<object data=",
    ),
    *("<math>", "</math>", "<b>", "</b>", "</a>", "<h1>", "<li>", "<ul>", "<button>", "<head>"),
    *("<!--", "-->", "--!>", "->", "<!doctype html>", "<![CDATA[", "]]>", "<?php", "</ >", "</>"),
    *("x", "y.html", "/z", "?a=1&b=2", "&amp;", "&lt", "&copy;", "&#120;", "#f", "rel=nofollow "),
    *("'", '"', ">", ">", ">", " ", "/", "=", "\n", "\t", "\x0c", "\x0b", "<", "é", "あ", "\x7f"),
)
TABLES = ("<table>", "<tr>", "<td>", "</table>", "<caption>", "<colgroup>", "<th background=")


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_markup_means_what_the_tree_makes_of_it(page: str) -> None:
    """However it is nested, quoted and cut off: the same links, in the same order."""
    compiled, tree = both(page.encode())
    assert compiled == tree


@given(st.lists(st.sampled_from(PIECES + TABLES), max_size=30).map("".join))
def test_tables_may_change_the_order_only(page: str) -> None:
    """What has no place in a table stands before it in the tree, so another base may be first."""
    compiled, tree = both(page.encode())
    if "<base" in page or "<link" in page:
        assert compiled.tag == tree.tag
    else:
        assert replace(compiled, urls=(), kinds=b"") == replace(tree, urls=(), kinds=b"")
        assert set(compiled.urls) == set(tree.urls)


@given(st.binary(max_size=200))
def test_bytes_are_never_its_end(body: bytes) -> None:
    """Whatever comes, it comes back; what it writes never takes more room than there is."""
    for page in (body, b"<a href=" + body, b"<form action" + body, b"<svg>" + body):
        both(page)


@pytest.mark.parametrize("codec", ["cp932", "euc_jp", "gb18030", "cp1252", "utf-16-le"])
def test_other_encodings(codec: str) -> None:
    """Pages in the encodings of the web, with links that are in ASCII and some that are not."""
    for page in (
        "<p>日本</p><a href=x?é>",
        "<title>日本語</title><a href=x>",
        "<a href=日本?日本>",
    ):
        body = page.encode(codec, "xmlcharrefreplace")
        compiled, tree = both(body, codec)
        assert compiled == tree
        assert compiled.urls


@pytest.mark.parametrize(
    "piece",
    ["<", "<a ", "<a href=x ", "<!--", "<!-->", "<p>", "&#", "<a href='&", "<script><!--", "<svg>"],
)
def test_no_page_keeps_it_busy(piece: str) -> None:
    """A megabyte of what makes other readers go back to where they began."""
    read(piece.encode() * (1_000_000 // len(piece)))


def test_many_references_are_all_written() -> None:
    """More than it remembers, each once where it can: the caller drops the others."""
    page = "".join(f"<a href=p{number}><a href=p{number}>" for number in range(5000))
    written = read(page.encode())
    assert written is not None
    texts = written.split("\0")[:-1]
    assert list(dict.fromkeys(texts)) == [f"p{number}" for number in range(5000)]


@pytest.mark.usefixtures("_anew")
def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """`PRSM_NATIVE=no` reads pages in Python, and so does a machine that nothing was made for."""
    monkeypatch.setenv(native.OFF, "no")
    assert library() is None
    assert str(absence_reason()) == "PRSM_NATIVE=no"
    found, note = links_of_markup(b"<a href=x>", "utf-8", TOKEN)
    assert (list(found.items), note) == ([("a", {"href": "x"})], "")


@pytest.mark.usefixtures("_anew")
def test_a_damaged_library_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Pages are read all the same."""
    monkeypatch.setattr(native, "FOLDER", tmp_path)
    assert str(absence_reason()) == f"no code was compiled for {platform.machine()}"
    native._looked_for.cache_clear()
    there = made_for(platform.machine())
    there.parent.mkdir()
    shutil.copy(Path(__file__), there)
    assert library() is None
    assert "invalid ELF header" in str(absence_reason())
    assert list(links_of_markup(b"<a href=x>", "utf-8", TOKEN)[0].items) == [("a", {"href": "x"})]


@pytest.mark.usefixtures("_anew")
def test_a_library_of_other_sources_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An older one would find fewer links, and its pages would look well read."""
    copy = tmp_path / "native"
    shutil.copytree(native.FOLDER, copy)
    monkeypatch.setattr(native, "FOLDER", copy)
    assert library() is not None
    native._looked_for.cache_clear()
    with (copy / "root.zig").open("a") as source:
        source.write("// changed\n")
    assert library() is None
    assert str(absence_reason()) == (
        f"prsm-{platform.machine()}.so was compiled from other sources than those here: "
        "run `make native`"
    )

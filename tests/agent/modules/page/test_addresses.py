"""References in the document's encoding."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.page.addresses import Addresses, encoded_query
from agent.modules.page.encodings.encoding_labels import codec_of
from shared.errors import UrlError
from shared.urls import crawlable
from tests.fixtures_dir import FIXTURES

ROWS = FIXTURES / "wpt-url" / "percent-encoding.json"


def query_rows() -> list[tuple[str, str, str]]:
    if not ROWS.exists():
        return []
    return [
        (row["input"], label, expected)
        for row in json.loads(ROWS.read_text())
        if isinstance(row, dict)
        for label, expected in row["output"].items()
    ]


@pytest.mark.parametrize(("text", "label", "expected"), query_rows())
def test_queries_are_written_in_the_pages_encoding(text: str, label: str, expected: str) -> None:
    """Characters that the encoding lacks become references, as browsers send them."""
    codec = codec_of(label)
    assert codec is not None
    assert encoded_query(text, codec) == expected


def test_only_the_query_follows_the_page() -> None:
    """Path and host are UTF-8 whatever the page is written in; a fragment is dropped."""
    page = Addresses("http://a.example/dir/page.html", "cp932")
    assert page.resolve("日?q=日本#日") == "http://a.example/dir/%E6%97%A5?q=%93%FA%96{"
    assert page.resolve("?q=%93%FA") == "http://a.example/dir/page.html?q=%93%FA"
    utf8 = Addresses("http://a.example/", "utf-8")
    assert utf8.resolve("?q=日") == "http://a.example/?q=%E6%97%A5"


@pytest.mark.parametrize(
    "reference",
    [
        "javascript:void(0)",
        "mailto:a@b.example",
        "data:text/html,x",
        "ftp://a.example/",
        "http://user@a.example/",
        "http://[::1",
        "x" * 9000,
        "/" + "日" * 2000,
        "\ud800://",
    ],
)
def test_references_that_no_crawler_follows_are_none(reference: str) -> None:
    """Other schemes, credentials, nonsense and endless URLs lead nowhere."""
    assert Addresses("http://a.example/", "utf-8").resolve(reference) is None


@given(st.text(max_size=60), st.sampled_from(["utf-8", "cp932", "iso2022_jp", "gb18030", "cp1252"]))
def test_any_reference_resolves_or_does_not(reference: str, codec: str) -> None:
    """Nothing on a page raises, and what comes out is a visible ASCII URL."""
    url = Addresses("http://a.example/d/p?q", codec).resolve(reference)
    assert url is None or (url.isascii() and url.isprintable() and " " not in url)


BASES = (
    "http://a.example/",
    "http://a.example/d/e/page.html?q=1",
    "http://a.example/d/e/other.html",
    "https://a.example:8443/d/",
    "http://192.0.2.1/a%20b/c",
    "http://[::1]/x",
)
PARTS = st.sampled_from(
    (
        *("/", "//", "../", "./", "..", ".", "?", "#", "&", "=", "a", "b.html", "A-Z", "~u", "%41"),
        *(
            "%2e%2e/",
            ":",
            "@",
            ";p",
            " ",
            "\t",
            "\\",
            "日",
            "xn--",
            "http://",
            "HTTPS:",
            "b.example",
        ),
        *("/x/", "0x7f.1", "10", "|", "'", '"', "(", "*", ",", "+", "!", "$", "{", "^", "-", "_"),
    )
)


@given(st.lists(PARTS, max_size=7).map("".join), st.sampled_from(BASES))
def test_short_ways_lead_where_the_parser_does(reference: str, base: str) -> None:
    """Plain references are put together without the parser, and come out the same."""
    try:
        expected: str | None = crawlable(reference, base)
    except UrlError:
        expected = None
    page = Addresses(base, "utf-8")
    assert page.resolve(reference) == expected
    assert page.resolve(reference) == expected


@given(
    st.lists(st.lists(PARTS, max_size=4).map("".join) | st.text(" \t\xa0#x\x7f", max_size=3)),
    st.sampled_from(BASES),
    st.integers(0, 12),
)
def test_all_at_once_is_one_by_one(references: list[str], base: str, most: int) -> None:
    """The references of a page lead where each leads alone, in the same order; the first of equal
    ones says how they were found.
    """
    expected: dict[str, int] = {}
    cut = False
    for place, reference in enumerate([*references, "x" * 8193 + "#", "y#" + "x" * 8192]):
        try:
            url = crawlable(reference, base) if len(reference) <= 8192 else None
        except UrlError:
            url = None
        if url is None or url in expected or reference.isspace():
            continue
        cut = len(expected) >= most
        if cut:
            break
        expected[url] = place % 256
    given = [*references, "x" * 8193 + "#", "y#" + "x" * 8192]
    kinds = bytes(place % 256 for place in range(len(given)))
    assert Addresses(base, "utf-8").resolve_all(given, kinds, most) == (
        tuple(expected),
        bytes(expected.values()),
        cut,
    )


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("", "http://a.example/d/e/page.html?q=1"),
        ("#top", "http://a.example/d/e/page.html?q=1"),
        ("?", "http://a.example/d/e/page.html?"),
        ("?x=y:z", "http://a.example/d/e/page.html?x=y:z"),
        ("next.html#a b", "http://a.example/d/e/next.html"),
        ("../up", "http://a.example/d/up"),
        ("../../../../up/", "http://a.example/up/"),
        ("../", "http://a.example/d/"),
        ("/", "http://a.example/"),
        ("http://b.example/x#y", "http://b.example/x"),
        ("end #x", "http://a.example/d/e/end%20"),
    ],
)
def test_usual_references(reference: str, expected: str) -> None:
    """What stands on most pages."""
    assert Addresses("http://a.example/d/e/page.html?q=1", "utf-8").resolve(reference) == expected


@pytest.mark.timeout(30)
@pytest.mark.parametrize("reference", ["a" * 7000 + "%", "../" * 2600 + " ", "a/" * 3500 + "<"])
def test_long_references_cost_one_look(reference: str) -> None:
    """What almost is a plain reference is given up at once, not tried in every way."""
    page = Addresses("http://a.example/" + "d/" * 100, "utf-8")
    for number in range(200):
        assert page.resolve(f"{number}{reference}") is not None

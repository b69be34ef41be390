"""References in the document's encoding."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.page.addresses import Addresses, encoded_query
from agent.modules.page.labels import codec_of
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

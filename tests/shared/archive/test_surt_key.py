"""The key of replay tools."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.archive.surt_key import surt_key
from shared.errors import UrlError
from shared.urls import canonical
from tests.fixtures_dir import fixture_folder

HEX = "0123456789abcdef0123456789abcdef"
LETTERS = "abcdefghijklmnopqrstuvwx"

NOT_RELEASED = {"http://example.com/script?type=a+b+%26+c&grape=wine"}
"""Rows for a change that no released surt, and so no replay tool, has."""


def test_keys_are_those_of_the_wayback_machine() -> None:
    """Every web address of surt's own tests gets surt's key."""
    rows = json.loads((fixture_folder("url-pairs") / "surt.json").read_text())
    tried = 0
    for row in rows:
        options = {name: value for name, value in row["kwargs"].items() if value}
        if row["func"] != "surt" or options or "host_massage" in row["kwargs"]:
            continue
        url = row["args"][0] or ""
        if url.startswith("http") and url not in NOT_RELEASED:
            assert surt_key(canonical(url)) == row["expected"], url
            tried += 1
    assert tried >= 9


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.jp/", "jp)/"),
        ("http://www2.h.jp/", "jp,h)/"),
        ("http://www.www.h.jp/", "jp,h,www)/"),
        ("http://wwwx.h.jp/", "jp,h,wwwx)/"),
        ("http://192.0.2.1:8080/a", "1,2,0,192:8080)/a"),
        ("http://[2001:db8::1]/", "2001:db8::1)/"),
        ("https://h.jp/", "jp,h)/"),
        ("https://h.jp:80/", "jp,h:80)/"),
        ("http://h.jp/A/b//c/", "jp,h)/a/b/c"),
        ("http://h.jp/%7Ea/%E3%81%82", "jp,h)/~a/%e3%81%82"),
        ("http://h.jp/a%2525b", "jp,h)/a%25b"),
        ("http://h.jp/a%2Fb?x%3Fb", "jp,h)/a/b?x?b"),
        ("http://h.jp/a?b=1&A=2&a=1&a", "jp,h)/a?a&a=1&a=2&b=1"),
        ("http://h.jp/a?", "jp,h)/a"),
        ("http://h.jp/a?&", "jp,h)/a?&"),
        (f"http://h.jp/a?jsessionid={HEX}&x=1", "jp,h)/a?x=1"),
        (f"http://h.jp/a?x=1&jsessionid={HEX}", "jp,h)/a?&x=1"),
        (f"http://h.jp/a?PHPSESSID={HEX.upper()}", "jp,h)/a"),
        (f"http://h.jp/a?sid={HEX}0", f"jp,h)/a?sid={HEX}0"),
        (f"http://h.jp/a?aspsessionidaaaaaaaa={LETTERS}&b", "jp,h)/a?b"),
        ("http://h.jp/a?cfid=1&cftoken=2&x", "jp,h)/a?x"),
        (f"http://h.jp/({LETTERS})/a.aspx", "jp,h)/a.aspx"),
        (f"http://h.jp/x/(a({LETTERS})S({LETTERS}))/a.aspx?b", "jp,h)/x/a.aspx?b"),
        (f"http://h.jp/({LETTERS})/a.html", f"jp,h)/({LETTERS})/a.html"),
    ],
)
def test_what_shows_the_same_page_has_one_key(url: str, key: str) -> None:
    """Host prefix, case, order, escapes and session ids are folded as replay tools fold them."""
    assert surt_key(canonical(url)) == key


@given(st.text(max_size=40))
def test_a_key_fits_a_line(path: str) -> None:
    """Whatever the URL, its key has no space, no control character and no capital."""
    try:
        url = canonical(f"http://www.example.jp/{path}")
    except UrlError:
        return
    key = surt_key(url)
    assert key.isascii()
    assert key == key.lower()
    assert " " not in key
    assert key.isprintable()


def test_nested_escapes_end() -> None:
    """A URL of escaped escapes costs a bounded number of passes."""
    url = "http://h.jp/%" + "25" * 1000
    assert len(surt_key(url)) > 1900

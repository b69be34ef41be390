"""The lists of the source: their bytes, and what they refuse."""

from __future__ import annotations

import pytest

from shared.archive.classic import (
    TransferDate,
    date_entry,
    link_lines,
    path_line,
    url_path,
)
from shared.errors import FormatError


def test_a_link_is_target_tab_source() -> None:
    """extserver.list has the target first, then a tab, then the source."""
    line = link_lines(["http://other.jp/"], "http://www.foo.jp/a.html")
    assert line == b"http://other.jp/\thttp://www.foo.jp/a.html\n"


def test_a_path_has_no_host() -> None:
    """transferredurl.list has `/` for the top page of a host."""
    assert path_line("/") == b"/\n"


def test_an_entry_has_three_big_endian_numbers() -> None:
    """transferredurldate.list has 24 bytes: fetched, modified, size."""
    entry = date_entry(TransferDate(950_000_000_000, 0, 258))
    assert entry.hex(" ", 8) == "000000dd30c0dc00 0000000000000000 0000000000000102".replace(
        "000000dd30c0dc00", (950_000_000_000).to_bytes(8, "big").hex()
    )


def test_times_before_1970_are_signed() -> None:
    """A server's clock before 1970 gives a negative time, in two's complement."""
    assert date_entry(TransferDate(0, -1, 0))[8:16] == b"\xff" * 8


@pytest.mark.parametrize(
    "text",
    [
        "/a\nb",
        "/a\tb",
        "/a\0b",
        "/a\rb",
        "/a b",
        "/a\x7fb",
        "/é",
        "/a\u2028b",
        "/\ud800",
        "/" * 8193,
    ],
)
def test_hostile_paths_are_refused(text: str) -> None:
    """A path that could forge a line, or that is not escaped, is refused and shown escaped."""
    with pytest.raises(FormatError, match="path '") as caught:
        path_line(text)
    assert str(caught.value).isascii()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "a", "http://www.foo.jp/"])
def test_a_path_begins_with_a_slash(text: str) -> None:
    """What is no path is refused."""
    with pytest.raises(FormatError, match="must begin with /"):
        path_line(text)


@pytest.mark.parametrize("text", ["http://a/\tx", "http://a/\n", "", "http://a/ b"])
def test_hostile_links_are_refused_on_both_sides(text: str) -> None:
    """Neither target nor source may hold a tab or a line end."""
    with pytest.raises(FormatError, match="target"):
        link_lines(["http://a/", text], "http://b/")
    with pytest.raises(FormatError, match="source"):
        link_lines(["http://a/"], text)


def test_the_lines_of_a_page_are_those_of_its_links() -> None:
    """Many at a time are the same bytes as one by one."""
    targets, source = ["http://c.jp/", "http://b.jp/x?y"], "http://a.jp/"
    one_by_one = b"".join(link_lines([target], source) for target in targets)
    assert link_lines(targets, source) == one_by_one
    assert link_lines([], source) == b""


@pytest.mark.parametrize(
    "date",
    [TransferDate(2**63, 0, 0), TransferDate(0, -(2**63), 0), TransferDate(0, 0, 2**63)],
)
def test_numbers_outside_64_bits_are_refused(date: TransferDate) -> None:
    """What eight bytes cannot hold is refused with its value."""
    with pytest.raises(FormatError, match=r"92233720368547758|2\^63"):
        date_entry(date)


def test_a_negative_size_is_refused() -> None:
    """No page has fewer than no bytes."""
    with pytest.raises(FormatError, match="size = -1"):
        date_entry(TransferDate(0, 0, -1))


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

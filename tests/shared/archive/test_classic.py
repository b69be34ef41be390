"""The three classic lists: their bytes, their readers, and what they refuse."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.archive.classic import (
    ExternalLink,
    TransferDate,
    date_entry,
    link_line,
    link_lines,
    path_line,
    read_date,
    read_dates,
    read_links,
    read_paths,
    read_transfers,
    write_dates,
    write_links,
    write_paths,
)
from shared.errors import FormatError, LineError

visible = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=60)
links = st.builds(ExternalLink, visible, visible)
paths = visible.map(lambda text: "/" + text)
int64 = st.integers(-(2**63) + 1, 2**63 - 1)
dates = st.builds(TransferDate, int64, int64, st.integers(0, 2**63 - 1))


def test_a_link_is_target_tab_source() -> None:
    """extserver.list has the target first, then a tab, then the source."""
    link = ExternalLink("http://other.jp/", "http://www.foo.jp/a.html")
    assert link_line(link) == b"http://other.jp/\thttp://www.foo.jp/a.html\n"


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


@given(st.lists(links))
def test_links_come_back_as_written(written: list[ExternalLink]) -> None:
    """extserver.list survives writing and reading."""
    file = io.BytesIO()
    assert write_links(written, file) == len(written)
    file.seek(0)
    assert list(read_links(file)) == written


@given(st.lists(paths))
def test_paths_come_back_as_written(written: list[str]) -> None:
    """transferredurl.list survives writing and reading."""
    file = io.BytesIO()
    assert write_paths(written, file) == len(written)
    file.seek(0)
    assert list(read_paths(file)) == written


@given(st.lists(dates, min_size=1))
def test_dates_come_back_as_written(written: list[TransferDate]) -> None:
    """transferredurldate.list survives writing and reading, whole and by number."""
    file = io.BytesIO()
    assert write_dates(written, file) == len(written)
    assert len(file.getvalue()) == 24 * len(written)
    file.seek(0)
    assert list(read_dates(file)) == written
    assert read_date(file, len(written) - 1) == written[-1]


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
        link_line(ExternalLink(text, "http://b/"))
    with pytest.raises(FormatError, match="source"):
        link_line(ExternalLink("http://b/", text))
    with pytest.raises(FormatError, match="target"):
        link_lines(["http://a/", text], "http://b/")
    with pytest.raises(FormatError, match="source"):
        link_lines(["http://a/"], text)


def test_the_lines_of_a_page_are_those_of_its_links() -> None:
    """Many at a time are the same bytes as one by one."""
    targets, source = ["http://c.jp/", "http://b.jp/x?y"], "http://a.jp/"
    one_by_one = b"".join(link_line(ExternalLink(target, source)) for target in targets)
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
    """No page has fewer than no bytes, written or read."""
    with pytest.raises(FormatError, match="size = -1"):
        date_entry(TransferDate(0, 0, -1))
    with pytest.raises(FormatError, match="size = -1"):
        list(read_dates(io.BytesIO(bytes(16) + b"\xff" * 8)))


@pytest.mark.parametrize(
    ("read", "data", "problem"),
    [
        (read_links, b"a\tb\nab\n", "line 2: 'ab': must be target, tab, source"),
        (read_links, b"a\tb\tc\n", "line 1: source"),
        (read_links, b"a\tb", "line 1: no line end"),
        (read_paths, b"/a\n/b", "line 2: no line end"),
        (read_paths, b"/a\r\n", "line 1: path"),
        (read_paths, b"a\n", "line 1: path 'a': must begin with /"),
        (read_paths, b"/a\n\n", "line 2: path"),
        (read_paths, b"/" * 20_000 + b"\n", "line 1: longer than"),
        (read_paths, b"/\xff\n", "line 1: path"),
    ],
)
def test_readers_name_the_bad_line(
    read: Callable[[io.BytesIO], object], data: bytes, problem: str
) -> None:
    """A list that is cut or forged is refused at its line."""
    with pytest.raises(LineError) as caught:
        list(read(io.BytesIO(data)))  # type: ignore[call-overload]  # both give iterators
    assert problem in str(caught.value)


def test_a_torn_entry_is_refused() -> None:
    """A date list that is no multiple of 24 bytes is cut."""
    with pytest.raises(FormatError, match="entry 1 has 7 of 24 bytes"):
        list(read_dates(io.BytesIO(bytes(31))))
    with pytest.raises(FormatError, match="entry 5 has 0 of 24 bytes"):
        read_date(io.BytesIO(bytes(24)), 5)


def test_paths_and_dates_are_read_together() -> None:
    """Line N of the one list belongs to entry N of the other; a missing end is refused."""
    first = TransferDate(1, 2, 3)
    pairs = read_transfers(io.BytesIO(b"/\n"), io.BytesIO(date_entry(first)))
    assert list(pairs) == [("/", first)]
    with pytest.raises(FormatError, match=r"transferredurldate\.list: ends before line 2"):
        list(read_transfers(io.BytesIO(b"/\n/a\n"), io.BytesIO(date_entry(first))))
    with pytest.raises(FormatError, match=r"transferredurl\.list: ends before line 1"):
        list(read_transfers(io.BytesIO(b""), io.BytesIO(date_entry(first))))

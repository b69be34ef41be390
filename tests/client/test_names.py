"""Whatever the server calls a file, it lies in the folder or nowhere."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.errors import DamagedError
from client.names import classic_place, plain, segment_place

HOSTILE = [
    "", ".", "..", "../x.warc.gz", "/etc/x.warc.gz", "a/b.warc.gz", "a\\b.warc.gz", ".x.warc.gz",
    "x.warc.gz\n", "x\0.warc.gz", "x.warc", "~/x.warc.gz", "C:x.warc.gz", "ｘ.warc.gz",
    "-rf.warc.gz", "a" * 300 + ".warc.gz",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_segments(name: str) -> None:
    """A name that is no plain file name is refused, in words that show it harmlessly."""
    with pytest.raises(DamagedError, match="nothing was written") as refused:
        segment_place(name)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "member",
    [
        *HOSTILE,
        "html/6700/9e/../../../x:80.zip",
        "html/6700/9e/www.etl.go.jp:80/x.zip",
        "html/6700/9f/www.etl.go.jp:80.zip",
        "html/9e/6700/www.etl.go.jp:80.zip",
        "html/6700/9e/www.etl.go.jp:80",
        "html/6700/9e/WWW.etl.go.jp:80.zip",
        "/html/6700/9e/www.etl.go.jp:80.zip",
        "HTML/6700/9e/www.etl.go.jp:80.zip",
        "html//9e/www.etl.go.jp:80.zip",
        "html/6700/9e/www.etl.go.jp:80.zip/",
        "html/6700/9e/www.etl.go.jp:99999.zip",
        "html/6700/9e/..:80.zip",
    ],
)
def test_hostile_members(member: str) -> None:
    """A member that is not where the source's sums put its host is refused."""
    with pytest.raises(DamagedError, match="nothing of it was written"):
        classic_place(member)


def test_good_names() -> None:
    """A segment lies in `warc/`, a host where the source says."""
    assert segment_place("p-1-a.example.warc.gz") == PurePosixPath("warc/p-1-a.example.warc.gz")
    member = "html/6700/9e/www.etl.go.jp:80.zip"
    assert classic_place(member) == PurePosixPath(member)


@given(st.text(max_size=60))
def test_no_name_leads_out(name: str) -> None:
    """Any text is refused, or stays in its folder."""
    for place_of, top in ((segment_place, "warc"), (classic_place, "html")):
        for tried in (name, f"{name}.warc.gz", f"html/{name}.zip"):
            try:
                place = place_of(tried)
            except DamagedError:
                continue
            assert place.parts[0] == top
            assert not place.is_absolute()
            assert not {"..", "", "."} & set(place.parts)
            assert str(place).isprintable()


def test_a_terminal_is_not_commanded() -> None:
    """Control characters of a sentence from outside become spaces."""
    assert plain("a\x1b[2Jb\r\nc\u202ed") == "a [2Jb  c d"

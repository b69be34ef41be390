"""The index lines and their sorting."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.archive.cdxj import CdxjSorter, IndexEntry, cdxj_line
from tests.shared.archive.disks import file_limit

ENTRY = IndexEntry(
    urlkey="jp,example,www)/a?b",
    surt="jp,example)/a?b",
    url="http://www.example.jp/a?b",
    fetched_at_ms=1_767_268_800_123,
    mime="text/html",
    status=200,
    digest="sha256:00",
    offset=5,
    length=77,
)


def test_a_line_is_key_time_and_json() -> None:
    """The numbers are strings and the time has 14 digits, as replay tools expect."""
    line = cdxj_line(ENTRY, 1234, "x.warc.gz")
    key, timestamp, text = line.decode().split(" ", 2)
    assert (key, timestamp) == ("jp,example)/a?b", "20260101120000")
    assert line.endswith(b"}\n")
    assert json.loads(text) == {
        "url": "http://www.example.jp/a?b",
        "mime": "text/html",
        "status": "200",
        "digest": "sha256:00",
        "length": "77",
        "offset": "1234",
        "filename": "x.warc.gz",
    }


def test_what_is_not_known_is_left_out() -> None:
    """A line has no media type, status or digest where there is none."""
    entry = IndexEntry("a)/", "a)/", "http://a/", 0, "unk", None, "", 0, 1)
    assert set(json.loads(cdxj_line(entry, 0, "x").decode().split(" ", 2)[2])) == {
        "url",
        "length",
        "offset",
        "filename",
    }


@given(st.lists(st.binary(max_size=9).map(lambda text: text.replace(b"\n", b"") + b"\n")))
def test_lines_are_sorted_by_bytes_whatever_was_spilled(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    """Runs on disk and lines in memory merge to one order, twice."""
    sorter = CdxjSorter(tmp_path_factory.getbasetemp(), run_lines=3)
    for line in lines:
        sorter.add(line)
    assert list(sorter) == sorted(lines)
    assert list(sorter) == sorted(lines)
    sorter.close()


def test_spilled_runs_have_no_name(tmp_path: Path) -> None:
    """A kill leaves nothing of the sorter behind."""
    sorter = CdxjSorter(tmp_path, run_lines=2)
    for number in range(9):
        sorter.add(b"%d\n" % number)
    assert list(tmp_path.iterdir()) == []
    sorter.close()


def test_a_full_disk_loses_no_line(tmp_path: Path) -> None:
    """Where a run cannot be spilled its lines stay in memory, and it is tried again later."""
    sorter = CdxjSorter(tmp_path, run_lines=2)
    lines = [b"%d\n" % (number % 7) for number in range(11)]
    with file_limit(3):
        for line in lines[:7]:
            sorter.add(line)
    for line in lines[7:]:
        sorter.add(line)
    assert list(sorter) == sorted(lines)
    sorter.close()

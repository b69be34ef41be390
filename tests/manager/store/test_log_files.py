"""Crawl logs as Parquet: every line is there, and the sums are those of the lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manager.store import LogFile, read_sums
from manager.store.log_files import DIRECTORIES_OF, SCHEMA, LogRow

MEMORY_BYTES = 256 * 1000**2

numbers = st.integers(0, 10**15)
rows = st.builds(
    lambda host, path, status, sizes, head, order, held: (
        f"{host}{path[1:]}", host, path, status, *sizes, head, *order, held,
    ),
    st.sampled_from(["http://a.example:80/", "https://b.example:443/", "http://c.example:8080/"]),
    st.sampled_from(["/", "/x", "/d/", "/d/x?y=/z/", "/d/e/f", "/?a/b/", "/é/"]),
    st.none() | st.integers(100, 599),
    st.tuples(numbers, numbers, numbers),
    st.binary(max_size=20),
    st.tuples(st.integers(0, 3), st.sampled_from(["probe", "crawl"])),
    st.booleans(),
)  # fmt: skip


def write(path: Path, lines: Iterable[LogRow]) -> Path:
    with LogFile(path.with_suffix(".part"), path) as file:
        for row in lines:
            file.add(row)
    return path


def numbered(lines: list[tuple[object, ...]]) -> list[LogRow]:
    return [(number, *line) for number, line in enumerate(lines, 2)]  # type: ignore[misc]  # mypy cannot join tuples of this length


@settings(max_examples=40, deadline=None)
@given(lines=st.lists(rows, max_size=60).map(numbered))
def test_lines_and_sums_agree(
    tmp_path_factory: pytest.TempPathFactory, lines: list[LogRow]
) -> None:
    """N lines in are N rows out, in order; the sums of each host are those a person would make."""
    folder = tmp_path_factory.mktemp("log")
    path = write(folder / "log.parquet", lines)
    assert [tuple(row.values()) for row in pq.read_table(path).to_pylist()] == lines
    wanted: dict[tuple[object, ...], list[int]] = defaultdict(lambda: [0] * 6)
    for _, _, host, _, status, request, response, elapsed, _, crawl_round, kind, held in lines:
        sums = wanted[host, crawl_round, kind, held]
        answered = status is not None
        added = (1, answered, request, response, elapsed, elapsed * answered)
        sums[:] = [have + more for have, more in zip(sums, added, strict=True)]
    found = {
        (each.host, each.round, each.kind, each.held): [
            each.lines, each.answered, each.request_bytes, each.response_bytes, each.elapsed_ms,
            each.answered_ms,
        ]
        for each in read_sums(path, memory_bytes=MEMORY_BYTES, spill=folder)
    }  # fmt: skip
    assert found == wanted


def test_directories_of_big_hosts_are_summed(tmp_path: Path) -> None:
    """A host with many lines also gets a sum for each top directory; a small one does not."""
    big = [
        (f"http://big:80/d{i % 3}/{i}", "http://big:80/", f"/d{i % 3}/{i}", 200, 1, i, 2, b"", 1,
         "crawl", True)
        for i in range(DIRECTORIES_OF - 1)
    ]  # fmt: skip
    top = ("http://big:80/", "http://big:80/", "/", None, 1, 5, 2, b"", 1, "crawl", True)
    small = ("http://s:80/d/x", "http://s:80/", "/d/x", 200, 1, 1, 1, b"", 1, "crawl", True)
    path = write(tmp_path / "log.parquet", numbered([*big, top, small]))
    sums = list(read_sums(path, memory_bytes=MEMORY_BYTES, spill=tmp_path))
    assert [(each.host, each.directory, each.lines, each.answered) for each in sums] == [
        ("http://big:80/", "/d0/", 333, 333),
        ("http://big:80/", "/d1/", 333, 333),
        ("http://big:80/", "/d2/", 333, 333),
        ("http://big:80/", None, 1000, 999),
        ("http://s:80/", None, 1, 1),
    ]
    assert sums[0].response_bytes == sum(range(0, 999, 3))


def test_an_empty_log_is_a_file(tmp_path: Path) -> None:
    """A log without lines is a Parquet file without rows, and has no sums."""
    path = write(tmp_path / "log.parquet", [])
    assert pq.read_schema(path).equals(SCHEMA)
    assert list(read_sums(path, memory_bytes=MEMORY_BYTES, spill=tmp_path)) == []


def test_a_log_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """When a line turns out malformed, neither the file nor a part of it is there."""
    row = ("http://s:80/", "http://s:80/", "/", 200, 1, 1, 1, b"", 1, "probe", True)

    def lines() -> Iterator[LogRow]:
        yield from numbered([row])
        raise ValueError("bad line")

    with pytest.raises(ValueError, match="bad line"):
        write(tmp_path / "x.parquet", lines())
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_read_without_the_network(tmp_path: Path) -> None:
    """DuckDB never loads or installs an extension by itself, whatever path it is given."""
    sums = read_sums(
        Path("http://127.0.0.1:1/x.parquet"), memory_bytes=MEMORY_BYTES, spill=tmp_path
    )
    with pytest.raises(duckdb.Error, match="No files found"):
        list(sums)

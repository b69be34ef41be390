"""Crawl logs as Parquet: every line is there, and the sums are those of the lines."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manager.distance.spread import BINS_AN_OCTAVE, LEAST_MS_PER_KB, Spread, merged
from manager.store import LineBounds, LogFile, read_sums
from manager.store.connections import kept_connection
from manager.store.logs.log_files import SCHEMA, LogRow

MEMORY_BYTES = 256 * 1000**2

numbers = st.integers(0, 10**15)
rows = st.builds(
    lambda host, path, status, sizes, head, order, held: (
        f"{host}{path[1:]}", host, path, status, *sizes, head, *order, held, host if held else None,
    ),
    st.sampled_from(["http://a.example:80/", "https://b.example:443/", "http://c.example:8080/"]),
    st.sampled_from(["/", "/x", "/robots.txt", "/d/", "/d/x?y=/z/", "/d/e/f", "/?a/b/", "/é/",
                     "/sitemap.xml", "/.well-known/security.txt"]),
    st.none() | st.integers(100, 599) | st.sampled_from([404, 410]),
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
    wanted: dict[tuple[object, ...], list[int]] = defaultdict(lambda: [0] * 8)
    spreads: dict[tuple[object, ...], Spread] = defaultdict(Spread)
    robots: Counter[tuple[object, ...]] = Counter()
    for _, _, host, path_, status, request, response, ms, _, crawl_round, kind, held, _ in lines:
        if held:
            sums = wanted[host, crawl_round, kind]
            robots[host, crawl_round, kind] += path_ == "/robots.txt"
            page = status is not None and 200 <= status < 300 and path_ != "/robots.txt"
            need_not_be = path_ == "/sitemap.xml" or path_.startswith("/.well-known/")
            error = status is None or (status >= 400 and not (need_not_be and status in (404, 410)))
            added = (1, page, error, request, response, ms, not response)
            slowest = max(sums[7], ms)
            sums[:] = [have + more for have, more in zip(sums[:7], added, strict=True)]
            sums.append(slowest)
            if response:
                ms_per_kb = max(ms * 1000 / response, LEAST_MS_PER_KB)
                line = Spread({math.floor(BINS_AN_OCTAVE * math.log2(ms_per_kb)): 1})
                spreads[host, crawl_round, kind] = merged(spreads[host, crawl_round, kind], line)
    sums_read = list(read_sums(path, memory_bytes=MEMORY_BYTES, spill=folder))
    found = {
        (each.unit, each.round, each.kind): [
            each.requests, each.pages, each.errors, each.request_bytes,
            each.response_bytes, each.ms, each.failed, each.slowest_ms,
        ]
        for each in sums_read
    }  # fmt: skip
    assert found == wanted
    lines_of = {line[6:8] for line in lines}
    for each in sums_read:
        assert (each.slowest_bytes, each.slowest_ms) in lines_of
        assert Spread.of_text(each.spread) == spreads[each.unit, each.round, each.kind]
        assert each.robots_lines == robots[each.unit, each.round, each.kind]


def test_lines_that_cannot_be_count_in_no_sum(tmp_path: Path) -> None:
    """Too large, too long, too fast: they stay in the file and stand beside the sums."""
    host = "http://a.example:80/"

    def line(number: int, size: int, ms: int) -> LogRow:
        return (number, host, host, "/", 200, 100, size, ms, b"", 1, "crawl", True, host)

    good = [line(2, 5_000, 20), line(3, 0, 30), line(4, 900_000, 0)]
    odd = [line(5, 10**12, 1), line(6, 5_000, 10**12), line(7, 3_000_000, 0)]
    path = write(tmp_path / "log.parquet", [*good, *odd])
    bounds = LineBounds(100_000_000, 7_200_000)
    (found,) = read_sums(path, memory_bytes=MEMORY_BYTES, spill=tmp_path, bounds=bounds)
    assert (found.requests, found.pages, found.failed) == (3, 3, 1)
    assert (found.response_bytes, found.ms, found.slowest_ms) == (905_000, 50, 30)
    assert sum(Spread.of_text(found.spread).counts.values()) == 2
    assert (found.odd_lines, found.odd_bytes, found.odd_ms) == (3, 10**12 + 3_005_000, 10**12 + 1)
    assert pq.read_table(path).num_rows == 6
    path = write(tmp_path / "odd.parquet", odd)
    (found,) = read_sums(path, memory_bytes=MEMORY_BYTES, spill=tmp_path, bounds=bounds)
    assert (found.requests, found.response_bytes, found.ms, found.spread) == (0, 0, 0, "")
    assert found.odd_lines == 3


def test_an_empty_log_is_a_file(tmp_path: Path) -> None:
    """A log without lines is a Parquet file without rows, and has no sums."""
    path = write(tmp_path / "log.parquet", [])
    assert pq.read_schema(path).equals(SCHEMA)
    assert list(read_sums(path, memory_bytes=MEMORY_BYTES, spill=tmp_path)) == []


def test_a_log_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """When a line turns out malformed, neither the file nor a part of it is there."""
    row = ("http://s:80/", "http://s:80/", "/", 200, 1, 1, 1, b"", 1, "probe", True, "http://s:80/")

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


def asked_twice(first: Path, second: Path, *, fails: bool = False) -> bool:
    """Return whether what is written down by one asker is there for the next."""
    with kept_connection(MEMORY_BYTES, first) as connection:
        connection.execute("CREATE OR REPLACE TABLE seen (x INTEGER)")
    if fails:
        with pytest.raises(duckdb.Error), kept_connection(MEMORY_BYTES, first) as connection:
            connection.execute("SELECT * FROM nowhere")
    with kept_connection(MEMORY_BYTES, second) as connection:
        return bool(connection.execute("FROM duckdb_tables() WHERE table_name = 'seen'").fetchall())


def test_one_connection_serves_log_after_log(tmp_path: Path) -> None:
    """It stays, because to start one takes as long as a log; but not behind an error."""
    assert asked_twice(tmp_path, tmp_path)
    assert not asked_twice(tmp_path, tmp_path / "other")
    assert not asked_twice(tmp_path, tmp_path, fails=True)


def test_each_thread_has_its_own(tmp_path: Path) -> None:
    """So that none waits for another, or loses what it asks by."""
    with kept_connection(MEMORY_BYTES, tmp_path) as connection:
        connection.execute("CREATE OR REPLACE TABLE seen (x INTEGER)")
        with ThreadPoolExecutor(1) as threads:
            threads.submit(asked_twice, tmp_path / "a", tmp_path / "b").result()
        assert connection.execute("FROM seen").fetchall() == []

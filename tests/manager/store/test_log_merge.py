"""Logs of an agent as one sorted file."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.store import LogFile, merge_logs
from manager.store.logs.log_files import LogRow

MEMORY_BYTES = 64 * 1000**2


def row(url: str, size: int, ms: int, number: int, kind: str, held: bool = True) -> LogRow:
    host = url[: url.index("/", 8) + 1]
    unit = host if held else None
    return (2, url, host, "/", 200, 1, size, ms, b"", number, kind, held, unit)


def merged(folder: Path, *logs: list[LogRow], probed: tuple[tuple[str, int], ...] = ()) -> str:
    paths = []
    for number, rows in enumerate(logs):
        paths.append(folder / f"{number}.parquet")
        with LogFile(folder / "part", paths[-1]) as file:
            for one in rows:
                file.add(one)
    target = folder / "it's a 'file'"
    merge_logs(paths, target, memory_bytes=MEMORY_BYTES, spill=folder, probed=probed)
    return target.read_text()


def test_lines_of_a_url_are_summed_and_sorted(tmp_path: Path) -> None:
    """Over all logs, exact to the byte, by the bytes of the URL."""
    a, b = "http://a:80/", "http://B:80/é"
    first = [row(a, 1, 2, 1, "crawl"), row(b, 1234567, 5, 1, "crawl")]
    assert merged(tmp_path, first, [row(a, 999, 3, 1, "crawl")]) == (
        "http://B:80/é 1234.567 5\nhttp://a:80/ 1.000 5\n"
    )


def test_only_the_newest_measurement_counts(tmp_path: Path) -> None:
    """A crawl before the probe of its round, a round before the earlier; nothing not held."""
    old = [row("http://a:80/", 10, 10, 1, "crawl"), row("http://a:80/gone", 10, 10, 1, "crawl")]
    new = [row("http://a:80/", 20, 20, 2, "probe"), row("http://b:80/", 7, 7, 2, "probe")]
    crawl = [row("http://b:80/", 8, 8, 2, "crawl"), row("http://c:80/", 9, 9, 3, "crawl", False)]
    assert merged(tmp_path, old, new, crawl) == ("http://a:80/ 0.020 20\nhttp://b:80/ 0.008 8\n")


def test_a_probe_that_its_crawl_continued_counts_with_it(tmp_path: Path) -> None:
    """Of its round and unit only; where the crawl logged no line, alone."""
    probes = [row(f"http://{host}:80/", 10, 10, 2, "probe") for host in "abc"]
    crawls = [row(f"http://{host}:80/x", 5, 5, 2, "crawl") for host in "ab"]
    probed = (("http://a:80/", 2), ("http://b:80/", 1), ("http://c:80/", 2))
    assert merged(tmp_path, probes, crawls, probed=probed) == (
        "http://a:80/ 0.010 10\nhttp://a:80/x 0.005 5\nhttp://b:80/x 0.005 5\n"
        "http://c:80/ 0.010 10\n"
    )


def test_a_page_of_a_host_that_was_split_counts_once(tmp_path: Path) -> None:
    """As it was fetched last, whatever unit it belonged to."""
    whole = row("http://a:80/d/x", 10, 10, 1, "crawl")
    piece = (*row("http://a:80/d/x", 20, 20, 2, "crawl")[:-1], "http://a:80/d/")
    assert merged(tmp_path, [whole, row("http://a:80/", 1, 1, 1, "crawl")], [piece]) == (
        "http://a:80/ 0.001 1\nhttp://a:80/d/x 0.020 20\n"
    )


@pytest.mark.parametrize("url", ['http://a:80/"', "http://a:80/%s,;'x", "http://a:80/\\n"])
def test_urls_stand_as_they_are(tmp_path: Path, url: str) -> None:
    """No quoting: the source has none."""
    assert merged(tmp_path, [row(url, 1, 1, 1, "crawl")]) == f"{url} 0.001 1\n"


def test_without_logs_there_is_an_empty_file(tmp_path: Path) -> None:
    """An agent that has sent nothing has a file all the same."""
    assert merged(tmp_path) == ""

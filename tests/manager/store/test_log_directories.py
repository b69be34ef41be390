"""A big host is summed up by directories, as deep as they are large, and never without bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from manager.distance.line_sums import DirectorySum
from manager.store.logs.log_directories import (
    BIG_HOST_LINES,
    DEPTH,
    LEAST_LINES,
    read_directories,
)
from manager.store.logs.log_files import LogFile

BIG, SMALL = "http://big:80/", "http://s:80/"


def read(
    folder: Path,
    paths: Iterable[tuple[str, str]],
    hosts: Sequence[str] = (),
    *,
    kind: str = "crawl",
) -> list[DirectorySum]:
    """Return what is read of a log with a line for each (host, path)."""
    target = folder / "log.parquet"
    target.unlink(missing_ok=True)
    with LogFile(folder / "log.part", target) as file:
        for line, (host, path) in enumerate(paths, 2):
            file.add((line, host[:-1] + path, host, path, 200, 1, 10, 2, b"", 1, kind, True, host))
    return list(read_directories(target, hosts, memory_bytes=10**8, spill=folder))


def requests(found: Iterable[DirectorySum]) -> dict[str, int]:
    return {one.path: one.requests for one in found}


def test_a_tree_is_cut_where_it_is_large(tmp_path: Path) -> None:
    """All below one top directory: what matters lies deeper; crumbs count for what is around."""
    paths = [f"/docs/{'abc'[n % 3]}/{n % 2}/{n}.html" for n in range(1200)]
    paths += [f"/docs/crumb{n}/index.html" for n in range(60)]
    paths += ["/x.html?back=/docs/a/"] * 5 + ["/docs/"]
    assert requests(read(tmp_path, ((BIG, path) for path in paths))) == {
        "/": 5,
        "/docs/": 61,
        **{f"/docs/{name}/{number}/": 200 for name in "abc" for number in range(2)},
    }


def test_only_hosts_that_are_big_are_read(tmp_path: Path) -> None:
    """By this log, or by the logs before it."""
    few = [(SMALL, f"/d/{n}.html") for n in range(40)]
    many = [(BIG, f"/d/{n}.html") for n in range(BIG_HOST_LINES)]
    assert {one.host for one in read(tmp_path, few + many)} == {BIG}
    assert requests(read(tmp_path, few, [SMALL])) == {"/d/": 40}
    assert read(tmp_path, [(SMALL, "/d/x")] * 9, [SMALL])[0].path == "/"


def test_pages_that_were_fetched_again_are_not_counted(tmp_path: Path) -> None:
    """They say nothing of where the pages lie."""
    assert read(tmp_path, [(SMALL, "/d/x")] * 20, [SMALL], kind="refetch") == []


names = st.sampled_from(["a", "b", "c", "", "ä", "x y", "-"])
trees = st.lists(
    st.tuples(st.lists(names, max_size=12), st.sampled_from(["", "p.html", "?q=/a/b/"])),
    min_size=1,
    max_size=30,
)


@given(tree=trees, times=st.integers(1, 60))
def test_each_line_lies_in_one_directory_around_it(
    tmp_path_factory: object, tree: list[tuple[list[str], str]], times: int
) -> None:
    """Whatever the paths are: the sums together are the lines, and each is of pages inside."""
    folder = tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # pytest's own
    paths = ["/" + "".join(f"{name}/" for name in folders) + page for folders, page in tree]
    lines = [(BIG, path) for path in paths for _ in range(times)]
    found = read(folder, lines, [BIG])
    assert sum(one.requests for one in found) == len(lines)
    assert sum(one.response_bytes for one in found) == 10 * len(lines)
    for one in found:
        inside = sum(path.partition("?")[0].startswith(one.path) for _, path in lines)
        assert one.requests <= inside
        assert one.path == "/" or inside >= LEAST_LINES
        assert one.path.count("/") <= DEPTH + 1

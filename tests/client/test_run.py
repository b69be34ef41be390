"""What a server lists, and what of it lands where; nothing of it is believed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from client.errors import DamagedError, FolderBusyError
from client.folder import Folder
from client.run import Report, Run, Taken, missing_segments
from tests.client.answering import server_of

GOOD = b"good" * 1000


class Silent:
    """A watch that shows nothing."""

    def expect(self, files: int, size_bytes: int) -> None:
        """Learn what is to come."""

    def received(self, name: str, count: int) -> None:
        """Learn what came."""

    def finished(self, taken: Taken) -> None:
        """Learn what became of a file."""

    def job_progress(self, name: str, done: int, total: int) -> None:
        """Learn how far a job is."""

    def redraw(self) -> None:
        """Show nothing."""


def listed(name: Any, content: bytes = GOOD, **other: Any) -> dict[str, Any]:
    sums = {"sha256": hashlib.sha256(content).hexdigest()}
    said = {"filename": name, "size": len(content), "checksums": sums}
    return {**said, "locations": ["https://evil.example/x"], **other}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    """Return a folder to take into."""
    with Folder(tmp_path / "deep" / "taken") as made:
        yield made


def take(folder: Folder, *files: dict[str, Any], content: bytes = GOOD) -> tuple[Report, list[str]]:
    """Take what a server lists; return the report, and the addresses that were asked for files."""
    asked: list[str] = []

    def answers(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/webdata"):
            return httpx.Response(200, json={"files": list(files), "next": None})
        asked.append(str(request.url))
        if "gone" in request.url.path:
            return httpx.Response(410, json={"detail": "was withdrawn"})
        return httpx.Response(200, stream=httpx.ByteStream(content))

    report = Report()
    with server_of(answers) as server:
        missing = missing_segments(server, folder, report)
        Run(server, folder, 3, Silent(), report).get_segments(missing)
    return report, asked


def files(top: Path) -> set[str]:
    return {
        str(path.relative_to(top))
        for path in top.rglob("*")
        if path.is_file() and ".prs-get" not in path.parts
    }


def test_hostile_names_among_good_ones(folder: Folder, tmp_path: Path) -> None:
    """Each is reported as failed and asked for nowhere; good ones are taken, from our server."""
    names = ["../../x.warc.gz", "/etc/x.warc.gz", "a/b.warc.gz", ".hidden.warc.gz", "x\n.warc.gz"]
    report, asked = take(folder, *(listed(name) for name in [*names, "good.warc.gz"]))
    assert (report.count("failed"), report.count("taken")) == (len(names), 1)
    assert asked == ["https://prsm.example.jp/prsm/api/v1/segments/good.warc.gz"]
    assert files(tmp_path) == {"deep/taken/warc/good.warc.gz"}


@pytest.mark.parametrize(
    "file",
    [
        listed(7),
        listed("x.warc.gz", size=-1),
        listed("x.warc.gz", size="5"),
        listed("x.warc.gz", size=10**30),
        listed("x.warc.gz", checksums={"sha256": "../../x"}),
        listed("x.warc.gz", checksums={"md5": "x"}),
        listed("x.warc.gz", checksums=[]),
    ],
)
def test_lists_that_are_none(folder: Folder, file: dict[str, Any]) -> None:
    """A file without a size or a digest cannot be verified, so nothing is taken."""
    with pytest.raises(DamagedError):
        take(folder, file)
    assert files(folder.path) == set()


def test_the_same_bytes_under_two_names(folder: Folder) -> None:
    """Both are taken, though they share a part."""
    report, _ = take(folder, listed("a.warc.gz"), listed("b.warc.gz"), listed("a.warc.gz"))
    assert report.count("taken") == 2
    assert files(folder.path) == {"warc/a.warc.gz", "warc/b.warc.gz"}


def test_what_was_withdrawn_meanwhile(folder: Folder) -> None:
    """410 deletes what is here of it, and is no failure; parts of what is no longer listed go."""
    left = folder.parts / hashlib.sha256(b"unlisted").hexdigest()
    left.write_bytes(b"unli")
    (folder.path / "warc").mkdir()
    (folder.path / "warc/gone.warc.gz").write_bytes(b"old")
    report, _ = take(folder, listed("gone.warc.gz"), listed("a.warc.gz", b"a"), content=b"a")
    assert (report.count("withdrawn"), report.count("taken")) == (1, 1)
    assert files(folder.path) == {"warc/a.warc.gz"}
    assert list(folder.parts.iterdir()) == []


def test_one_damaged_file_does_not_end_the_run(folder: Folder) -> None:
    """The others are taken; it is reported, and has no name."""
    report, _ = take(folder, listed("bad.warc.gz", b"bad!" * 1000), listed("a.warc.gz"))
    assert (report.count("failed"), report.count("taken")) == (1, 1)
    assert files(folder.path) == {"warc/a.warc.gz"}


def test_two_at_once(folder: Folder) -> None:
    """A folder is one process's."""
    with pytest.raises(FolderBusyError, match="works here already"):
        Folder(folder.path)

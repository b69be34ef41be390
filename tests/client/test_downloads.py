"""A file is whole and verified, or not there; what came before a cut is not asked for again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import httpx
import pytest

from client.downloads import download
from client.errors import CutError, DamagedError, DiskError, GoneError, TokenError
from client.file_list import Listed
from client.folder import Folder
from client.partial_file import PartialFile
from tests.client.answering import server_of

CONTENT = bytes(range(256)) * 400
SHA256 = hashlib.sha256(CONTENT).hexdigest()
FILE = Listed("x.warc.gz", "api/v1/segments/x.warc.gz", len(CONTENT), SHA256)
ETAG = '"e1"'


class Cut(httpx.SyncByteStream):
    """A body that breaks off."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        yield self._content
        raise httpx.ReadError("cut")


class Origin:
    """A file server; after: how many bytes each answer gives before it breaks off."""

    def __init__(self, content: bytes = CONTENT, after: int | None = None) -> None:
        self.content = content
        self.after = after
        self.etag = ETAG
        self.ranges: list[str | None] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        asked = request.headers.get("range")
        self.ranges.append(asked)
        start = 0
        if asked and request.headers.get("if-range", self.etag) == self.etag:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
        rest = self.content[start:]
        fields = {"ETag": self.etag, "Content-Length": str(len(rest))}
        if start:
            last = len(self.content) - 1
            fields["Content-Range"] = f"bytes {start}-{last}/{len(self.content)}"
        status = 206 if start else 200
        if self.after is not None and len(rest) > self.after:
            return httpx.Response(status, headers=fields, stream=Cut(rest[: self.after]))
        return httpx.Response(status, headers=fields, stream=httpx.ByteStream(rest))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    """Return a folder to take into."""
    with Folder(tmp_path / "taken") as made:
        yield made


def take(
    folder: Folder, answers: Callable[[httpx.Request], httpx.Response], file: Listed = FILE
) -> int:
    """Download a file; return the bytes that were counted."""
    counted: list[int] = []
    with (
        server_of(answers) as server,
        PartialFile(folder.parts, file.sha256, file.size_bytes) as part,
    ):
        download(server, part, file, counted.append)
        assert part.path.read_bytes() == CONTENT
    return sum(counted)


def test_over_cuts(folder: Folder) -> None:
    """Each answer gives 10,000 bytes: the next one is asked for what is behind them."""
    origin = Origin(after=10_000)
    assert take(folder, origin) == len(CONTENT)
    assert origin.ranges == [None, *(f"bytes={at}-" for at in range(10_000, len(CONTENT), 10_000))]


def test_what_a_run_before_left(folder: Folder) -> None:
    """A part is gone on with, whoever wrote it; one that is too long is begun anew."""
    (folder.parts / SHA256).write_bytes(CONTENT[:777])
    origin = Origin()
    assert take(folder, origin) == len(CONTENT) - 777
    assert origin.ranges == ["bytes=777-"]
    (folder.parts / SHA256).write_bytes(CONTENT + b"x")
    assert take(folder, origin) == len(CONTENT)
    (folder.parts / SHA256).write_bytes(CONTENT)
    del origin.ranges[:]
    assert take(folder, origin) == 0
    assert origin.ranges == []


def test_a_part_of_something_else(folder: Folder) -> None:
    """Bytes on the disk that are not the file's are found by the digest, and fetched anew."""
    (folder.parts / SHA256).write_bytes(b"z" * 777)
    origin = Origin()
    take(folder, origin)
    assert origin.ranges == ["bytes=777-", None]


def test_a_file_that_changed_its_tag(folder: Folder) -> None:
    """Another server of the same file calls it otherwise: the whole comes, and is right."""
    origin = Origin(after=5_000)
    with (
        server_of(origin, tries=1) as server,
        PartialFile(folder.parts, SHA256, len(CONTENT)) as part,
    ):
        origin.after = 5_000
        origin.content = CONTENT[:6_000] + bytes(len(CONTENT) - 6_000)
        with pytest.raises(CutError):
            download(server, part, FILE, lambda _: None)
        assert part.etag == ETAG
    origin.etag, origin.after, origin.content = '"e2"', None, CONTENT
    take(folder, origin)
    assert origin.ranges[-1] is not None


@pytest.mark.parametrize(
    "content", [CONTENT[:-1] + b"x", bytes(len(CONTENT))], ids=["last byte", "zeros"]
)
def test_wrong_bytes(folder: Folder, content: bytes) -> None:
    """What has the right length and another digest is never taken; some tries, then it is said."""
    origin = Origin(content)
    with pytest.raises(DamagedError, match="SHA-256"):
        take(folder, origin)
    assert len(origin.ranges) == 5


def test_more_bytes_than_promised(folder: Folder) -> None:
    """They are not written."""

    def answers(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=Cut(CONTENT + b"x" * 100_000))

    with pytest.raises(DamagedError, match="more than"):
        take(folder, answers)
    assert (folder.parts / SHA256).stat().st_size <= len(CONTENT)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, html="<p>please log in</p>"),
        httpx.Response(502, html="<h1>Bad gateway</h1>"),
        httpx.Response(206, content=b"x" * 5, headers={"content-range": "bytes 3-7/102400"}),
        httpx.Response(200, content=b"", headers={"content-encoding": "gzip"}),
    ],
    ids=["page", "bad gateway", "other range", "encoded"],
)
def test_a_proxy_that_answers_itself(folder: Folder, answer: httpx.Response) -> None:
    """Nothing of its answer is written, and the rest comes when it is gone."""
    (folder.parts / SHA256).write_bytes(CONTENT[:777])
    origin = Origin()
    first = [answer]
    take(folder, lambda request: first.pop() if first else origin(request))
    assert origin.ranges == ["bytes=777-"]


def test_416(folder: Folder) -> None:
    """A server that has no such bytes: from the beginning."""
    (folder.parts / SHA256).write_bytes(CONTENT[:777])
    origin = Origin()
    first = [httpx.Response(416)]
    take(folder, lambda request: first.pop() if first else origin(request))
    assert origin.ranges == [None]


@pytest.mark.parametrize(
    ("status", "kind"), [(403, TokenError), (410, GoneError)], ids=["revoked", "withdrawn"]
)
def test_an_end_in_the_middle(folder: Folder, status: int, kind: type[Exception]) -> None:
    """A token that is revoked, or a withdrawal: said at once, the part stays for its owner."""
    origin = Origin(after=1_000)

    def answers(request: httpx.Request) -> httpx.Response:
        return origin(request) if not origin.ranges else httpx.Response(status)

    with pytest.raises(kind):
        take(folder, answers)
    assert (folder.parts / SHA256).read_bytes() == CONTENT[:1_000]


def test_a_full_disk(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, what was written stays, and the next run goes on behind it."""
    written = os.pwrite
    room = [50_000]

    def full(handle: int, data: bytes, offset: int) -> int:
        if not room[0]:
            raise OSError(28, "No space left on device")
        count = written(handle, data[: room[0]], offset)
        room[0] -= count
        return count

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(DiskError, match="make room"):
        take(folder, Origin())
    monkeypatch.undo()
    origin = Origin()
    take(folder, origin)
    assert origin.ranges == ["bytes=50000-"]


def test_nothing_is_written_through_a_link(folder: Folder, tmp_path: Path) -> None:
    """A folder or part that is a link out of the place is refused."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder.path / "warc").symlink_to(outside)
    part = folder.parts / SHA256
    part.write_bytes(CONTENT)
    with pytest.raises(DiskError, match="leads out"):
        folder.keep(part, PurePosixPath("warc/x.warc.gz"))
    part.unlink()
    part.symlink_to(outside / "x")
    with pytest.raises(DiskError):
        PartialFile(folder.parts, SHA256, 5)
    assert list(outside.iterdir()) == []

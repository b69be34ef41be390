"""A host is found in a file of the trash wherever somebody could still unpack it."""

from __future__ import annotations

import io
import os
import zipfile

import pytest

from manager.store.segments import trash_search
from manager.store.segments.trash_search import holds_any
from tests.manager.archived import page, segment_bytes

OTHER = "http://other.example:80/"
KEPT = page("http://www.example.jp/x", b"KEEP")
DOOMED = page("http://other.example/x", os.urandom(2000).hex().encode())


def holds(data: bytes) -> bool:
    """Return whether bytes hold the host that is looked for."""
    return holds_any(io.BytesIO(data), {OTHER})


def test_whole_segments() -> None:
    """By each capture, not by texts of pages."""
    said = page("http://www.example.jp/y", b'{"url": "http://other.example/"}')
    assert holds(segment_bytes([KEPT, DOOMED]))
    assert not holds(segment_bytes([KEPT, said]))
    assert not holds(b"")
    assert not holds(b"no gzip at all" * 100)


@pytest.mark.parametrize("left", [300, 900])
def test_cut_segments(left: int) -> None:
    """What came of an upload ends in the middle of a member."""
    whole, kept = segment_bytes([KEPT, DOOMED]), segment_bytes([KEPT])
    assert holds(whole[: len(kept) + left])
    assert not holds(whole[: len(kept)])


@pytest.mark.parametrize("read_bytes", [50, 1000, 1024**2])
def test_behind_damage(monkeypatch: pytest.MonkeyPatch, read_bytes: int) -> None:
    """Holes and flipped bits hide only their own member, in pieces of any size."""
    monkeypatch.setattr(trash_search, "READ_BYTES", read_bytes)
    kept = segment_bytes([KEPT])
    broken = kept[:100] + bytes(400) + kept[500:]
    assert holds(broken + segment_bytes([DOOMED]))
    assert holds(bytes(5000) + segment_bytes([DOOMED]))
    assert not holds(broken + kept)


def test_an_index() -> None:
    """A CDXJ names its URLs."""
    line = 'example,other)/x 20261122000000 {"url": "http://other.example/x", "status": "200"}\n'
    assert holds(line.encode())
    assert not holds(line.replace("//other", "//another").encode())


def test_zips_of_pages() -> None:
    """A selection names its hosts."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as pages:
        pages.writestr("html/6700/9e/other.example:80.zip", b"x")
    assert holds(written.getvalue())
    assert not holds_any(io.BytesIO(written.getvalue()), {"http://another.example:80/"})

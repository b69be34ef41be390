"""Bodies come in whole, counted and hashed, or leave nothing behind."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.store import Spool, Spooled, StoreFullError
from shared.errors import LimitError
from shared.messages import Message
from tests.manager.store.full_disk import full_after

LOG = Message("segments.kind_log")


def plenty(_: Path) -> int:
    return 10**15


def take(spool: Spool, chunks: Iterable[bytes], limit_bytes: int) -> Spooled:
    """Take a body as a server does."""
    with spool.begin(LOG, limit_bytes=limit_bytes, declared_bytes=None) as writer:
        for chunk in chunks:
            writer.write(chunk)
        return writer.finish()


@given(chunks=st.lists(st.binary(max_size=300), max_size=20))
def test_a_body_is_kept_as_it_came(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes]
) -> None:
    """The file, its size and its SHA-256 are those of the chunks together."""
    spool = Spool(tmp_path_factory.mktemp("spool"), free_bytes=plenty)
    spooled = take(spool, chunks, 6000)
    body = b"".join(chunks)
    assert spooled.path.read_bytes() == body
    assert spooled.size_bytes == len(body)
    assert spooled.sha256 == hashlib.sha256(body).hexdigest()
    assert [path.suffix for path in spool.folder.iterdir()] == [".body"]
    spooled.discard()
    assert list(spool.folder.iterdir()) == []


def test_a_declared_length_is_refused_before_a_byte(tmp_path: Path) -> None:
    """A body declared larger than the limit makes no file; the message says both and a remedy."""
    spool = Spool(tmp_path, free_bytes=plenty)
    with pytest.raises(LimitError) as caught:
        spool.begin(LOG, limit_bytes=1000, declared_bytes=10 * 1000**3)
    assert str(caught.value).startswith("crawl log of 10000000000 bytes: the limit is 1000 bytes; ")
    assert list(tmp_path.iterdir()) == []


def test_an_undeclared_body_is_refused_at_the_limit(tmp_path: Path) -> None:
    """The limit itself is allowed; one byte more is refused and the file removed."""
    spool = Spool(tmp_path, free_bytes=plenty)
    assert take(spool, [b"x" * 1000], 1000).size_bytes == 1000
    with pytest.raises(LimitError, match="of more than 1000 bytes"):
        take(spool, [b"x" * 1000, b"x"], 1000)
    assert [path.suffix for path in tmp_path.iterdir()] == [".body"]


@pytest.mark.parametrize("room_bytes", [0, 500, 1500, 5000])
def test_a_full_disk_keeps_nothing(tmp_path: Path, room_bytes: int) -> None:
    """Whether the disk fills up while writing or at the last flush, no part stays."""
    spool = Spool(tmp_path, open_file=full_after(room_bytes), free_bytes=plenty)
    with pytest.raises(StoreFullError, match="is full") as caught:
        take(spool, [b"x" * 100] * 60, 10**6)
    assert caught.value.retry_after_s > 0
    assert list(tmp_path.iterdir()) == []


def test_the_reserve_is_kept(tmp_path: Path) -> None:
    """A body that would eat into the disk's reserve is refused before it is read."""
    spool = Spool(tmp_path, reserve_bytes=1000, free_bytes=lambda _: 1500)
    spool.begin(LOG, limit_bytes=10**6, declared_bytes=500).abort()
    with pytest.raises(StoreFullError, match="1500 bytes free, 501 are needed and 1000 stay"):
        spool.begin(LOG, limit_bytes=10**6, declared_bytes=501)


def test_the_reserve_is_watched_while_a_body_comes(tmp_path: Path) -> None:
    """A long body of undeclared length stops when the disk runs out under it."""
    free = iter([10**9, 10])
    spool = Spool(tmp_path, reserve_bytes=1000, free_bytes=lambda _: next(free))
    with pytest.raises(StoreFullError, match="10 bytes free"):
        take(spool, [bytes(1024**2)] * 65, 10**9)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """At start the spool is emptied: senders keep a report until it is acknowledged."""
    (tmp_path / "77-1.part").write_bytes(b"half")
    take(Spool(tmp_path, free_bytes=plenty), [b"whole"], 10)
    (tmp_path / "spilled").mkdir()
    (tmp_path / "spilled" / "part").touch()
    assert Spool(tmp_path).clean() == 3
    assert list(tmp_path.iterdir()) == []

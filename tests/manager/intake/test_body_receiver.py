"""Bodies come in patiently, but not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

import pytest

from manager.intake.body_receiver import (
    CRAWL_LOG,
    GATHERED_BYTES,
    SlowSenderError,
    receive,
)
from manager.settings import LimitSettings
from manager.store import Spool, Spooled, StoreFullError
from shared.errors import LimitError
from tests.manager.store.full_disk import full_after

PATIENT = LimitSettings(upload_idle_s=10, min_upload_bytes_per_s=100)


async def sent(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def take(
    spool: Spool,
    chunks: AsyncIterator[bytes],
    *,
    limit_bytes: int = 10**7,
    declared_bytes: int | None = None,
    limits: LimitSettings = PATIENT,
    clock: Callable[[], float] = lambda: 0.0,
) -> Spooled:
    return asyncio.run(
        receive(
            chunks, spool, CRAWL_LOG, limit_bytes=limit_bytes, declared_bytes=declared_bytes,
            limits=limits, clock=clock,
        )
    )  # fmt: skip


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    """Return an empty spool on a disk with room."""
    return Spool(tmp_path, free_bytes=lambda _: 10**15)


def test_a_body_arrives_whole(spool: Spool) -> None:
    """Small and large chunks together are the body on the disk."""
    chunks = [b"a" * 10, b"b" * (GATHERED_BYTES + 5), b"", b"c" * 100]
    spooled = take(spool, sent(chunks))
    assert spooled.path.read_bytes() == b"".join(chunks)


def test_ten_gigabytes_declared_are_not_read(spool: Spool) -> None:
    """A body declared over the limit is refused without asking for its first chunk."""

    async def unread() -> AsyncIterator[bytes]:
        raise AssertionError("read")
        yield b""

    with pytest.raises(LimitError, match="10000000000 bytes: the limit is 10000000 bytes"):
        take(spool, unread(), declared_bytes=10 * 1000**3)
    assert list(spool.folder.iterdir()) == []


def test_ten_gigabytes_undeclared_stop_at_the_limit(spool: Spool) -> None:
    """A body of undeclared length is read to its limit and not a chunk further."""
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while read < 10 * 1000**3:
            read += 65536
            yield bytes(65536)

    with pytest.raises(LimitError, match="more than 10000000 bytes"):
        take(spool, endless())
    assert read <= 10**7 + 65536
    assert list(spool.folder.iterdir()) == []


def test_a_sender_that_stops_is_given_up(spool: Spool) -> None:
    """When nothing comes for the idle time, the upload ends and nothing is kept."""

    async def stalls() -> AsyncIterator[bytes]:
        yield b"begun"
        await asyncio.Event().wait()

    with pytest.raises(SlowSenderError, match=r"no data for 0\.01 s"):
        take(spool, stalls(), limits=LimitSettings(upload_idle_s=0.01, min_upload_bytes_per_s=0))
    assert list(spool.folder.iterdir()) == []


def test_a_sender_that_trickles_is_given_up(spool: Spool) -> None:
    """Half a minute of patience, then the rate counts."""
    times = iter(range(0, 1000, 10))
    with pytest.raises(SlowSenderError, match="4 bytes in 40 s is below 100 bytes/s"):
        take(spool, sent([b"x"] * 100), clock=lambda: float(next(times)))
    assert list(spool.folder.iterdir()) == []


def test_a_connection_that_breaks_leaves_nothing(spool: Spool) -> None:
    """An error of the connection goes through, and the half body is removed."""

    async def breaks() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionResetError("gone")

    with pytest.raises(ConnectionResetError):
        take(spool, breaks())
    assert list(spool.folder.iterdir()) == []


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """A disk that fills up while a body comes is said, and nothing half done stays."""
    spool = Spool(tmp_path, free_bytes=lambda _: 10**15, open_file=full_after(1000))
    with pytest.raises(StoreFullError):
        take(spool, sent([b"x" * 5000]))
    assert list(tmp_path.iterdir()) == []

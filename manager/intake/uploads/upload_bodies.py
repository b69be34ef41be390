"""Writing of the body of an upload request to the disk, and the verdict on a whole file.

Invariants. Memory holds one megabyte of it at most; disk work happens in threads. The received part
of an aborted body is kept; a complete body with a wrong checksum is undone. Bytes are synced before
the table knows of them.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from manager.db import Database
from manager.errors import LimitError
from manager.intake.body_receiver import GATHERED_BYTES, RATE_GRACE_S, SlowSenderError
from manager.intake.uploads.upload_errors import ChecksumError, TakenOverError
from manager.operations.segments.upload_bytes import (
    record_arrival,
    record_bytes,
    record_complete,
)
from manager.operations.segments.uploads import TransferRow, offset
from manager.settings import LimitSettings
from manager.store import UploadPart, UploadParts
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["UploadBodies", "verify_upload"]


@dataclass(slots=True)
class _Taken:
    """Progress of one request: all bytes before `end` are written."""

    end: int


@frozen
class UploadBodies:
    """Takes bodies, as patiently as the settings say."""

    db: Database
    limits: LimitSettings
    now_ms: Callable[[], int]
    clock: Callable[[], float]

    async def take(
        self,
        row: TransferRow,
        part: UploadPart,
        at: int,
        chunks: AsyncIterator[bytes],
        expected: tuple[str, bytes] | None,
        leave: asyncio.Event,
    ) -> TransferRow:
        """Write a body at an offset; return the upload's new state.

        expected: algorithm and digest of the body. leave: a newer request wants the upload. Raises
        ChecksumError, TakenOverError, LimitError, StoreFullError, SlowSenderError, and errors of
        `chunks`; the received part of an aborted body is kept.
        """
        digest = hashlib.new(expected[0], usedforsecurity=False) if expected else None
        taken = _Taken(at)
        try:
            await self._stream(row, part, taken, chunks, digest, leave)
        except BaseException:
            # Whatever ends a body, its received part is kept, also when the server stops.
            if taken.end > at:
                await asyncio.shield(asyncio.to_thread(self._keep, row, part, at, taken.end, True))
            raise
        if digest is not None and expected is not None and digest.digest() != expected[1]:
            raise ChecksumError(
                "uploads.checksum_differs",
                at,
                size=taken.end - at,
                at=at,
                algorithm=expected[0],
            )
        return await asyncio.to_thread(self._keep, row, part, at, taken.end, False)

    async def _stream(
        self,
        row: TransferRow,
        part: UploadPart,
        taken: _Taken,
        chunks: AsyncIterator[bytes],
        digest: hashlib._Hash | None,
        leave: asyncio.Event,
    ) -> None:
        """Write the arriving chunks; `taken.end` is always the end of the written bytes."""
        begun, start, source = self.clock(), taken.end, aiter(chunks)
        gathered = bytearray()

        def write() -> None:
            """Write the gathered bytes at the end of the part."""
            data = bytes(gathered)
            gathered.clear()
            part.write(taken.end, data)
            if digest is not None:
                digest.update(data)
            taken.end += len(data)

        leaving = asyncio.create_task(leave.wait())
        try:
            while (chunk := await self._next(source, leaving)) is not None:
                gathered += chunk
                if taken.end + len(gathered) > row.size_bytes:
                    raise LimitError("uploads.beyond_end", size_bytes=row.size_bytes)
                if len(gathered) >= GATHERED_BYTES:
                    await asyncio.to_thread(write)
                came, elapsed_s = taken.end + len(gathered) - start, self.clock() - begun
                least = self.limits.min_upload_bytes_per_s
                if elapsed_s > RATE_GRACE_S and came < elapsed_s * least:
                    raise SlowSenderError(
                        "uploads.part_too_slow",
                        received_bytes=came,
                        elapsed_s=elapsed_s,
                        least_bytes_per_s=least,
                    )
        finally:
            leaving.cancel()
            if gathered and taken.end + len(gathered) <= row.size_bytes:
                await asyncio.shield(asyncio.to_thread(write))

    async def _next(self, source: AsyncIterator[bytes], leaving: asyncio.Task[Any]) -> bytes | None:
        coming = asyncio.ensure_future(anext(source, None))
        both: set[asyncio.Future[Any]] = {coming, leaving}
        try:
            await asyncio.wait(
                both,
                timeout=self.limits.upload_idle_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if coming.done():
                return coming.result()
        finally:
            if not coming.done():
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)
        if leaving.done():
            raise TakenOverError("uploads.taken_over")
        raise SlowSenderError("uploads.part_idle", idle_s=self.limits.upload_idle_s)

    def _keep(
        self, row: TransferRow, part: UploadPart, start: int, end: int, broke: bool
    ) -> TransferRow:
        part.sync()
        return record_bytes(self.db, row, start, end, self.now_ms(), broke=broke)


def verify_upload(
    db: Database,
    parts: UploadParts,
    row: TransferRow,
    part: UploadPart,
    now_ms: Callable[[], int],
) -> TransferRow:
    """Verify a whole file and hand it on. Raises ChecksumError where it is wrong."""
    found = part.digests(row.size_bytes)
    judged = record_complete(db, row, found, now_ms())
    if found.sha256 == row.sha256:
        parts.finish(row.key)
        return record_arrival(db, row, now_ms())
    at = offset(judged)
    remedy: Message | None = Message("uploads.send_again_from", at=at)
    if judged.state == "refused":
        parts.remove(row.key)
        remedy = judged.result
    raise ChecksumError(
        "uploads.file_differs",
        at,
        filename=row.filename,
        found=found.sha256,
        expected=row.sha256,
        remedy=remedy,
    )

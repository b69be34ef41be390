"""Takes the bytes of uploads from connections to the disk: tus without HTTP.

Invariants. Memory holds one megabyte of a request at most; disk work happens in threads. A request
that breaks off keeps what came; one that came whole and is not what its checksum says is undone.
An offset is told only after its bytes are synced and the table knows. When the last byte is there
the whole is verified at once, so who sent it hears of it.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from manager.db import Database
from manager.errors import BusyError, ConflictError, LimitError
from manager.intake.receiving import GATHERED_BYTES, RATE_GRACE_S, Receiving, SlowSenderError
from manager.intake.upload_turns import UploadTurns
from manager.operations import uploads
from manager.operations.enrolment import AgentIdentity
from manager.operations.pulls import offer_upload
from manager.operations.upload_gaps import read_gaps
from manager.operations.uploads import NewUpload, TransferRow
from manager.settings import CollectionSettings
from manager.store import UploadPart, UploadParts
from shared.errors import PrsmError
from shared.wire.uploads import read_checksum

__all__ = ["ChecksumError", "OffsetError", "TakenOverError", "UploadDesk", "judge_part"]


class ChecksumError(PrsmError):
    """Bytes are not what their checksum says; they were thrown away (460)."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class OffsetError(ConflictError):
    """The sender went on at another place than the upload is at (409)."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class TakenOverError(PrsmError):
    """A newer request took the upload over; what came until then is kept (423)."""


@dataclass(slots=True)
class _Taken:
    """How far one request has come: all before `end` is written."""

    end: int


class UploadDesk:
    """Where uploads are handed in."""

    def __init__(
        self,
        db: Database,
        parts: UploadParts,
        settings: CollectionSettings,
        patience: Receiving,
        now_ms: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._db = db
        self._parts = parts
        self._settings = settings
        self._patience = patience
        self._now_ms = now_ms
        self._clock = clock
        self._turns = UploadTurns()
        self._under_way = 0

    @property
    def size_most(self) -> int:
        """Return the greatest size of a file."""
        return self._settings.segment_bytes

    def expires_ms(self, row: TransferRow) -> int:
        """Return when an upload is thrown away unless something comes."""
        return row.changed_ms + round(self._settings.upload_keep_s * 1000)

    async def begin(self, agent: AgentIdentity, asked: NewUpload) -> TransferRow:
        """Begin an upload, or return the one of this file; see `uploads.begin_upload`."""
        return await asyncio.to_thread(
            uploads.begin_upload,
            self._db,
            self._parts,
            agent,
            asked,
            self._settings,
            self._now_ms(),
        )

    async def offer(
        self, agent: AgentIdentity, asked: NewUpload, token: str, until_ms: int
    ) -> TransferRow:
        """Let a file be fetched; see `pulls.offer_upload`."""
        return await asyncio.to_thread(
            offer_upload,
            self._db,
            self._parts,
            agent,
            asked,
            token,
            until_ms,
            self._settings,
            self._now_ms(),
        )

    async def look(self, agent: AgentIdentity, key: str) -> TransferRow:
        """Return an upload after whoever writes it has left, so that its offset is the last."""
        row = await self.peek(agent, key)
        if row.state != "receiving":
            return row
        async with self._turns.take(key):
            row = await self.peek(agent, key)
            if row.state == "receiving" and not read_gaps(row.gaps):
                # A process was killed between the last byte and the verdict.
                row = await asyncio.to_thread(self._judge, row)
            return row

    async def peek(self, agent: AgentIdentity, key: str) -> TransferRow:
        """Return an upload as the table has it."""
        return await asyncio.to_thread(uploads.upload_of, self._db, agent, key)

    async def drop(self, agent: AgentIdentity, key: str) -> None:
        """Give an upload up."""
        async with self._turns.take(key):
            await asyncio.to_thread(
                uploads.drop_upload, self._db, self._parts, agent, key, self._now_ms()
            )

    async def take(
        self,
        agent: AgentIdentity,
        key: str,
        offset: int,
        chunks: AsyncIterator[bytes],
        checksum: str,
        declared_bytes: int | None,
    ) -> TransferRow:
        """Write a body at an offset; return the upload as it is then.

        Raises OffsetError, ChecksumError, TakenOverError, LimitError, StoreFullError,
        SlowSenderError, BusyError, and what `chunks` raises; of a body that broke off what came is
        kept.
        """
        expected = read_checksum(checksum) if checksum else None
        with self._place():
            async with self._turns.take(key) as leave:
                row = await self.peek(agent, key)
                at = uploads.offset(row)
                if offset != at or (row.state != "receiving" and declared_bytes != 0):
                    raise OffsetError(
                        f"Upload-Offset {offset}: this upload goes on at {at} of {row.size_bytes}",
                        at,
                    )
                if row.state != "receiving":
                    return row
                room = read_gaps(row.gaps)[-1][1] - at if row.gaps != "[]" else 0
                if declared_bytes is not None and declared_bytes > row.size_bytes - at:
                    raise LimitError(
                        f"a body of {declared_bytes} bytes at {at}: the file ends at "
                        f"{row.size_bytes}"
                    )
                await asyncio.to_thread(self._parts.check_room, min(declared_bytes or 0, room))
                part = await asyncio.to_thread(self._parts.open, key)
                try:
                    row = await self._written(row, part, at, chunks, expected, leave)
                    if not read_gaps(row.gaps):
                        row = await asyncio.to_thread(
                            judge_part, self._db, self._parts, row, part, self._now_ms
                        )
                finally:
                    await asyncio.shield(asyncio.to_thread(part.close))
        return row

    @contextmanager
    def _place(self) -> Iterator[None]:
        if self._under_way >= self._settings.chunks_at_once:
            raise BusyError(
                f"{self._under_way} requests bring parts of uploads, which is the limit "
                "(collection.chunks_at_once); go on in a while",
                retry_after_s=5,
            )
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    async def _written(
        self,
        row: TransferRow,
        part: UploadPart,
        at: int,
        chunks: AsyncIterator[bytes],
        expected: tuple[str, bytes] | None,
        leave: asyncio.Event,
    ) -> TransferRow:
        digest = hashlib.new(expected[0], usedforsecurity=False) if expected else None
        taken = _Taken(at)
        try:
            await self._stream(row, part, taken, chunks, digest, leave)
        except BaseException:
            # Whatever ends a body, what came of it is kept; also where the server is being stopped.
            if taken.end > at:
                await asyncio.shield(asyncio.to_thread(self._keep, row, part, at, taken.end, True))
            raise
        if digest is not None and expected is not None and digest.digest() != expected[1]:
            raise ChecksumError(
                f"Upload-Checksum: {taken.end - at} bytes at {at} have another {expected[0]}; they "
                "were thrown away, send them again",
                at,
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
        """Write what comes; `taken.end` is always the end of what was written."""
        begun, start, source = self._clock(), taken.end, aiter(chunks)
        gathered = bytearray()

        def write() -> None:
            data = bytes(gathered)
            gathered.clear()
            part.write(taken.end, data)
            if digest is not None:
                digest.update(data)
            taken.end += len(data)

        leaving = asyncio.create_task(_wanted(leave))
        try:
            while (chunk := await self._next(source, leaving)) is not None:
                gathered += chunk
                if taken.end + len(gathered) > row.size_bytes:
                    raise LimitError(
                        f"the body goes beyond the end of the file, {row.size_bytes} bytes"
                    )
                if len(gathered) >= GATHERED_BYTES:
                    await asyncio.to_thread(write)
                came, elapsed_s = taken.end + len(gathered) - start, self._clock() - begun
                least = self._patience.least_bytes_per_s
                if elapsed_s > RATE_GRACE_S and came < elapsed_s * least:
                    raise SlowSenderError(
                        f"{came} bytes in {elapsed_s:.0f} s is under {least} bytes/s "
                        "(limits.upload_least_bytes_per_s); go on over a better line"
                    )
        finally:
            leaving.cancel()
            if gathered and taken.end + len(gathered) <= row.size_bytes:
                await asyncio.shield(asyncio.to_thread(write))

    async def _next(
        self, source: AsyncIterator[bytes], leaving: asyncio.Task[None]
    ) -> bytes | None:
        coming = asyncio.create_task(_one(source))
        both: set[asyncio.Task[Any]] = {coming, leaving}
        try:
            await asyncio.wait(
                both,
                timeout=self._patience.idle_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if coming.done():
                return coming.result()
        finally:
            if not coming.done():
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)
        if leaving.done():
            raise TakenOverError("a newer request took this upload over; ask where to go on")
        raise SlowSenderError(
            f"nothing came for {self._patience.idle_s:g} s (limits.upload_idle_s); ask where to "
            "go on"
        )

    def _keep(
        self, row: TransferRow, part: UploadPart, start: int, end: int, broke: bool
    ) -> TransferRow:
        part.sync()
        return uploads.note_bytes(self._db, row, start, end, self._now_ms(), broke=broke)

    def _judge(self, row: TransferRow) -> TransferRow:
        try:
            part = self._parts.open(row.key)
        except FileNotFoundError:
            # It was right, and moved; only the table was not told.
            return uploads.note_arrived(self._db, row, self._now_ms())
        with part:
            return judge_part(self._db, self._parts, row, part, self._now_ms)


def judge_part(
    db: Database,
    parts: UploadParts,
    row: TransferRow,
    part: UploadPart,
    now_ms: Callable[[], int],
) -> TransferRow:
    """Verify a whole file and hand it on. Raises ChecksumError where it is wrong."""
    found = part.digests(row.size_bytes)
    judged = uploads.note_whole(db, row, found, now_ms())
    if found.sha256 == row.sha256:
        parts.finish(row.key)
        return uploads.note_arrived(db, row, now_ms())
    at = uploads.offset(judged)
    remedy = f"send again what is wrong, from {at} on"
    if judged.state == "refused":
        parts.remove(row.key)
        remedy = judged.result
    raise ChecksumError(
        f"{row.filename}: its SHA-256 is {found.sha256}, not {row.sha256}; {remedy}", at
    )


async def _wanted(leave: asyncio.Event) -> None:
    await leave.wait()


async def _one(source: AsyncIterator[bytes]) -> bytes | None:
    return await anext(source, None)

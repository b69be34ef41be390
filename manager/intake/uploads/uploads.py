"""Upload desk: tus without HTTP.

Invariants. One request writes an upload at a time. An offset is returned only after its bytes are
synced and the table knows (`upload_bodies`). After the last byte the whole file is verified at
once, so that the sender gets the result.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from manager.db import Database
from manager.errors import BusyError, LimitError
from manager.intake.body_errors import SenderShareError
from manager.intake.uploads.upload_bodies import UploadBodies, verify_upload
from manager.intake.uploads.upload_errors import OffsetError
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.segments import uploads
from manager.operations.segments.pulls import offer_upload
from manager.operations.segments.upload_bytes import read_gaps, record_arrival
from manager.operations.segments.upload_completion import drop_upload
from manager.operations.segments.uploads import NewUpload, TransferRow
from manager.settings import CollectionSettings, LimitSettings
from manager.store import PartBusyError, UploadParts
from shared.errors import Fault
from shared.wire.uploads import read_checksum

__all__ = ["UploadDesk"]

LEAVE_S: Final = 15.0


class _Holder:
    def __init__(self) -> None:
        self.leave = asyncio.Event()
        self.gone = asyncio.Event()


class UploadTurns:
    """The turns of one process, by upload: a newer request replaces an older.

    The sender often notices a broken connection first. So a request that continues the upload
    does not wait until the server finds out: the request that holds it is asked to keep its bytes
    and to leave. Between processes the lock of the part decides, and none can be asked to leave.
    """

    def __init__(self) -> None:
        self._holders: dict[str, _Holder] = {}

    @asynccontextmanager
    async def take(self, key: str) -> AsyncIterator[asyncio.Event]:
        """Hold an upload while the block runs; the event says that a newer request wants it.

        Raises PartBusyError where the older request does not leave.
        """
        while (holder := self._holders.get(key)) is not None:
            holder.leave.set()
            try:
                async with asyncio.timeout(LEAVE_S):
                    await holder.gone.wait()
            except TimeoutError as error:
                raise PartBusyError("uploads.older_request") from error
        mine = self._holders[key] = _Holder()
        try:
            yield mine.leave
        finally:
            del self._holders[key]
            mine.gone.set()


class UploadDesk:
    """Intake of uploads."""

    def __init__(
        self,
        db: Database,
        parts: UploadParts,
        settings: CollectionSettings,
        limits: LimitSettings,
        now_ms: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._db = db
        self._parts = parts
        self._settings = settings
        self._now_ms = now_ms
        self._bodies = UploadBodies(db, limits, now_ms, clock)
        self._turns = UploadTurns()
        self._senders: Counter[int] = Counter()

    @property
    def size_most(self) -> int:
        """Return the greatest size of a file."""
        return self._settings.segment_bytes

    def expires_ms(self, row: TransferRow) -> int:
        """Return when an upload is thrown away unless something comes."""
        return row.changed_ms + round(self._settings.upload_retention_s * 1000)

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
        """Offer a file for pulling; see `pulls.offer_upload`."""
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

    async def status(self, agent: AgentIdentity, key: str) -> TransferRow:
        """Return an upload with its state; an upload that failed is a valid answer, too."""
        return await asyncio.to_thread(uploads.known_upload, self._db, agent, key)

    async def drop(self, agent: AgentIdentity, key: str) -> None:
        """Terminate an upload."""
        async with self._turns.take(key):
            await asyncio.to_thread(drop_upload, self._db, self._parts, agent, key, self._now_ms())

    async def take(
        self,
        agent: AgentIdentity,
        key: str,
        offset: int,
        chunks: AsyncIterator[bytes],
        checksum: str,
        declared_bytes: int | None,
    ) -> TransferRow:
        """Write a body at an offset; return the upload's new state.

        Raises OffsetError, ChecksumError, TakenOverError, LimitError, StoreFullError,
        SlowSenderError, BusyError, and the errors of `chunks`; the received part of an aborted
        body is kept.
        """
        expected = read_checksum(checksum) if checksum else None
        with self._place(agent.id):
            async with self._turns.take(key) as leave:
                row = await self.peek(agent, key)
                at = uploads.offset(row)
                if offset != at or (row.state != "receiving" and declared_bytes != 0):
                    raise OffsetError(
                        "uploads.wrong_offset", at, given=offset, at=at, size_bytes=row.size_bytes
                    )
                if row.state != "receiving":
                    return row
                room = read_gaps(row.gaps)[-1][1] - at if row.gaps != "[]" else 0
                if declared_bytes is not None and declared_bytes > row.size_bytes - at:
                    raise LimitError(
                        "uploads.body_beyond_end",
                        body_bytes=declared_bytes,
                        at=at,
                        size_bytes=row.size_bytes,
                    )
                await asyncio.to_thread(self._parts.check_room, min(declared_bytes or 0, room))
                part = await asyncio.to_thread(self._parts.open, key)
                try:
                    row = await self._bodies.take(row, part, at, chunks, expected, leave)
                    if not read_gaps(row.gaps):
                        row = await asyncio.to_thread(
                            verify_upload, self._db, self._parts, row, part, self._now_ms
                        )
                finally:
                    await asyncio.shield(asyncio.to_thread(part.close))
        return row

    @contextmanager
    def _place(self, sender: int) -> Iterator[None]:
        if (requests := self._senders.total()) >= self._settings.parallel_chunks:
            raise BusyError("uploads.too_many_parts", retry_after_s=5, requests=requests)
        most = self._settings.chunks_per_agent
        if self._senders[sender] >= most:
            raise SenderShareError(
                Fault.SENDER_UPLOADS, self._senders[sender], most, "collection.chunks_per_agent", 5
            )
        self._senders[sender] += 1
        try:
            yield
        finally:
            self._senders[sender] -= 1
            if not self._senders[sender]:
                del self._senders[sender]

    def _judge(self, row: TransferRow) -> TransferRow:
        try:
            part = self._parts.open(row.key)
        except FileNotFoundError:
            # It was right, and moved; only the table was not told.
            return record_arrival(self._db, row, self._now_ms())
        with part:
            return verify_upload(self._db, self._parts, row, part, self._now_ms)

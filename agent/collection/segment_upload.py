"""One segment to the centre, whatever happens on the way.

Breaks are handled at once: the manager is asked where to continue. Only so many failures in a row
without a byte of progress end a try. Chunks shrink where they break before they are through, since
a proxy that buffers loses a whole one, and grow again.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from dataclasses import field
from pathlib import Path
from typing import BinaryIO, Final

from agent.collection.tus import TusClient, TusUpload
from agent.errors import FaultError, LinkError, RefusedError, WaitError
from agent.link.call_schedule import Backoff
from shared.errors import PrsmError
from shared.frozen import frozen
from shared.messages import Message
from shared.wire.uploads import FileDigests, block_bytes_of, digest_file

__all__ = ["DamagedError", "RetryPolicy", "SegmentSender", "StopSendingError"]

LEAST_CHUNK_BYTES: Final = 256 * 1024
OFFSET_UNKNOWN: Final = frozenset({409, 423, 460})  # the upload is elsewhere than thought
GONE: Final = frozenset({404, 410})
NO_ROOM: Final = 507


class StopSendingError(Exception):
    """Nothing more is to be sent now: hours are over, or the agent stops. No failure."""


class DamagedError(PrsmError):
    """A segment is not what it was when it was sealed, so it must not be sent."""

    def __init__(self, name: str, sha256: str, sealed_sha256: str) -> None:
        """sealed_sha256: what it was sealed with; empty: unknown."""
        sealed = sealed_sha256 or Message("agent_errors.sha256_unknown")
        super().__init__("agent_errors.segment_changed", name=name, sha256=sha256, sealed=sealed)


@frozen
class RetryPolicy:
    """Retries of a segment, and the pauses between them, before its order has failed."""

    backoff: Backoff = field(default_factory=lambda: Backoff(1.0, 60.0))
    failures: int = 8
    begins: int = 3  # uploads that vanished at the manager
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class SegmentSender:
    """Sends segments one after the other."""

    def __init__(
        self,
        client: TusClient,
        *,
        chunk_bytes: int,
        may_send: Callable[[], bool],
        retries: RetryPolicy | None = None,
        note: Callable[[str, int, int], None] = lambda name, offset, size: None,
    ) -> None:
        """may_send: asked before each chunk. note: told of progress (name, offset, size)."""
        self.client = client
        self._chunk_most = chunk_bytes
        self._chunk_bytes = chunk_bytes
        self._may_send = may_send
        self._retries = retries or RetryPolicy()
        self._note = note
        self._rng = random.SystemRandom()
        self._failures = 0

    async def send(self, path: Path, sha256: str, order: str = "") -> str:
        """Send a segment until the manager has all of it; return its upload's path.

        sha256: what it was sealed with. Raises LinkError after too many failures,
        StopSendingError, DamagedError, OSError.
        """
        with path.open("rb") as file:
            size_bytes = os.fstat(file.fileno()).st_size
            digests = await asyncio.to_thread(digest_file, file, size_bytes)
            if digests.sha256 != sha256:
                raise DamagedError(path.name, digests.sha256, sha256)
            for _ in range(self._retries.begins):
                upload = await self._begin_upload(path.name, digests, order)
                if await self._send_rest(file, path.name, upload, digests):
                    return upload.where
        raise LinkError("agent_errors.upload_forgotten", name=path.name)

    async def _begin_upload(self, name: str, digests: FileDigests, order: str) -> TusUpload:
        self._failures = 0
        while True:
            self._check()
            try:
                return await self.client.begin(name, digests, order)
            except LinkError as error:
                if isinstance(error, RefusedError):
                    raise
                await self._failed(error)

    async def _send_rest(
        self, file: BinaryIO, name: str, upload: TusUpload, digests: FileDigests
    ) -> bool:
        """Send what is missing; False: the upload is gone, and must be begun again."""
        size_bytes, self._failures = digests.size_bytes, 0
        while upload.offset < size_bytes:
            self._check()
            start = upload.offset
            try:
                data = await asyncio.to_thread(_read, file, start, self._end(start, size_bytes))
                upload.offset = await self.client.append(upload.where, start, data, size_bytes)
            except LinkError as error:
                if not await self._find_offset(upload, start, size_bytes, error):
                    return False
                continue
            self._failures = 0
            self._chunk_bytes = min(self._chunk_most, self._chunk_bytes * 2)
            self._note(name, upload.offset, size_bytes)
        return True

    async def _find_offset(
        self, upload: TusUpload, start: int, size_bytes: int, error: LinkError
    ) -> bool:
        """Find out where to continue after a failure. False: the upload is gone."""
        if isinstance(error, RefusedError):
            if error.status in GONE:
                return False
            if error.status not in OFFSET_UNKNOWN:
                raise error
        if not isinstance(error, RefusedError) or error.status == 423:
            await self._failed(error)
        else:
            self._failures += 1
            self._raise_if_final(error)
        while True:
            self._check()
            try:
                upload.offset = await self.client.read_offset(upload.where, size_bytes)
                break
            except RefusedError as refused:
                if refused.status in GONE:
                    return False
                if refused.status not in OFFSET_UNKNOWN:
                    raise
                await self._failed(refused)
            except LinkError as again:
                await self._failed(again)
        if upload.offset > start:
            self._failures = 0
        else:
            self._chunk_bytes = max(LEAST_CHUNK_BYTES, self._chunk_bytes // 2)
        return True

    async def _failed(self, error: LinkError) -> None:
        """Count a failure and wait; raises it where there were too many, or no room is left."""
        self._failures += 1
        self._raise_if_final(error)
        pause_s = self._retries.backoff.pause_s(self._failures, self._rng)
        if isinstance(error, WaitError) and error.retry_after_s is not None:
            pause_s += min(error.retry_after_s, self._retries.backoff.most_s)
        await self._retries.sleep(pause_s)

    def _raise_if_final(self, error: LinkError) -> None:
        full = isinstance(error, FaultError) and error.status == NO_ROOM
        if full or self._failures >= self._retries.failures:
            raise error

    def _check(self) -> None:
        if not self._may_send():
            raise StopSendingError

    def _end(self, start: int, size_bytes: int) -> int:
        """Return the end of a chunk: never across a block, so that each can be sent alone."""
        block_bytes = block_bytes_of(size_bytes)
        end_of_block = (start // block_bytes + 1) * block_bytes
        return min(start + self._chunk_bytes, end_of_block, size_bytes)


def _read(file: BinaryIO, start: int, end: int) -> bytes:
    file.seek(start)
    return file.read(end - start)

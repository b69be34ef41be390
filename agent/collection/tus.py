"""One upload as tus 1.0 has it, through the manager client that everything else uses.

Each call is one request. Errors are those of `agent.errors`; a 2xx that does not speak tus is
one too: some proxies answer everything with their own page. Where PATCH does not get through,
POST with `X-HTTP-Method-Override` is used from then on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import httpx
from pydantic import ValidationError

from agent.collection.allowance import Pace
from agent.errors import FaultError, LinkError, RefusedError
from agent.link.client import ManagerClient
from agent.link.exchange import REASON_LIMIT_BYTES, read_body
from shared.wire.uploads import (
    TUS,
    FileDigests,
    UploadStatus,
    join_blocks,
    write_checksum,
    write_metadata,
)

__all__ = ["TusClient", "TusUpload"]

UPLOADS: Final = "/api/v1/uploads"
PIECE_BYTES: Final = 64 * 1024
STATUS_BYTES: Final = 64 * 1024
NOT_THROUGH: Final = frozenset({400, 403, 405, 501})
_HEADERS: Final = {"Tus-Resumable": TUS}


class TusUpload:
    """Position of an upload: its path at the manager, and the next byte."""

    def __init__(self, where: str, offset: int) -> None:
        self.where = where
        self.offset = offset


class TusClient:
    """Uploads to one manager. `sent_bytes` counts every byte of a body that was handed on."""

    def __init__(self, manager: ManagerClient, pace: Pace) -> None:
        self._manager = manager
        self._pace = pace
        self._overrides = False
        self.sent_bytes = 0

    async def begin(self, name: str, digests: FileDigests, order: str = "") -> TusUpload:
        """Begin an upload, or find the one of this file. Raises LinkError."""
        values = {
            "filename": name.encode(),
            "sha256": digests.sha256.encode(),
            "blocks": join_blocks(digests.blocks),
        }
        if order.isdigit():
            values["order"] = order.encode()
        headers = {
            **_HEADERS,
            "Upload-Length": str(digests.size_bytes),
            "Upload-Metadata": write_metadata(values),
        }
        async with self._manager.request("POST", UPLOADS, headers=headers) as answer:
            await read_body(answer, REASON_LIMIT_BYTES, cut=True)
            where = httpx.URL(answer.headers.get("Location", "")).path
            if not where.startswith(f"{UPLOADS}/"):
                raise LinkError("agent_errors.tus_location")
            return TusUpload(where, _offset(answer, digests.size_bytes))

    async def read_offset(self, where: str, size_bytes: int) -> int:
        """Return where to continue. Raises LinkError; RefusedError 404, 410: it is gone."""
        async with self._manager.request("HEAD", where, headers=_HEADERS) as answer:
            return _offset(answer, size_bytes)

    async def append(self, where: str, offset: int, data: bytes, size_bytes: int) -> int:
        """Send bytes at an offset; return where to continue. Raises LinkError."""
        try:
            return await self._append(where, offset, data, size_bytes)
        except (RefusedError, FaultError) as error:
            if self._overrides or error.status not in NOT_THROUGH:
                raise
            self._overrides = True
            return await self._append(where, offset, data, size_bytes)

    async def status(self, where: str) -> UploadStatus:
        """Return the status of an upload. Raises LinkError."""
        async with self._manager.request("GET", where, headers=_HEADERS) as answer:
            body = await read_body(answer, STATUS_BYTES)
        try:
            return UploadStatus.model_validate_json(body)
        except ValidationError as error:
            raise LinkError("agent_errors.upload_answer") from error

    async def _append(self, where: str, offset: int, data: bytes, size_bytes: int) -> int:
        headers = {
            **_HEADERS,
            "Upload-Offset": str(offset),
            "Upload-Checksum": write_checksum(data),
            "Content-Type": "application/offset+octet-stream",
            "Content-Length": str(len(data)),
        }
        method = "PATCH"
        if self._overrides:
            method, headers["X-HTTP-Method-Override"] = "POST", "PATCH"
        exchange = self._manager.request(method, where, headers=headers, content=self._pieces(data))
        async with exchange as answer:
            return _offset(answer, size_bytes)

    async def _pieces(self, data: bytes) -> AsyncIterator[bytes]:
        for start in range(0, len(data), PIECE_BYTES):
            piece = data[start : start + PIECE_BYTES]
            if wait_s := self._pace.wait_s(len(piece)):
                await asyncio.sleep(wait_s)
            self.sent_bytes += len(piece)
            yield piece


def _offset(answer: httpx.Response, size_bytes: int) -> int:
    text = answer.headers.get("Upload-Offset", "")
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) <= size_bytes):
        raise LinkError("agent_errors.tus_offset", status=answer.status_code, offset=text[:20])
    return int(text)

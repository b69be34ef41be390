"""Send an open file as the answer, chunk by chunk."""

from __future__ import annotations

import asyncio
import os
from typing import BinaryIO, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

__all__ = ["OpenFile"]

CHUNK_BYTES: Final = 256 * 1024


class OpenFile(Response):
    """A file that was opened before the answer began; it is closed whatever happens.

    The name of the file may be gone by then: lists of old generations are pruned.
    """

    def __init__(self, file: BinaryIO, media_type: str) -> None:
        super().__init__(media_type=media_type)
        self._file = file
        self.headers["content-length"] = str(os.fstat(file.fileno()).st_size)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send status, headers and the file."""
        with self._file as file:
            await send(
                {
                    "type": "http.response.start",
                    "status": self.status_code,
                    "headers": self.raw_headers,
                }
            )
            while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})

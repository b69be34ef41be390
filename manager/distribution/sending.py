"""Send bytes to third parties: a file by ranges, or what is made while it is sent.

Invariant: memory holds one piece of a file; nobody's thread waits for a slow client, who is given
up when it takes nothing for a while; the token is asked for again every few seconds, and when it is
not good any more the connection ends before the declared length, so nobody takes a part for the
whole. Where a web server in front sends files (`X-Accel-Redirect`), it does all that but the last:
then a revoked token opens no new file.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from manager.distribution.door import Caller
from manager.distribution.ranges import asked_bytes, http_date

__all__ = ["FileToSend", "SentFile", "SentStream"]

READ_BYTES: Final = 256 * 1024
ASK_AGAIN_S: Final = 2.0

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FileToSend:
    """A file that never changes. front: where the web server in front finds it, or None."""

    name: str
    media_type: str
    size_bytes: int
    sha256: str
    changed_ms: int
    open: Callable[[], BinaryIO]
    front: str | None = None


class SentFile(Response):
    """The answer that sends a file, or some of its bytes."""

    def __init__(self, file: FileToSend, caller: Caller) -> None:
        super().__init__(media_type=file.media_type)
        self._file = file
        self._caller = caller
        del self.headers["content-length"]
        self.headers.update(
            {
                "accept-ranges": "bytes",
                "etag": f'"{file.sha256}"',
                "last-modified": http_date(file.changed_ms),
                "content-disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
                "repr-digest": f"sha-256=:{_base64(file.sha256)}:",
                # The token decides, so nobody between may keep it.
                "cache-control": "private, no-store",
            }
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send status, headers and bytes."""
        file = self._file
        fields = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        asked = asked_bytes(
            fields, file.size_bytes, self.headers["etag"], self.headers["last-modified"]
        )
        if file.front is not None and asked.status in (200, 206):
            # The web server in front reads the range itself, and sets status and length.
            self.headers["x-accel-redirect"] = quote(file.front)
            self._caller.took(asked.end - asked.start if scope["method"] != "HEAD" else 0)
            await _start(send, 200, self)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        self.headers["content-length"] = str(asked.end - asked.start)
        if asked.status == 206:
            self.headers["content-range"] = f"bytes {asked.start}-{asked.end - 1}/{file.size_bytes}"
        elif asked.status == 416:
            self.headers["content-range"] = f"bytes */{file.size_bytes}"
        elif asked.status == 304:
            del self.headers["content-length"]
        await _start(send, asked.status, self)
        if scope["method"] == "HEAD" or asked.start == asked.end:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        pieces = _pieces(file.open, asked.start, asked.end)
        await _send_all(send, pieces, self._caller, file.name)


class SentStream(Response):
    """The answer that sends bytes as they are made; its length is not known before its end."""

    def __init__(self, name: str, media_type: str, pieces: Iterator[bytes], caller: Caller) -> None:
        super().__init__(media_type=media_type)
        self._pieces = pieces
        self._caller = caller
        self._name = name
        del self.headers["content-length"]
        self.headers["content-disposition"] = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
        self.headers["cache-control"] = "private, no-store"
        # A web server in front is not to gather it on its disk first.
        self.headers["x-accel-buffering"] = "no"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send status, headers and what is made."""
        await _start(send, 200, self)
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        await _send_all(send, self._pieces, self._caller, self._name)


async def _start(send: Send, status: int, answer: Response) -> None:
    await send({"type": "http.response.start", "status": status, "headers": answer.raw_headers})


async def _send_all(send: Send, pieces: Iterator[bytes], caller: Caller, name: str) -> None:
    """Send all pieces; leave the answer unfinished where it must not go on."""
    idle_s = caller.door.settings.archive.download_idle_s
    asked_at = time.monotonic()
    try:
        while piece := await asyncio.to_thread(next, pieces, b""):
            if time.monotonic() - asked_at > ASK_AGAIN_S:
                asked_at = time.monotonic()
                if not await caller.may_go_on():
                    raise _EndedError(f"the token of {caller.client.name} is not good any more")
            async with asyncio.timeout(idle_s):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            caller.took(len(piece))
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    except TimeoutError:
        _log.info("%s: %s took nothing for %g s: given up", name, caller.client.name, idle_s)
        raise _EndedError(f"{name}: its receiver took nothing for {idle_s:g} s") from None
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            # Closed where it may be running no more: nobody else has it.
            with contextlib.suppress(RuntimeError, ValueError):
                await asyncio.shield(asyncio.to_thread(close))


class _EndedError(Exception):
    """An answer ends before its time; the connection is closed, which the receiver sees."""


def _pieces(opened: Callable[[], BinaryIO], start: int, end: int) -> Iterator[bytes]:
    with opened() as file:
        file.seek(start)
        while start < end and (piece := file.read(min(READ_BYTES, end - start))):
            start += len(piece)
            yield piece


def _base64(digest: str) -> str:
    return base64.b64encode(bytes.fromhex(digest)).decode()

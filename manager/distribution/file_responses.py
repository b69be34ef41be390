"""Responses with bytes for third parties: a file by ranges, or a stream made while it is sent.

Invariant: memory holds one piece of a file; no thread waits for a slow client, whose connection is
closed when it takes nothing for a while; every few seconds the validity of the token and the
availability of the file are checked again, and on failure the connection ends before the declared
length, so that no client mistakes a part for the whole. If a web server in front sends files
(`X-Accel-Redirect`), it asks `pieces` before each piece.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from manager.distribution.authentication import Caller
from manager.distribution.downloads import Download
from manager.distribution.ranges import asked_bytes, http_date
from shared.errors import PrsmError
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["FileToSend", "SentFile", "SentStream", "stream_headers"]

READ_BYTES: Final = 64 * 1024
"""Each receiver costs some of these; a thousand slow ones must fit in memory."""
ASK_AGAIN_S: Final = 2.0

_log: Final = logging.getLogger(__name__)


@frozen
class FileToSend:
    """A file that never changes. front: where the web server in front finds it, or None.

    is_given: tells whether it is still given away; blocks.
    """

    name: str
    media_type: str
    size_bytes: int
    sha256: str
    changed_ms: int
    open: Callable[[], BinaryIO]
    is_given: Callable[[], bool]
    front: str | None = None


class SentFile(Response):
    """The answer that sends a file, or some of its bytes."""

    def __init__(self, file: FileToSend, caller: Caller) -> None:
        super().__init__(media_type=file.media_type)
        caller.services.downloads.check_share(caller.client)
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
                # The token decides, so no cache in between may keep it.
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
            if scope["method"] != "HEAD":
                # Its If-Range has the tag of the web server in front, which we do not know.
                given = asked_bytes({"range": fields.get("range", "")}, file.size_bytes, "", "")
                self._caller.allowed(file.name, file.size_bytes, given.start, given.end)
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
        with self._caller.download(file.name, file.size_bytes, asked.start) as download:
            await _send_all(send, pieces, self._caller, download, file.name, file.is_given)


class SentStream(Response):
    """The answer that sends bytes as they are made; its length is not known before its end."""

    def __init__(
        self,
        name: str,
        media_type: str,
        pieces: Iterator[bytes],
        caller: Caller,
        asked: str,
        turn: contextlib.ExitStack,
    ) -> None:
        """asked: what is asked for, in words that tell it from others. turn: closed at the end."""
        super().__init__(media_type=media_type, headers=stream_headers(name))
        self._pieces = pieces
        self._caller = caller
        self._name = name
        self._asked = asked
        self._turn = turn
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send status, headers and what is made."""
        try:
            await _start(send, 200, self)
            with self._caller.download(f"{self._name} {self._asked}", 0, 0) as download:
                await _send_all(send, self._pieces, self._caller, download, self._name, _always)
        finally:
            self._turn.close()


def stream_headers(name: str) -> dict[str, str]:
    """Return the headers of a stream that is made while it is sent."""
    return {
        "content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        "cache-control": "private, no-store",
        # A web server in front is not to gather it on its disk first.
        "x-accel-buffering": "no",
    }


def _always() -> bool:
    """Return True: the maker of the bytes leaves out what is not public."""
    return True


async def _start(send: Send, status: int, answer: Response) -> None:
    await send({"type": "http.response.start", "status": status, "headers": answer.raw_headers})


async def _send_all(
    send: Send,
    pieces: Iterator[bytes],
    caller: Caller,
    download: Download,
    name: str,
    is_given: Callable[[], bool],
) -> None:
    """Send all pieces; leave the answer unfinished if it must stop."""
    idle_s = caller.services.settings.archive.download_idle_s
    asked_at = time.monotonic()
    try:
        while piece := await asyncio.to_thread(next, pieces, b""):
            if time.monotonic() - asked_at > ASK_AGAIN_S:
                asked_at = time.monotonic()
                await _ask_again(caller, download, name, is_given)
            async with asyncio.timeout(idle_s):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            download.sent(len(piece))
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    except TimeoutError:
        _log.info("%s: %s took nothing for %g s: given up", name, caller.client.name, idle_s)
        problem = Message("archive.receiver_idle", idle_s=idle_s)
        raise _EndedError(download, name, problem) from None
    except PrsmError as error:
        download.problem = error.message
        raise
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            # Closed here: it can no longer be running, and no other code has it.
            with contextlib.suppress(RuntimeError, ValueError):
                await asyncio.shield(asyncio.to_thread(close))


async def _ask_again(
    caller: Caller, download: Download, name: str, is_given: Callable[[], bool]
) -> None:
    if not await caller.may_go_on():
        raise _EndedError(download, name, Message("archive.token_invalid"))
    if not await asyncio.to_thread(is_given):
        raise _EndedError(download, name, Message("archive.file_withdrawn"))


class _EndedError(Exception):
    """An answer ends early; the connection is closed, which the receiver sees."""

    def __init__(self, download: Download, name: str, problem: Message) -> None:
        super().__init__(name, problem)
        download.problem = problem


def _pieces(opened: Callable[[], BinaryIO], start: int, end: int) -> Iterator[bytes]:
    with opened() as file:
        file.seek(start)
        while start < end and (piece := file.read(min(READ_BYTES, end - start))):
            start += len(piece)
            yield piece


def _base64(digest: str) -> str:
    return base64.b64encode(bytes.fromhex(digest)).decode()

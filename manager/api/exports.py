"""The files of the source as one tar archive: made whole first, then sent, then removed.

Invariant: the answer's length is declared, so who gets fewer bytes knows that it has not got all;
and an export that fails says so before the first byte.
"""

from __future__ import annotations

import asyncio
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from manager.api.access import Operator, Services
from manager.api.routes import subject_router
from manager.operations.logs import source_files
from manager.operations.logs.source_files import ExportFile

__all__ = ["router"]

READ_BYTES: Final = 256 * 1024
END: Final = bytes(2 * tarfile.BLOCKSIZE)

router: Final = subject_router("records", "/export")


class TarAnswer(Response):
    """An archive of some files; their folder is removed when it was sent or could not be."""

    def __init__(self, files: list[ExportFile], folder: Path, mtime_s: int) -> None:
        super().__init__(media_type="application/x-tar")
        self._folder = folder
        self._files = [(_header(file, mtime_s), file.path) for file in files]
        size_bytes = sum(len(head) + _padded(path.stat().st_size) for head, path in self._files)
        self.headers["content-length"] = str(size_bytes + len(END))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send status, headers and the archive."""
        head = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        try:
            await send(head)
            chunks = self._chunks()
            while chunk := await asyncio.to_thread(next, chunks, b""):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await asyncio.to_thread(shutil.rmtree, self._folder, True)

    def _chunks(self) -> Iterator[bytes]:
        for head, path in self._files:
            yield head
            size_bytes = 0
            with path.open("rb") as file:
                while chunk := file.read(READ_BYTES):
                    size_bytes += len(chunk)
                    yield chunk
            if rest := _padded(size_bytes) - size_bytes:
                yield bytes(rest)
        yield END


def _header(file: ExportFile, mtime_s: int) -> bytes:
    info = tarfile.TarInfo(file.name)
    info.size = file.path.stat().st_size
    info.mtime = mtime_s
    return info.tobuf(tarfile.PAX_FORMAT)


def _padded(size_bytes: int) -> int:
    return -(-size_bytes // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE


@router.post(
    "/{kind}",
    response_class=Response,
    responses={200: {"content": {"application/x-tar": {}}, "description": "The files"}},
)
def export(services: Services, actor: Operator, kind: str) -> Response:
    """Send the files of one kind: log-sums, distances, volumes, costs or lists.

    Names and lines are those of the source (docs/operations.md). costs and lists have an
    `agents.txt` too, of `agent:cost:units` lines. A POST: it is audited, and takes the one turn
    that reads many logs.
    """
    with services.scratch.turn() as place:
        files = source_files.export(services.db, kind, place, actor, services.now_ms())
        return TarAnswer(files, place.folder, services.now_ms() // 1000)

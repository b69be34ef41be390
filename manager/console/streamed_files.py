"""Files that are sent while they are made, each piece in a thread of its sender's share.

Starlette's own way would take a thread of a pool that knows no shares: forty files of one person
would keep all of them, and the processors, from everybody else.
Invariant of zip archives: memory is that of one piece, whatever the files' size; sizes beyond 4 GB
are written as zip has them (ZIP64). The folder of the files is removed at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import shutil
import zipfile
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeVar

from starlette.responses import StreamingResponse

from manager.operations.logs.source_files import ExportFile

__all__ = ["in_threads", "zip_pieces", "zip_response"]

_Piece = TypeVar("_Piece", str, bytes)


async def in_threads(pieces: Iterator[_Piece]) -> AsyncIterator[_Piece]:
    """Yield pieces that are made in threads; whatever ends it, close what makes them."""
    try:
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            yield piece
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            with contextlib.suppress(RuntimeError, ValueError):  # it may be running still
                await asyncio.shield(asyncio.to_thread(close))


READ_BYTES: Final = 256 * 1024


class _Sink(io.RawIOBase):
    """A buffer of the archive's output, until `take` empties it. It cannot seek."""

    def __init__(self) -> None:
        self._written = bytearray()

    def writable(self) -> bool:
        """Return True: it takes bytes."""
        return True

    def write(self, data: object, /) -> int:
        """Take bytes."""
        taken = bytes(data)  # type: ignore[call-overload]  # a buffer, as zipfile writes it
        self._written += taken
        return len(taken)

    def take(self) -> bytes:
        """Return the bytes written since the last call."""
        taken = bytes(self._written)
        self._written.clear()
        return taken


def zip_pieces(files: Sequence[ExportFile], folder: Path) -> Iterator[bytes]:
    """Yield an archive of some files piece by piece; remove their folder at the end."""
    try:
        sink = _Sink()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            for one in files:
                with (
                    archive.open(one.name, "w", force_zip64=True) as entry,
                    one.path.open("rb") as file,
                ):
                    while chunk := file.read(READ_BYTES):
                        entry.write(chunk)
                        if taken := sink.take():
                            yield taken
        yield sink.take()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def zip_response(name: str, files: Sequence[ExportFile], folder: Path) -> StreamingResponse:
    """Return the answer that a browser saves as `name`.zip."""
    return StreamingResponse(
        in_threads(zip_pieces(files, folder)),
        media_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}.zip"'},
    )

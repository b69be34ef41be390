"""Files as one zip archive that is sent while it is made; their folder is removed at the end.

Invariant: memory is that of one piece, whatever the files' size; sizes beyond 4 GB are written as
zip has them (ZIP64).
"""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from starlette.responses import StreamingResponse

from manager.console.streamed_files import in_threads
from manager.operations.logs.source_files import ExportFile

__all__ = ["zip_pieces", "zip_response"]

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

"""The zip of zips that a job makes, laid out as the source does: `html/sumh/suml/host:port.zip`.

Invariant: a member becomes a file only under a name that `names.classic_place` returns, after its
CRC was right and its bytes are on the disk; the members of a good zip are small wrappers, so one
that claims to unpack to more than its own bytes is refused (a bomb).
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Final

from client.errors import DamagedError
from client.folder import Folder, disk_said
from client.names import classic_place

__all__ = ["unpack"]

PIECE_BYTES: Final = 1024**2
_DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,  # zipfile seeks to where a damaged directory sends it
)


def unpack(folder: Folder, path: Path, check: Callable[[], None]) -> Iterator[PurePosixPath]:
    """Lay out all members, and give the place of each when it is there.

    check: raises where the run is to end. Raises DamagedError, DiskError. Again does no harm.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            members = packed.infolist()
            places = [_place(member) for member in members]
            if len(set(places)) != len(places):
                raise DamagedError("a zip has two members of one name; nothing was written")
            for member, place in zip(members, places, strict=True):
                check()
                with packed.open(member) as opened:
                    _write(folder, opened, place, path.name)
                yield place
    except _DAMAGE as error:
        raise DamagedError(
            f"the server's zip cannot be read ({error}); tell the administrator"
        ) from error


def _place(member: zipfile.ZipInfo) -> PurePosixPath:
    place = classic_place(member.filename)
    if member.file_size > member.compress_size:
        raise DamagedError(
            f"{place}: has {member.compress_size} bytes and claims {member.file_size}; not unpacked"
        )
    return place


def _write(folder: Folder, opened: IO[bytes], place: PurePosixPath, path_name: str) -> None:
    draft = folder.parts / f"{path_name}.member"
    with disk_said(draft):
        draft.unlink(missing_ok=True)
        with draft.open("xb") as file:
            while piece := opened.read(PIECE_BYTES):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    folder.keep(draft, place)

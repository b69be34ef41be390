"""The zip of zips on disk: `DIR/html/sumh/suml/host:port.zip`.

Invariants: a name that is not exactly what the source's layout gives is refused, so nothing lands
outside the folder; a host's file appears whole.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from client.errors import DamagedError
from shared.archive.sums import host_folder
from shared.errors import FormatError

__all__ = ["unpack"]


def unpack(archive: Path, folder: Path) -> list[Path]:
    """Write the hosts of an archive below a folder; return their files."""
    written: list[Path] = []
    try:
        with zipfile.ZipFile(archive) as read:
            for entry in read.infolist():
                target = folder / _checked(entry.filename)
                target.parent.mkdir(parents=True, exist_ok=True)
                part = target.with_name(target.name + ".part")
                with read.open(entry) as source, part.open("wb") as out:
                    shutil.copyfileobj(source, out, 1024**2)
                part.replace(target)
                written.append(target)
    except zipfile.BadZipFile as error:
        raise DamagedError(f"{archive.name}: {error}") from error
    return written


def _checked(name: str) -> Path:
    host = name.rsplit("/", 1)[-1].removesuffix(".zip")
    try:
        expected = f"{host_folder(host)}.zip"
    except FormatError as error:
        raise DamagedError(f"entry {name[:200]!a}: {error}") from error
    if name != expected:
        raise DamagedError(f"entry {name[:200]!a}: must be {expected}")
    return Path(expected)

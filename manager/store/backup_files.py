"""A backup as files: a folder or one tar, with a manifest that is written last.

    manifest.json            what is in it, how it was made; each file with its size and SHA-256
    tables/NAME.jsonl.gz     the rows of a table
    settings/prsm.toml       as the manager was set
    keys/...                 certificate and key of its TLS
    files/...                the files below the data directory

Invariants: without a manifest there is no backup, so a truncated one is none; a name is
followed only if the manifest has it and `Manifest` allows it; all is readable by its owner only.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Annotated, Any, Final, Protocol, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from manager.store.durable_files import full_disk_said, open_new, sync_folder
from shared.errors import FormatError

__all__ = [
    "FORMAT",
    "MANIFEST",
    "BackupFile",
    "BackupReader",
    "BackupWriter",
    "Manifest",
    "new_backup",
    "open_backup",
    "write_lines",
]

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
CHUNK: Final = 1024**2
_NAME: Final = re.compile(r"(tables|settings|keys|files)(/[A-Za-z0-9_][A-Za-z0-9_.-]*){1,6}")

Name = Annotated[str, Field(pattern=rf"^{_NAME.pattern}$", max_length=300)]


class BackupFile(BaseModel):
    """A file of a backup."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    size_bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Manifest(BaseModel):
    """The contents of a backup. tables: in the order in which they can be loaded, with their rows.

    installation: the installation id; empty in backups of versions before there were ids.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int
    made_ms: int
    version: str
    schema_version: str
    database: str
    tables: dict[Annotated[str, Field(pattern="^[a-z_]{1,60}$")], int]
    longest_permit_ms: Annotated[int, Field(ge=0)]
    files: list[BackupFile]
    left_out: list[str]
    missing: list[str]
    installation: str = ""


class BackupWriter(Protocol):
    """Takes files, then the manifest."""

    def add(self, name: str, source: Path) -> BackupFile:
        """Copy a file into the backup."""

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest: from now on this is a backup."""

    def give_up(self) -> None:
        """Remove the unfinished backup."""


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._made: list[Path] = []

    def add(self, name: str, source: Path) -> BackupFile:
        """Copy a file into the backup; return its name, size and digest."""
        target = self._path / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with full_disk_said(self._path), source.open("rb") as file, open_new(target) as copy:
            self._made.append(target)
            hashed = _Hashed(file)
            while data := hashed.read(CHUNK):
                copy.write(data)
            copy.flush()
            os.fsync(copy.fileno())
        return hashed.entry(name)

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest and complete the backup."""
        with full_disk_said(self._path), open_new(self._path / MANIFEST) as file:
            file.write(manifest.model_dump_json(indent=1).encode())
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self._path)

    def give_up(self) -> None:
        for path in self._made:
            path.unlink(missing_ok=True)


class _Tar:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(path.name + ".part")
        self._part.unlink(missing_ok=True)
        self._file = open_new(self._part)
        self._tar = tarfile.TarFile(fileobj=self._file, mode="w", format=tarfile.PAX_FORMAT)

    def add(self, name: str, source: Path) -> BackupFile:
        """Copy a file into the backup; return its name, size and digest."""
        return self._put(name, source).entry(name)

    def _put(self, name: str, source: Path) -> _Hashed:
        with full_disk_said(self._path.parent), source.open("rb") as file:
            hashed = _Hashed(file)
            self._tar.addfile(_member(name, os.fstat(file.fileno()).st_size), cast("Any", hashed))
        return hashed

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest and complete the backup."""
        made = self._path.with_name(self._path.name + ".manifest")
        try:
            with full_disk_said(self._path.parent):
                made.write_bytes(manifest.model_dump_json(indent=1).encode())
                self._put(MANIFEST, made)
                self._tar.close()
                self._file.flush()
                os.fsync(self._file.fileno())
        finally:
            made.unlink(missing_ok=True)
        self._file.close()
        self._part.replace(self._path)
        sync_folder(self._path.parent)

    def give_up(self) -> None:
        self._file.close()
        self._part.unlink(missing_ok=True)


class _Hashed:
    """A file whose bytes are summed up while they are read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._sum = hashlib.sha256()
        self._size_bytes = 0

    def read(self, count: int = -1) -> bytes:
        """Return bytes of the file, and add them to its digest."""
        data = self._file.read(count)
        self._sum.update(data)
        self._size_bytes += len(data)
        return data

    def entry(self, name: str) -> BackupFile:
        return BackupFile(name=name, size_bytes=self._size_bytes, sha256=self._sum.hexdigest())


def _member(name: str, size_bytes: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size_bytes, 0o600
    return member


def write_lines(path: Path, lines: Iterable[bytes]) -> int:
    """Write lines to a new file, compressed; return how many."""
    count = 0
    with full_disk_said(path.parent), gzip.open(path, "xb", compresslevel=3) as file:
        for line in lines:
            file.write(line)
            count += 1
    return count


def new_backup(target: Path) -> BackupWriter:
    """Begin a backup: a tar where the name ends so, else a folder. Raises FormatError."""
    try:
        if target.suffix == ".tar":
            if target.exists():
                raise FormatError("store.backup_exists", path=str(target))
            return _Tar(target)
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise FormatError("store.backup_not_empty", path=str(target))
        return _Folder(target)
    except OSError as error:
        why = error.strerror
        raise FormatError("store.backup_not_writable", path=str(target), why=why) from error


class BackupReader:
    """A backup that is there. Raises FormatError where it is not what its manifest says."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tar = tarfile.TarFile(path) if path.is_file() else None
        try:
            with self._open(MANIFEST) as file:
                self.manifest = Manifest.model_validate_json(file.read())
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise FormatError(
                "store.backup_bad_manifest", path=str(path), field=where, problem=first["msg"]
            ) from error
        if self.manifest.format != FORMAT:
            raise FormatError(
                "store.backup_format",
                path=str(path),
                format=self.manifest.format,
                readable=FORMAT,
                version=self.manifest.version,
            )

    def verify(self) -> int:
        """Read all files and compare their digests; return how many bytes they are."""
        total = 0
        for entry in self.manifest.files:
            with self._open(entry.name) as file:
                hashed = _Hashed(file)
                while hashed.read(CHUNK):
                    pass
            if hashed.entry(entry.name) != entry:
                raise self._problem("store.backup_wrong_digest", entry.name)
            total += entry.size_bytes
        return total

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a file that is compressed."""
        with self._open(name) as file, gzip.open(file, "rb") as plain:
            yield from plain

    def copy(self, entry: BackupFile, target: Path) -> None:
        """Write a file of the backup to a place where none is, and compare its digest."""
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with full_disk_said(target.parent), self._open(entry.name) as file, open_new(target) as new:
            hashed = _Hashed(file)
            while data := hashed.read(CHUNK):
                new.write(data)
            new.flush()
            os.fsync(new.fileno())
        if hashed.entry(entry.name) != entry:
            target.unlink()
            raise self._problem("store.backup_wrong_digest", entry.name)

    def close(self) -> None:
        """Release the file."""
        if self._tar is not None:
            self._tar.close()

    def _open(self, name: str) -> IO[bytes]:
        try:
            if self._tar is None:
                path = self._path / name
                if path.is_symlink():
                    raise self._problem("store.backup_link", name)
                return path.open("rb")
            file = self._tar.extractfile(self._tar.getmember(name))
        except (KeyError, FileNotFoundError) as error:
            raise self._problem("store.backup_incomplete", name) from error
        if file is None:
            raise self._problem("store.backup_not_a_file", name)
        return file

    def _problem(self, code: str, name: str) -> FormatError:
        return FormatError(code, path=str(self._path), name=name)


def open_backup(path: Path) -> BackupReader:
    """Open a backup to read. Raises FormatError."""
    if not path.exists():
        raise FormatError("store.backup_not_found", path=str(path))
    try:
        return BackupReader(path)
    except tarfile.TarError as error:
        raise FormatError("store.backup_not_tar", path=str(path), why=str(error)) from error

"""Follow the changes: keep a folder of segments as the centre has it.

Invariant: the cursor is written after what it stands for is done, so nothing is missed; a segment
that was withdrawn is deleted here too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from client.errors import DamagedError, RefusedError
from client.fetching import RemoteFile, fetch
from client.server import Server

__all__ = ["Followed", "changes", "follow"]

CURSOR: Final = ".prs-get/changes.cursor"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,250}\.warc\.gz")


@dataclass
class Followed:
    """What was done."""

    fetched: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    new_bytes: int = 0


def changes(server: Server, since: str) -> tuple[list[dict[str, Any]], str]:
    """Return all changes behind a cursor or date, and the cursor behind them."""
    found: list[dict[str, Any]] = []
    while True:
        answer = server.get("/api/v1/changes", since=since)
        found += answer["changes"]
        since = str(answer["next"])
        if not answer["more"]:
            return found, since


def follow(
    server: Server, folder: Path, since: str, at_once: int, said: Callable[[str], None]
) -> Followed:
    """Bring a folder up to date. since: where to begin a folder that has no cursor yet."""
    kept = folder / CURSOR
    kept.parent.mkdir(parents=True, exist_ok=True)
    start = kept.read_text().strip() if kept.exists() else since
    done = Followed()
    if not start:
        _full(server, folder, at_once, said, done, kept)
        return done
    try:
        found, cursor = changes(server, start)
    except RefusedError as error:
        if error.status != 410:
            raise
        said("changes that old are forgotten: everything is compared")
        _full(server, folder, at_once, said, done, kept)
        return done
    last = {change["name"]: change for change in found}
    files = [_file(c) for c in last.values() if c["what"] == "created" and "location" in c]
    _fetch(server, folder, files, at_once, said, done)
    for change in last.values():
        if "location" not in change:
            _delete(folder, str(change["name"]), done)
    kept.write_text(cursor)
    return done


def _full(
    server: Server,
    folder: Path,
    at_once: int,
    said: Callable[[str], None],
    done: Followed,
    kept: Path,
) -> None:
    """Take everything; the cursor is from before, so what changes meanwhile comes next time."""
    cursor = str(server.get("/api/v1/changes")["next"])
    page: str | None = "/wasapi/v1/webdata?page_size=1000"
    files: list[RemoteFile] = []
    while page:
        answer = server.get(page)
        files += [
            RemoteFile(
                str(each["filename"]),
                str(each["locations"][0]),
                int(each["size"]),
                str(each["checksums"]["sha256"]),
            )
            for each in answer["files"]
        ]
        page = answer["next"]
    _fetch(server, folder, files, at_once, said, done)
    names = {file.name for file in files}
    for path in folder.glob("*.warc.gz"):
        if path.name not in names:
            _delete(folder, path.name, done)
    kept.write_text(cursor)


def _fetch(
    server: Server,
    folder: Path,
    files: list[RemoteFile],
    at_once: int,
    said: Callable[[str], None],
    done: Followed,
) -> None:
    def one(file: RemoteFile) -> tuple[str, int]:
        got = fetch(server, file, folder / _checked(file.name), 1, lambda _: None)
        said(f"{file.name}: {file.size_bytes} bytes")
        return file.name, got.new_bytes

    with ThreadPoolExecutor(max(1, at_once)) as pool:
        for name, new_bytes in pool.map(one, files):
            done.fetched.append(name)
            done.new_bytes += new_bytes


def _delete(folder: Path, name: str, done: Followed) -> None:
    path = folder / _checked(name)
    if path.exists():
        path.unlink()
        done.deleted.append(name)


def _file(change: dict[str, Any]) -> RemoteFile:
    return RemoteFile(
        str(change["name"]),
        str(change["location"]),
        int(change["size"]),
        str(change["checksums"]["sha256"]),
    )


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise DamagedError(f"segment {name[:200]!a}: is no name for a file")
    return name

"""Deletes withdrawn captures: segments by the list of changes, hosts by asking.

The folder notes a cursor. Each run first reads what happened behind it: a deleted segment is
removed. Where anything was deleted, a host may have been excluded; then each `host:port.zip` is
asked about, many in one expression. A cursor that the server has forgotten makes both lists be
compared whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Final

from client.changes import changes_since, present_cursor
from client.errors import CursorError, DamagedError, RefusedError, TokenError
from client.file_list import list_segments
from client.folder import Folder
from client.names import SEGMENTS, classic_place, segment_place
from client.selection import SELECTED, Selection, held_hosts
from client.server import Server

__all__ = ["Withdrawn", "follow_withdrawals"]

CURSOR: Final = "cursor"
EXPRESSION_MOST: Final = 900  # characters; the server takes 1,000


@dataclass
class Withdrawn:
    """Deleted captures, and selections made before a withdrawal."""

    deleted: list[PurePosixPath] = field(default_factory=list)
    outdated: list[PurePosixPath] = field(default_factory=list)


def follow_withdrawals(server: Server, folder: Folder, tell: Callable[[str], None]) -> Withdrawn:
    """Delete from the folder the captures that the server has withdrawn; raises ClientError."""
    found = Withdrawn()
    noted = folder.noted(CURSOR)
    known = noted.get("cursor") if isinstance(noted, dict) else None
    whose = noted.get("server") if isinstance(noted, dict) else None
    try:
        if isinstance(known, str) and whose == server.url:
            cursor, deleted = _behind(server, folder, known, found)
        else:
            cursor, deleted = present_cursor(server), _compared(server, folder, found)
    except CursorError:
        cursor, deleted = present_cursor(server), _compared(server, folder, found)
    except TokenError as error:
        tell(f"withdrawals are not followed: {error}")
        return found
    except RefusedError as error:
        if error.status != 404:
            raise
        tell(f"withdrawals are not followed, the server has no list of changes: {error}")
        return found
    if deleted:
        _hosts(server, folder, found)
        found.outdated += [
            place for place in folder.files(SEGMENTS) if place.name.startswith(SELECTED)
        ]
        for place in found.outdated:
            tell(f"{place}: older than a withdrawal; take it again: that replaces it")
    folder.note(CURSOR, {"cursor": cursor, "server": server.url})
    return found


def _behind(server: Server, folder: Folder, cursor: str, found: Withdrawn) -> tuple[str, bool]:
    deleted = False
    for page in changes_since(server, cursor):
        for change in page.changes:
            if change.what == "deleted":
                deleted = True
                _segment(folder, change.name, found)
        cursor = page.cursor
    return cursor, deleted


def _compared(server: Server, folder: Folder, found: Withdrawn) -> bool:
    """Delete the segments that the server does not list; tell whether there is anything to ask."""
    here = [place for place in folder.files(SEGMENTS) if not place.name.startswith(SELECTED)]
    if here:
        listed = {file.name for file in list_segments(server)}
        for place in here:
            if place.name not in listed:
                _segment(folder, place.name, found)
    return bool(here) or next(folder.files("html"), None) is not None


def _segment(folder: Folder, name: str, found: Withdrawn) -> None:
    try:
        place = segment_place(name)
    except DamagedError:
        return  # no such file was ever taken
    _remove(folder, place, found)


def _hosts(server: Server, folder: Folder, found: Withdrawn) -> None:
    here: list[PurePosixPath] = []
    for place in folder.files("html"):
        try:
            here.append(classic_place(str(place)))
        except DamagedError:
            continue  # not ours
    here.sort(key=lambda place: place.stem)
    for batch in _batches(here):
        known = {held.host for held in held_hosts(server, Selection(_expression(batch)))}
        for place in batch:
            if place.stem not in known:
                _remove(folder, place, found)


def _batches(places: Sequence[PurePosixPath]) -> list[list[PurePosixPath]]:
    batches: list[list[PurePosixPath]] = []
    left = 0
    for place in places:
        length = len(_expression([place])) + 1
        if length > left:
            batches.append([])
            left = EXPRESSION_MOST
        batches[-1].append(place)
        left -= length
    return batches


def _expression(places: Sequence[PurePosixPath]) -> str:
    return "|".join(re.escape(place.stem) for place in places)


def _remove(folder: Folder, place: PurePosixPath, found: Withdrawn) -> None:
    if folder.remove(place):
        found.deleted.append(place)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        folder.log_withdrawn(f"{now}\t{place}")

"""Changes at the server, followed by its cursor.

Invariant: a cursor is passed on only after everything in front of it was given, so a kill repeats
changes and never skips one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from client.errors import CursorError, DamagedError, GoneError, RefusedError
from client.names import plain
from client.server import Server
from shared.frozen import frozen

__all__ = ["Change", "Changes", "changes_since", "present_cursor"]

CHANGES: Final = "api/v1/changes"
PAGE: Final = 1000
CURSOR_MOST: Final = 200


@frozen
class Change:
    """A segment was created (take it) or deleted (delete what you have of it)."""

    seq: int
    at: str
    what: str
    name: str
    size_bytes: int | None
    sha256: str | None


@frozen
class Changes:
    """Some changes, oldest first, and the cursor behind them."""

    changes: list[Change]
    cursor: str


def present_cursor(server: Server) -> str:
    """Return the cursor behind everything so far; raises ClientError."""
    return _page(server, "")[0].cursor


def changes_since(server: Server, since: str) -> Iterator[Changes]:
    """Give all changes behind a cursor or since a date; raises CursorError, ClientError."""
    more = True
    while more:
        try:
            page, more = _page(server, since)
        except GoneError as error:
            raise CursorError(str(error)) from error
        except RefusedError as error:
            if error.status == 400:
                raise CursorError(f"{error}. This cursor is of another server, or damaged") from (
                    error
                )
            raise
        if more and page.cursor == since:
            raise DamagedError("the server says that more follows, and gives the same cursor")
        yield page
        since = page.cursor


def _page(server: Server, since: str) -> tuple[Changes, bool]:
    query = [("since", since)] if since else []
    answer = server.json(CHANGES, [*query, ("limit", str(PAGE))])
    try:
        cursor = answer["next"]
        changes = [_change(each) for each in answer["changes"]]
        more = bool(answer["more"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedError("the list of changes is none: is this a PRSM manager?") from error
    if not isinstance(cursor, str) or not 0 < len(cursor) <= CURSOR_MOST:
        raise DamagedError("the list of changes has no cursor: is this a PRSM manager?")
    return Changes(changes, cursor), more


def _change(each: dict[str, Any]) -> Change:
    size, sums = each.get("size"), each.get("checksums")
    return Change(
        seq=int(each["seq"]),
        at=plain(str(each.get("at", "")))[:40],
        what=plain(str(each["what"]))[:20],
        name=plain(str(each["name"]))[:300],
        size_bytes=size if isinstance(size, int) else None,
        sha256=str(sums["sha256"])[:64] if isinstance(sums, dict) and "sha256" in sums else None,
    )

"""Changes of the public segments, for clients that follow them.

Invariant: numbers rise with the transactions, so a client that has taken all up to one number
misses nothing. A cursor is signed: only cursors that the manager issued are accepted, so a bug of
a follower causes no silent gap.
"""

from __future__ import annotations

import base64
import hmac
import os
import re
from pathlib import Path
from typing import Final

from manager.db.archive import archive_withdrawals
from manager.db.archive.archive_withdrawals import ChangeRow
from manager.db.engine import Database
from manager.db.segments import segments
from manager.db.segments.segments import SegmentRow
from manager.errors import GoneError
from manager.store.durable_files import open_new
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["Change", "Changes", "changes_since", "cursor_key", "present_cursor"]

KEY_BYTES: Final = 32
_CURSOR: Final = re.compile(r"([0-9]{1,19})\.([A-Za-z0-9_-]{22})")


@frozen
class Change:
    """A change, and the segment where it was made and is still there."""

    row: ChangeRow
    segment: SegmentRow | None


@frozen
class Changes:
    """Some changes, oldest first; next: the cursor behind them; more: whether others follow."""

    changes: list[Change]
    next: str
    more: bool


def cursor_key(folder: Path) -> bytes:
    """Return the key that signs cursors, which all managers on these files share."""
    path = folder / "cursor.key"
    try:
        with open_new(path) as file:
            file.write(os.urandom(KEY_BYTES))
    except FileExistsError:
        pass
    return path.read_bytes()


def present_cursor(db: Database, key: bytes) -> str:
    """Return the cursor behind everything that happened so far."""
    with db.read() as tx:
        return _signed(archive_withdrawals.last_change(tx), key)


def changes_since(
    db: Database, key: bytes, since: str, since_ms: int | None, limit: int
) -> Changes:
    """Return the changes behind a cursor, or since a moment.

    Raises FormatError for a cursor that is not ours, GoneError where changes behind it are
    forgotten already.
    """
    with db.read() as tx:
        oldest = archive_withdrawals.oldest_change(tx)
        if since_ms is None:
            after = _number(since, key)
            forgotten = oldest is not None and after < oldest.id - 1
        else:
            after = archive_withdrawals.change_before(tx, since_ms)
            forgotten = oldest is not None and oldest.id > 1 and since_ms <= oldest.at_ms
        if forgotten:
            raise GoneError("archive.changes_forgotten")
        found = archive_withdrawals.changes_after(tx, after, limit + 1)
        shown = found[:limit]
        made = [
            Change(row, segments.segment_by_name(tx, row.name) if row.what == "created" else None)
            for row in shown
        ]
    last = shown[-1].id if shown else after
    return Changes(made, _signed(last, key), len(found) > limit)


def _signed(number: int, key: bytes) -> str:
    digest = hmac.digest(key, str(number).encode(), "sha256")[:16]
    return f"{number}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


def _number(cursor: str, key: bytes) -> int:
    match = _CURSOR.fullmatch(cursor)
    if match is None or not hmac.compare_digest(_signed(int(match[1]), key), cursor):
        raise FormatError("archive.bad_cursor", value=cursor[:60])
    return int(match[1])

"""Downloads by token: file or selection, and progress."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from manager.db.tables import client_tokens, clients, downloads
from manager.db.transaction import Transaction, chunks, newest_first
from manager.message_fields import message_fields
from shared.frozen import frozen, values_of
from shared.messages import Message

__all__ = ["DownloadRow", "Taken", "downloads_before", "forget_downloads", "store_progress"]


@frozen
class Taken:
    """Bytes that a token took of a file since the last write.

    size_bytes: 0: not known. sent_bytes, requests: to add. afresh: the download started again, so
    its old row is deleted.
    """

    token_id: int
    name: str
    state: str
    problem: Message | None
    size_bytes: int
    sent_bytes: int
    requests: int
    begun_ms: int
    last_ms: int
    afresh: bool


@message_fields
@frozen
class DownloadRow:
    """A stored download with its third party."""

    id: int
    client: str
    token_id: int
    name: str
    state: str
    problem: Message | None
    size_bytes: int
    sent_bytes: int
    requests: int
    begun_ms: int
    last_ms: int


def store_progress(tx: Transaction, taken: Sequence[Taken]) -> None:
    """Add to the stored downloads. One that starts again gets a new number."""
    for one in taken:
        if one.afresh:
            same = (downloads.c.token_id == one.token_id, downloads.c.name == one.name)
            tx.execute(downloads.delete().where(*same))
    known: dict[tuple[int, str], int] = {}
    for part in chunks({one.name for one in taken if not one.afresh}):
        query = sa.select(downloads.c.token_id, downloads.c.name, downloads.c.begun_ms)
        for row in tx.execute(query.where(downloads.c.name.in_(part))):
            known[row.token_id, row.name] = row.begun_ms
    rows = [
        {**values_of(one), "begun_ms": known.get((one.token_id, one.name), one.begun_ms)}
        for one in taken
    ]
    for given in rows:
        del given["afresh"]
    tx.upsert(downloads, rows, ["token_id", "name"], add=["sent_bytes", "requests"])


def downloads_before(
    tx: Transaction, *, client: str, state: str, before: int | None, limit: int, stalled_ms: int
) -> list[DownloadRow]:
    """Return downloads, those that began last first. client, state: "": any.

    A running one that took nothing since `stalled_ms` counts as broken off.
    """
    shown = sa.case(
        (sa.and_(downloads.c.state == "going", downloads.c.last_ms < stalled_ms), "cut"),
        else_=downloads.c.state,
    )
    others = (column for column in downloads.c if column.name != "state")
    query = (
        sa.select(*others, clients.c.name.label("client"), shown.label("state"))
        .join(client_tokens, client_tokens.c.id == downloads.c.token_id)
        .join(clients, clients.c.id == client_tokens.c.client_id)
    )
    wanted = (clients.c.name, client), (shown, state)
    return tx.rows(DownloadRow, newest_first(query, downloads.c.id, limit, before, *wanted))


def forget_downloads(tx: Transaction, moment_ms: int) -> int:
    """Forget the downloads that took nothing since a moment; return how many."""
    return tx.changed(downloads.delete().where(downloads.c.last_ms < moment_ms))

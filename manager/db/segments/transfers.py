"""Transfers: the files that agents send to the manager, one row each, kept as their log."""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import agents, transfers
from manager.db.transaction import Transaction, newest_first
from manager.message_fields import message_fields
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "OPEN",
    "ListedTransfer",
    "TransferRow",
    "accepted_name",
    "add",
    "by_id",
    "by_key",
    "bytes_outstanding",
    "due_pulls",
    "expire_receiving",
    "list_transfers",
    "open_of",
    "quiet_since",
    "received",
    "received_keys",
    "same_file",
    "update",
]

PUT_OFF_MOST_MS: Final = 2 * 3_600_000
OPEN: Final = ("receiving", "received")


@message_fields
@frozen
class _Transfer:
    """The progress of a transfer; `manager.db.tables.collection` says what each field is."""

    id: int
    filename: str
    size_bytes: int
    way: str
    state: str
    gaps: str
    received_bytes: int
    breaks: int
    checks: int
    tries: int
    next_try_ms: int | None
    order_id: int | None
    begun_ms: int
    changed_ms: int
    received_ms: int | None
    ended_ms: int | None
    result: Message | None


@frozen
class TransferRow(_Transfer):
    """All that is kept of a transfer."""

    key: str
    agent_id: int
    sha256: str
    blocks: bytes | None
    source: str


@frozen
class ListedTransfer(_Transfer):
    """A transfer as people look at it."""

    agent: str


def add(tx: Transaction, **values: Any) -> TransferRow:
    """Begin a transfer."""
    found = by_id(tx, tx.add(transfers, **values))
    assert found is not None, "it was added a moment ago"
    return found


def by_key(tx: Transaction, key: str) -> TransferRow | None:
    """Return the transfer whose URL holds this key."""
    return tx.row(TransferRow, sa.select(transfers).where(transfers.c.key == key))


def by_id(tx: Transaction, number: int) -> TransferRow | None:
    """Return the transfer with this number."""
    return tx.row(TransferRow, sa.select(transfers).where(transfers.c.id == number))


def accepted_name(tx: Transaction, agent_id: int, filename: str) -> TransferRow | None:
    """Return an accepted file of an agent by its name."""
    c = transfers.c
    query = sa.select(transfers).where(c.agent_id == agent_id, c.filename == filename)
    return tx.row(TransferRow, query.where(c.state == "accepted").limit(1))


def same_file(tx: Transaction, agent_id: int, filename: str, sha256: str) -> TransferRow | None:
    """Return the agent's newest transfer of this very file that is open or was settled."""
    c = transfers.c
    this = c.agent_id == agent_id, c.sha256 == sha256, c.filename == filename
    settled = c.state.in_((*OPEN, "accepted", "quarantined"))
    query = sa.select(transfers).where(*this, settled)
    return tx.row(TransferRow, query.order_by(c.id.desc()).limit(1))


def open_of(tx: Transaction, agent_id: int) -> int:
    """Return how many transfers of an agent wait for bytes."""
    return tx.count(transfers, transfers.c.agent_id == agent_id, transfers.c.state == "receiving")


def bytes_outstanding(tx: Transaction) -> int:
    """Return how many bytes all open transfers may still bring at most."""
    query = sa.select(sa.func.sum(transfers.c.size_bytes - transfers.c.received_bytes)).where(
        transfers.c.state == "receiving", transfers.c.received_bytes < transfers.c.size_bytes
    )
    return int(tx.value(query) or 0)


def received(tx: Transaction, now_ms: int, limit: int) -> list[TransferRow]:
    """Return whole files that wait to be verified: the longest waiting one of each agent first,
    then the second of each, and so on."""
    by_agent = sa.func.row_number().over(
        partition_by=transfers.c.agent_id, order_by=(transfers.c.changed_ms, transfers.c.id)
    )
    waiting = (
        sa.select(transfers, by_agent.label("place"))
        .where(
            transfers.c.state == "received",
            sa.or_(transfers.c.next_try_ms.is_(None), _is_time(now_ms)),
        )
        .subquery()
    )
    query = sa.select(*(waiting.c[column.name] for column in transfers.c))
    in_turns = (waiting.c.place, waiting.c.changed_ms, waiting.c.id)
    return tx.rows(TransferRow, query.order_by(*in_turns).limit(limit))


def quiet_since(tx: Transaction, before_ms: int) -> list[TransferRow]:
    """Return open transfers to which nothing came since a moment."""
    c = transfers.c
    query = sa.select(transfers).where(c.state == "receiving", c.changed_ms < before_ms)
    return tx.rows(TransferRow, query.order_by(c.id))


def due_pulls(tx: Transaction, now_ms: int) -> list[TransferRow]:
    """Return files that are to be fetched now."""
    c = transfers.c
    query = sa.select(transfers).where(c.state == "receiving", c.way == "pull", _is_time(now_ms))
    return tx.rows(TransferRow, query.order_by(c.next_try_ms, c.id))


def _is_time(now_ms: int) -> sa.ColumnElement[bool]:
    # Further away than any try is put off: the clock was set back since.
    next_ms = transfers.c.next_try_ms
    return sa.or_(next_ms <= now_ms, next_ms > now_ms + PUT_OFF_MOST_MS)


def update(tx: Transaction, number: int, **values: Any) -> None:
    """Set columns of a transfer."""
    tx.execute(transfers.update().where(transfers.c.id == number).values(**values))


def expire_receiving(tx: Transaction, now_ms: int, why: Message) -> None:
    """End all uploads of which a part has come: it is lost."""
    values = {"state": "expired", "source": "", "ended_ms": now_ms, "changed_ms": now_ms}
    receiving = transfers.update().where(transfers.c.state == "receiving")
    tx.execute(receiving.values(**values, result=why))


def list_transfers(
    tx: Transaction, *, agent: str = "", state: str = "", before: int | None = None, limit: int
) -> list[ListedTransfer]:
    """Return transfers, newest first; before: only those with a smaller number."""
    query = sa.select(transfers, agents.c.name.label("agent")).join(
        agents, agents.c.id == transfers.c.agent_id
    )
    wanted = (agents.c.name, agent), (transfers.c.state, state)
    return tx.rows(ListedTransfer, newest_first(query, transfers.c.id, limit, before, *wanted))


def received_keys(tx: Transaction) -> list[str]:
    """Return the keys of whole files that wait to be accepted."""
    return tx.values(sa.select(transfers.c.key).where(transfers.c.state == "received"))

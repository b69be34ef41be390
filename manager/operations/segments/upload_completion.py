"""Ends of uploads: judged, cancelled by either side, or expired.

Invariant: only `accepted` and `quarantined` let an agent throw its file away.
"""

from __future__ import annotations

from manager.db.engine import Database, Transaction
from manager.db.segments import transfers
from manager.db.segments.transfers import TransferRow
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.segments.upload_bytes import write_gaps
from manager.operations.segments.uploads import upload_of
from manager.settings import CollectionSettings
from manager.store import UploadParts
from shared.messages import Message
from shared.wire.uploads import UploadState

__all__ = [
    "cancel_transfer",
    "drop_upload",
    "expire_uploads",
    "postpone",
    "received_uploads",
    "settle",
]


def received_uploads(db: Database, now_ms: int, limit: int = 100) -> list[TransferRow]:
    """Return whole files that wait to be accepted: the oldest of each agent first."""
    with db.read() as tx:
        return transfers.received(tx, now_ms, limit)


def postpone(db: Database, row: TransferRow, why: Message, until_ms: int) -> None:
    """Postpone a whole file that could not be judged now."""
    with db.write() as tx:
        transfers.update(tx, row.id, next_try_ms=until_ms, result=why, tries=row.tries + 1)


def settle(db: Database, row: TransferRow, state: UploadState, said: Message, now_ms: int) -> None:
    """Record the result of a whole file: accepted, quarantined, refused; or it is lost."""
    values: dict[str, object] = {"state": state, "result": said, "changed_ms": now_ms}
    if state == "receiving":
        values |= {"gaps": write_gaps([(0, row.size_bytes)]), "received_ms": None}
    else:
        values |= {"ended_ms": now_ms, "source": ""}
    with db.write() as tx:
        transfers.update(tx, row.id, next_try_ms=None, **values)


def drop_upload(
    db: Database, parts: UploadParts, agent: AgentIdentity, key: str, now_ms: int
) -> None:
    """Give an upload up, by who sends it. Raises NotFoundError, GoneError, ConflictError."""
    why = Message("segments.cancelled_by_sender")
    _end(db, parts, upload_of(db, agent, key), agent.actor, now_ms, why)


def cancel_transfer(
    db: Database, parts: UploadParts, number: int, actor: Actor, now_ms: int
) -> None:
    """Give an upload up, by a person. Raises NotFoundError, ConflictError."""
    with db.read() as tx:
        row = transfers.by_id(tx, number)
    if row is None:
        raise NotFoundError("segments.unknown_transfer", transfer=number, see="collect transfers")
    _end(db, parts, row, actor, now_ms, Message("general.cancelled_by", name=actor.name))


def _end(
    db: Database, parts: UploadParts, row: TransferRow, actor: Actor, now_ms: int, why: Message
) -> None:
    with db.write() as tx:
        found = transfers.by_key(tx, row.key)
        if found is None or found.state != "receiving":
            raise ConflictError(
                "segments.not_receiving",
                filename=row.filename,
                state=found.state if found else "gone",
            )
        _close(tx, row, "cancelled", why, now_ms)
        note(tx, now_ms, actor, "transfer.cancel", row.filename, transfer=row.id)
    parts.remove(row.key)


def _close(tx: Transaction, row: TransferRow, state: str, why: Message, now_ms: int) -> None:
    transfers.update(
        tx, row.id, state=state, source="", ended_ms=now_ms, changed_ms=now_ms, result=why
    )


def expire_uploads(
    db: Database, parts: UploadParts, settings: CollectionSettings, now_ms: int
) -> int:
    """Throw away uploads to which nothing came for long; return how many."""
    before_ms = now_ms - round(settings.upload_retention_s * 1000)
    with db.read() as tx:
        old = transfers.quiet_since(tx, before_ms)
    for row in old:
        with db.write() as tx:
            found = transfers.by_key(tx, row.key)
            if found is None or found.state != "receiving" or found.changed_ms >= before_ms:
                continue
            _close(tx, row, "expired", Message("segments.upload_expired"), now_ms)
        parts.remove(row.key)
    return len(old)

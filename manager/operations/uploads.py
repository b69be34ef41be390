"""Uploads of segments: begun, gone on with, whole, settled; or given up, or too old.

Invariants. The same file of an agent is one upload, however often and by how many it is begun: so
it arrives once. An offset that was told is on the disk. What is `received` had the right SHA-256
and waits to be accepted; nobody sees it before. Only `accepted` lets an agent throw its file away.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Final

from manager.db import transfers
from manager.db.engine import Database
from manager.db.transfers import ListedTransfer, TransferRow
from manager.errors import (
    ConflictError,
    GoneError,
    LimitError,
    NotFoundError,
    SlowDownError,
)
from manager.operations.actor import Actor, note
from manager.operations.enrolment import AgentIdentity
from manager.operations.upload_gaps import filled, offset_of, read_gaps, write_gaps
from manager.settings import CollectionSettings
from manager.store import UploadParts
from shared.errors import FormatError
from shared.wire.uploads import (
    SEGMENT_SUFFIX,
    FileDigests,
    UploadState,
    UploadStatus,
    split_blocks,
)

__all__ = [
    "ListedTransfer",
    "NewUpload",
    "TransferRow",
    "begin_upload",
    "cancel_transfer",
    "drop_upload",
    "expire_uploads",
    "list_transfers",
    "note_arrived",
    "note_bytes",
    "note_whole",
    "offset",
    "put_off",
    "received_uploads",
    "settle",
    "status_of",
    "upload_of",
]

CHECKS_MOST: Final = 5
"""A file whose whole is wrong so often is wrong where it comes from."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,180}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_ENDED: Final = ("refused", "cancelled", "expired")


@dataclass(frozen=True, slots=True)
class NewUpload:
    """What an agent says of a file before it sends it."""

    filename: str
    sha256: str
    size_bytes: int
    blocks: bytes = b""
    order_id: int | None = None

    def check(self, settings: CollectionSettings) -> None:
        """Raise FormatError, LimitError where it is nothing that we take."""
        if not (_NAME.fullmatch(self.filename) and self.filename.endswith(SEGMENT_SUFFIX)):
            raise FormatError(
                f"filename {self.filename[:60]!r}: must be the name of a segment, letters, digits, "
                f". _ and - only, ending in {SEGMENT_SUFFIX}"
            )
        if not _SHA256.fullmatch(self.sha256):
            raise FormatError(
                f"sha256 {self.sha256[:70]!r}: Upload-Metadata must have the SHA-256 of the file "
                "as 64 hexadecimal digits in lower case"
            )
        if not 0 < self.size_bytes <= settings.segment_bytes:
            raise LimitError(
                f"Upload-Length {self.size_bytes}: must be 1 to {settings.segment_bytes} "
                "(collection.segment_bytes)"
            )
        split_blocks(self.blocks, self.size_bytes)


def begin_upload(
    db: Database,
    parts: UploadParts,
    agent: AgentIdentity,
    asked: NewUpload,
    settings: CollectionSettings,
    now_ms: int,
    *,
    source: str = "",
) -> TransferRow:
    """Begin an upload, or return the one of this file that is there already, in whatever state.

    source: JSON for a pull; empty: the agent pushes. Raises FormatError, LimitError, ConflictError
    (another file of that name was accepted), StoreFullError.
    """
    asked.check(settings)
    with db.read() as tx:
        known = transfers.same_file(tx, agent.id, asked.filename, asked.sha256)
        outstanding_bytes = transfers.outstanding_bytes(tx)
    if known is None:
        parts.check_room(outstanding_bytes + asked.size_bytes)
    with db.write() as tx:
        known = transfers.same_file(tx, agent.id, asked.filename, asked.sha256)
        if known is not None:
            if known.size_bytes != asked.size_bytes:
                raise ConflictError(
                    f"{asked.filename}: {asked.size_bytes} bytes now, {known.size_bytes} when it "
                    "was begun with the same SHA-256"
                )
            return known
        if transfers.open_of(tx, agent.id) >= settings.open_uploads:
            raise SlowDownError(
                f"{settings.open_uploads} uploads of agent {agent.name} are open, which is the "
                "limit (collection.open_uploads): finish or delete one first",
                60,
            )
        other = transfers.accepted_name(tx, agent.id, asked.filename)
        if other is not None:
            raise ConflictError(
                f"{asked.filename}: another file of this name was accepted, with SHA-256 "
                f"{other.sha256}; a sealed segment never changes"
            )
        key = secrets.token_hex(16)
        parts.begin(key)
        return transfers.add(
            tx,
            key=key,
            agent_id=agent.id,
            filename=asked.filename,
            sha256=asked.sha256,
            size_bytes=asked.size_bytes,
            blocks=asked.blocks or None,
            way="pull" if source else "push",
            state="receiving",
            gaps=write_gaps([(0, asked.size_bytes)]),
            order_id=asked.order_id,
            source=source,
            next_try_ms=now_ms if source else None,
            begun_ms=now_ms,
            changed_ms=now_ms,
        )


def upload_of(db: Database, agent: AgentIdentity, key: str) -> TransferRow:
    """Return an upload of an agent. Raises NotFoundError, GoneError."""
    with db.read() as tx:
        row = transfers.by_key(tx, key)
    # Another agent's upload is as unknown as one that never was.
    if row is None or row.agent_id != agent.id:
        raise NotFoundError("upload: there is none of yours at this address; begin it with POST")
    if row.state in _ENDED:
        raise GoneError(f"upload of {row.filename}: {row.state}. {row.result}".strip())
    return row


def offset(row: TransferRow) -> int:
    """Return where the sender is to go on."""
    return offset_of(read_gaps(row.gaps), row.size_bytes)


def status_of(row: TransferRow) -> UploadStatus:
    """Return what the sender may know of an upload."""
    return UploadStatus.model_validate(
        {
            "filename": row.filename,
            "sha256": row.sha256,
            "size_bytes": row.size_bytes,
            "offset": offset(row),
            "state": row.state,
            "result": row.result,
        }
    )


def note_bytes(
    db: Database, row: TransferRow, start: int, end: int, now_ms: int, *, broke: bool = False
) -> TransferRow:
    """Take note that the bytes [start, end) are on the disk; return the upload as it is now."""
    with db.write() as tx:
        found = transfers.by_key(tx, row.key)
        if found is None or found.state != "receiving":
            raise GoneError(f"upload of {row.filename}: it was given up meanwhile")
        transfers.update(
            tx,
            row.id,
            gaps=write_gaps(filled(read_gaps(found.gaps), start, end)),
            received_bytes=found.received_bytes + end - start,
            breaks=found.breaks + broke,
            changed_ms=now_ms,
        )
        return transfers.by_key(tx, row.key) or found


def note_whole(db: Database, row: TransferRow, found: FileDigests, now_ms: int) -> TransferRow:
    """Take note of what all bytes together are: right, or which of them are wrong.

    Call before the file is moved; a right one stays `receiving`, without gaps, until
    `note_arrived`.
    """
    if found.sha256 == row.sha256:
        return row
    checks = row.checks + 1
    wrong = found.wrong_blocks(split_blocks(row.blocks or b"", row.size_bytes))
    values: dict[str, object] = {"gaps": write_gaps(wrong), "checks": checks, "changed_ms": now_ms}
    if checks >= CHECKS_MOST:
        values |= {
            "state": "refused",
            "ended_ms": now_ms,
            "result": f"its SHA-256 was wrong {checks} times; the last was {found.sha256}",
        }
    with db.write() as tx:
        transfers.update(tx, row.id, **values)
        return transfers.by_key(tx, row.key) or row


def note_arrived(db: Database, row: TransferRow, now_ms: int) -> TransferRow:
    """Take note that a whole file lies in `incoming`: it waits to be accepted."""
    with db.write() as tx:
        found = transfers.by_key(tx, row.key)
        if found is not None and found.state == "receiving":
            transfers.update(
                tx, row.id, state="received", gaps="[]", received_ms=now_ms, changed_ms=now_ms
            )
        return transfers.by_key(tx, row.key) or row


def received_uploads(db: Database, now_ms: int, limit: int = 100) -> list[TransferRow]:
    """Return whole files that wait to be accepted, the longest waiting first."""
    with db.read() as tx:
        return transfers.received(tx, now_ms, limit)


def put_off(db: Database, row: TransferRow, why: str, until_ms: int) -> None:
    """Let a whole file wait: it could not be judged now."""
    with db.write() as tx:
        transfers.update(tx, row.id, next_try_ms=until_ms, result=why, tries=row.tries + 1)


def settle(db: Database, row: TransferRow, state: UploadState, said: str, now_ms: int) -> None:
    """Write down what became of a whole file: accepted, quarantined, refused; or it is lost."""
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
    _end(db, parts, upload_of(db, agent, key), agent.actor, now_ms, "its sender gave it up")


def cancel_transfer(
    db: Database, parts: UploadParts, number: int, actor: Actor, now_ms: int
) -> None:
    """Give an upload up, by a person. Raises NotFoundError, ConflictError."""
    with db.read() as tx:
        row = transfers.by_id(tx, number)
    if row is None:
        raise NotFoundError(f"transfer {number}: there is none; see `prsm collect transfers`")
    _end(db, parts, row, actor, now_ms, f"{actor.name} gave it up")


def _end(
    db: Database, parts: UploadParts, row: TransferRow, actor: Actor, now_ms: int, why: str
) -> None:
    with db.write() as tx:
        found = transfers.by_key(tx, row.key)
        if found is None or found.state != "receiving":
            raise ConflictError(
                f"{row.filename}: {found.state if found else 'gone'}; only an upload that waits "
                "for bytes can be given up"
            )
        transfers.update(
            tx, row.id, state="cancelled", source="", ended_ms=now_ms, changed_ms=now_ms, result=why
        )
        note(tx, now_ms, actor, "transfer.cancel", row.filename, transfer=row.id)
    parts.remove(row.key)


def expire_uploads(
    db: Database, parts: UploadParts, settings: CollectionSettings, now_ms: int
) -> int:
    """Throw away uploads to which nothing came for long; return how many."""
    before_ms = now_ms - round(settings.upload_keep_s * 1000)
    with db.read() as tx:
        old = transfers.quiet_since(tx, before_ms)
    for row in old:
        with db.write() as tx:
            found = transfers.by_key(tx, row.key)
            if found is None or found.state != "receiving" or found.changed_ms >= before_ms:
                continue
            transfers.update(
                tx,
                row.id,
                state="expired",
                source="",
                ended_ms=now_ms,
                changed_ms=now_ms,
                result="nothing came for too long (collection.upload_keep_s)",
            )
        parts.remove(row.key)
    return len(old)


def list_transfers(
    db: Database, *, agent: str = "", state: str = "", before: int | None = None, limit: int = 100
) -> list[ListedTransfer]:
    """Return transfers, newest first."""
    with db.read() as tx:
        return transfers.list_transfers(tx, agent=agent, state=state, before=before, limit=limit)

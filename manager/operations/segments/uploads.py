"""Uploads of segments: begun, found again, listed.

Invariant: the same file of an agent is one upload, however often and by how many it is begun: so it
arrives once. Its bytes are left to `upload_bytes`, its end to `upload_completion`.
"""

from __future__ import annotations

import re
import secrets
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.segments import integrity, transfers
from manager.db.segments.transfers import ListedTransfer, TransferRow
from manager.errors import ConflictError, GoneError, LimitError, NotFoundError, SlowDownError
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.segments.upload_bytes import offset_of, read_gaps, write_gaps
from manager.settings import CollectionSettings
from manager.store import UploadParts
from shared.errors import FormatError
from shared.frozen import frozen, values_of
from shared.wire.uploads import SEGMENT_SUFFIX, UploadStatus, split_blocks

__all__ = [
    "ListedTransfer",
    "NewUpload",
    "TransferRow",
    "begin_upload",
    "known_upload",
    "list_transfers",
    "offset",
    "status_of",
    "upload_of",
]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,180}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_ENDED: Final = ("refused", "cancelled", "expired")


@frozen
class NewUpload:
    """Description of a file by its agent, before it is sent."""

    filename: str
    sha256: str
    size_bytes: int
    blocks: bytes = b""
    order_id: int | None = None

    def check(self, settings: CollectionSettings) -> None:
        """Raise FormatError, LimitError where it is nothing that we take."""
        if not (_NAME.fullmatch(self.filename) and self.filename.endswith(SEGMENT_SUFFIX)):
            raise FormatError(
                "segments.bad_filename", filename=self.filename[:60], suffix=SEGMENT_SUFFIX
            )
        if not _SHA256.fullmatch(self.sha256):
            raise FormatError("segments.bad_sha256", value=self.sha256[:70])
        if not 0 < self.size_bytes <= settings.segment_bytes:
            raise LimitError(
                "segments.upload_length", length=self.size_bytes, limit=settings.segment_bytes
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
        known = _known_file(tx, agent, asked)
        outstanding_bytes = transfers.bytes_outstanding(tx)
    if known is None:
        parts.check_room(outstanding_bytes + asked.size_bytes)
    with db.write() as tx:
        known = _known_file(tx, agent, asked)
        if known is not None:
            if known.size_bytes != asked.size_bytes:
                raise ConflictError(
                    "segments.other_size",
                    filename=asked.filename,
                    size_bytes=asked.size_bytes,
                    before_bytes=known.size_bytes,
                )
            return known
        if transfers.open_of(tx, agent.id) >= settings.open_uploads:
            raise SlowDownError(
                "segments.too_many_uploads", 60, uploads=settings.open_uploads, agent=agent.name
            )
        other = transfers.accepted_name(tx, agent.id, asked.filename)
        if other is not None and other.sha256 != asked.sha256:
            raise ConflictError(
                "segments.name_accepted", filename=asked.filename, sha256=other.sha256
            )
        key = secrets.token_hex(16)
        parts.begin(key)
        described = {**values_of(asked), "blocks": asked.blocks or None}
        return transfers.add(
            tx,
            key=key,
            agent_id=agent.id,
            **described,
            way="pull" if source else "push",
            state="receiving",
            gaps=write_gaps([(0, asked.size_bytes)]),
            source=source,
            next_try_ms=now_ms if source else None,
            begun_ms=now_ms,
            changed_ms=now_ms,
        )


def _known_file(tx: Transaction, agent: AgentIdentity, asked: NewUpload) -> TransferRow | None:
    """Return the upload of this file; None: there is none, or its segment is damaged here."""
    known = transfers.same_file(tx, agent.id, asked.filename, asked.sha256)
    settled = known is not None and known.state not in transfers.OPEN
    if settled and integrity.damaged_of_arrival(tx, agent.id, asked.sha256):
        return None
    return known


def known_upload(db: Database, agent: AgentIdentity, key: str) -> TransferRow:
    """Return an upload of an agent, also one that has ended. Raises NotFoundError."""
    with db.read() as tx:
        row = transfers.by_key(tx, key)
    # Another agent's upload is as unknown as one that never was.
    if row is None or row.agent_id != agent.id:
        raise NotFoundError("segments.unknown_upload")
    return row


def upload_of(db: Database, agent: AgentIdentity, key: str) -> TransferRow:
    """Return an upload of an agent that was not given up. Raises NotFoundError, GoneError."""
    row = known_upload(db, agent, key)
    if row.state in _ENDED:
        code = "segments.upload_ended" if row.result is None else "segments.upload_ended_because"
        raise GoneError(code, filename=row.filename, state=row.state, why=row.result)
    return row


def offset(row: TransferRow) -> int:
    """Return the offset at which the sender is to continue."""
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
            "result": "" if row.result is None else str(row.result),
        }
    )


def list_transfers(
    db: Database, *, agent: str = "", state: str = "", before: int | None = None, limit: int = 100
) -> list[ListedTransfer]:
    """Return transfers, newest first."""
    with db.read() as tx:
        return transfers.list_transfers(tx, agent=agent, state=state, before=before, limit=limit)

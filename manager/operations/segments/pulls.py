"""Files that the manager fetches: offered by their agent with a token, tried until that is over."""

from __future__ import annotations

import json
from typing import Final

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.segments import transfers
from manager.db.segments.transfers import TransferRow
from manager.errors import BusyError
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.segments.uploads import NewUpload, begin_upload
from manager.settings import CollectionSettings
from manager.store import UploadParts
from shared.messages import Message

__all__ = ["due_pulls", "offer_upload", "pull_failed"]

PULL_LEAST_MS: Final = 2_000
PULL_MOST_MS: Final = 600_000


def offer_upload(
    db: Database,
    parts: UploadParts,
    agent: AgentIdentity,
    asked: NewUpload,
    token: str,
    until_ms: int,
    settings: CollectionSettings,
    now_ms: int,
) -> TransferRow:
    """Offer a file for pulling from its agent, with a token that is valid until a moment.

    An offer of the same file again brings a new token. Raises what `begin_upload` raises, and
    BusyError where the agent did not say yet where it serves.
    """
    with db.read() as tx:
        row = agents.by_id(tx, agent.id)
    if row is None or not row.serving_url:
        raise BusyError("segments.agent_not_serving", retry_after_s=60, agent=agent.name)
    source = json.dumps(
        {
            "url": row.serving_url,
            "fingerprint": row.serving_fingerprint,
            "token": token,
            "until_ms": until_ms - row.skew_ms,  # by the agent's clock; kept by ours
        }
    )
    found = begin_upload(db, parts, agent, asked, settings, now_ms, source=source)
    if found.state != "receiving":
        return found
    with db.write() as tx:
        transfers.update(tx, found.id, way="pull", source=source, next_try_ms=now_ms)
        return transfers.by_key(tx, found.key) or found


def due_pulls(db: Database, now_ms: int) -> list[TransferRow]:
    """Return the files that are to be fetched now."""
    with db.read() as tx:
        return transfers.due_pulls(tx, now_ms)


def pull_failed(db: Database, row: TransferRow, why: Message, now_ms: int) -> None:
    """Take note that a fetch failed: it is tried again while its token is good."""
    with db.write() as tx:
        found = transfers.by_key(tx, row.key)
        if found is None or found.state != "receiving":
            return
        progressed = found.received_bytes > row.received_bytes
        tries = 1 if progressed else found.tries + 1
        next_try_ms = now_ms + min(PULL_MOST_MS, PULL_LEAST_MS * 2 ** min(tries, 10))
        until_ms = int(json.loads(found.source or "{}").get("until_ms", 0))
        transfers.update(
            tx,
            row.id,
            tries=tries,
            next_try_ms=next_try_ms if next_try_ms < until_ms else None,
            result=why,
        )

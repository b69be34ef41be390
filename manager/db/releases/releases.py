"""Releases, the metadata that is served with them, and what agents said of updates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import (
    agent_releases,
    agents,
    release_metadata,
    release_policy,
    releases,
)
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "AgentReleaseRow",
    "MetadataRow",
    "ReleaseRow",
    "add",
    "add_metadata",
    "agent_release",
    "agent_releases_of_all",
    "all_releases",
    "bodies",
    "by_sha256",
    "by_version",
    "change",
    "change_agent",
    "forget_metadata",
    "metadata_of",
    "minimum",
    "newest",
    "set_minimum",
    "versions_in_use",
]


@frozen
class ReleaseRow:
    """A release; `manager.db.tables.releases` says what each field is."""

    id: int
    version: str
    target: str
    sha256: str
    size_bytes: int
    published_by: str
    published_ms: int
    ring: str
    rolled_out_ms: int | None
    halted_ms: int | None
    revoked_ms: int | None


@frozen
class MetadataRow:
    """A signed file."""

    role: str
    version: int
    body: str
    expires_ms: int
    added_ms: int


@frozen
class AgentReleaseRow:
    """Version decided for an agent, and the last update that it reported."""

    agent_id: int
    canary: bool = False
    pin: str = ""
    version: str = ""
    outcome: str = ""
    step: str = ""
    detail: str = ""
    reported_ms: int | None = None


def add(tx: Transaction, row: dict[str, Any]) -> None:
    """Enter a release."""
    tx.insert(releases, [{**row, "ring": "none"}])


def all_releases(tx: Transaction) -> list[ReleaseRow]:
    """Return all releases in the order in which they were published."""
    return tx.rows(ReleaseRow, sa.select(releases).order_by(releases.c.id))


def by_version(tx: Transaction, version: str) -> ReleaseRow | None:
    """Return the release of a version."""
    return tx.row(ReleaseRow, sa.select(releases).where(releases.c.version == version))


def by_sha256(tx: Transaction, sha256: str) -> ReleaseRow | None:
    """Return a release that is served, by the digest of its file."""
    query = sa.select(releases).where(releases.c.sha256 == sha256, releases.c.revoked_ms.is_(None))
    return tx.row(ReleaseRow, query.limit(1))


def change(tx: Transaction, version: str, **values: Any) -> None:
    """Change fields of a release."""
    tx.execute(releases.update().where(releases.c.version == version).values(**values))


def add_metadata(
    tx: Transaction, role: str, version: int, body: bytes, expires_ms: int, now_ms: int
) -> None:
    """Keep a signed file; the same version again replaces it."""
    row = {"role": role, "version": version, "body": body.decode(), "expires_ms": expires_ms}
    tx.upsert(release_metadata, [{**row, "added_ms": now_ms}], ["role", "version"])


def forget_metadata(tx: Transaction, role: str) -> None:
    """Forget all signed files of a role."""
    tx.execute(release_metadata.delete().where(release_metadata.c.role == role))


def newest(tx: Transaction, role: str) -> MetadataRow | None:
    """Return the newest signed file of a role."""
    query = sa.select(release_metadata).where(release_metadata.c.role == role)
    return tx.row(MetadataRow, query.order_by(release_metadata.c.version.desc()).limit(1))


def metadata_of(tx: Transaction, role: str, version: int) -> MetadataRow | None:
    """Return a signed file."""
    query = sa.select(release_metadata).where(
        release_metadata.c.role == role, release_metadata.c.version == version
    )
    return tx.row(MetadataRow, query)


def bodies(tx: Transaction, role: str) -> list[bytes]:
    """Return all signed files of a role, the oldest first."""
    query = sa.select(release_metadata.c.body).where(release_metadata.c.role == role)
    found: Sequence[str] = tx.values(query.order_by(release_metadata.c.version))
    return [body.encode() for body in found]


_MINIMUM: Final = sa.select(release_policy.c.minimum)


def minimum(tx: Transaction) -> str:
    """Return the version below which agents get no permit; empty: none."""
    return str(tx.value(_MINIMUM) or "")


def set_minimum(tx: Transaction, version: str) -> None:
    """Set the version below which agents get no permit; empty: none."""
    tx.upsert(release_policy, [{"id": 1, "minimum": version}], ["id"])


def agent_release(tx: Transaction, agent_id: int) -> AgentReleaseRow:
    """Return what is known of an agent's updates; nothing was ever decided: the defaults."""
    query = sa.select(agent_releases).where(agent_releases.c.agent_id == agent_id)
    return tx.row(AgentReleaseRow, query) or AgentReleaseRow(agent_id)


def agent_releases_of_all(tx: Transaction) -> dict[int, AgentReleaseRow]:
    """Return what is known of the updates of all agents of which something is."""
    return {row.agent_id: row for row in tx.rows(AgentReleaseRow, sa.select(agent_releases))}


def change_agent(tx: Transaction, agent_id: int, **values: Any) -> None:
    """Change what is known of an agent's updates."""
    tx.upsert(agent_releases, [{"agent_id": agent_id, **values}], ["agent_id"])


def versions_in_use(tx: Transaction) -> dict[str, int]:
    """Return how many agents that take part said they run each version."""
    return tx.counts(agents.c.version, agents.c.retired_ms.is_(None), agents.c.version != "")

"""Hosts in public segments, with the segments that hold them."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from manager.db.tables import hosts, segment_hosts, segments
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "FileOfHost",
    "HeldHost",
    "held_by_key",
    "held_hosts",
    "newest_segments_of",
    "segments_of",
]

_PUBLIC = sa.and_(segments.c.kind == "public", segments.c.state.in_(("current", "withdrawn")))


@frozen
class HeldHost:
    """A host that may be given away, and how many captures of it there are."""

    id: int
    key: str
    captures: int
    bytes: int
    first_ms: int
    last_ms: int


@frozen
class FileOfHost:
    """A segment that holds captures of a host: its name and its key in the store."""

    name: str
    key: str


def held_hosts(tx: Transaction, after_id: int, limit: int, *, only: str = "") -> list[HeldHost]:
    """Return the next hosts that are not excluded and lie in a public segment, by number.

    A segment that was withdrawn because of another host counts: its file is not distributed, the
    captures of its other hosts are. only: the key of one host.
    """
    query = _held().where(hosts.c.id > after_id).order_by(hosts.c.id).limit(limit)
    return tx.rows(HeldHost, query.where(hosts.c.key == only) if only else query)


def held_by_key(tx: Transaction, keys: Collection[str]) -> dict[str, HeldHost]:
    """Return such hosts by key; those that are none are left out."""
    return {row.key: row for row in tx.rows_among(HeldHost, _held(), hosts.c.key, keys)}


def _held() -> sa.Select[tuple[int, str, int, int, int, int]]:
    return (
        sa.select(
            hosts.c.id,
            hosts.c.key,
            sa.cast(sa.func.sum(segment_hosts.c.captures), sa.BigInteger()).label("captures"),
            sa.cast(sa.func.sum(segment_hosts.c.bytes), sa.BigInteger()).label("bytes"),
            sa.func.min(segment_hosts.c.first_ms).label("first_ms"),
            sa.func.max(segment_hosts.c.last_ms).label("last_ms"),
        )
        .join(segment_hosts, segment_hosts.c.host_id == hosts.c.id)
        .join(segments, segments.c.id == segment_hosts.c.segment_id)
        .where(hosts.c.excluded_ms.is_(None), _PUBLIC)
        .group_by(hosts.c.id, hosts.c.key)
    )


def segments_of(tx: Transaction, host_ids: Collection[int]) -> list[FileOfHost]:
    """Return the public segments that hold some hosts, none where one of them is excluded now."""
    excluded = sa.select(hosts.c.id).where(
        hosts.c.id.in_(host_ids), hosts.c.excluded_ms.is_not(None)
    )
    if tx.value(excluded.limit(1)) is not None:
        return []
    query = (
        sa.select(segments.c.name, segments.c.key)
        .join(segment_hosts, segment_hosts.c.segment_id == segments.c.id)
        .where(segment_hosts.c.host_id.in_(host_ids), _PUBLIC)
        .distinct()
        .order_by(segments.c.name)
    )
    return tx.rows(FileOfHost, query)


def newest_segments_of(tx: Transaction, host: str, limit: int) -> list[str]:
    """Return the keys of the newest segments that hold a host, public or not, the newest first."""
    query = (
        sa.select(segments.c.key)
        .join(segment_hosts, segment_hosts.c.segment_id == segments.c.id)
        .join(hosts, hosts.c.id == segment_hosts.c.host_id)
        .where(hosts.c.key == host, segments.c.state != "gone")
        .order_by(segments.c.id.desc())
        .limit(limit)
    )
    return tx.values(query)

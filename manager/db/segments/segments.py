"""Arrivals, segments, what hosts they hold, and the changes that third parties follow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from manager.db.tables import archive_changes, arrivals, hosts, segment_hosts, segments
from manager.db.transaction import Transaction, chunks
from shared.archive.segment_facts import CaptureCounts, HostShare, SegmentFacts
from shared.frozen import frozen, values_of

__all__ = [
    "ArrivalRow",
    "FileFilter",
    "NewArrival",
    "NewSegment",
    "SegmentRow",
    "add_arrival",
    "add_change",
    "add_segment",
    "arrival_by_name",
    "arrival_by_sha256",
    "excluded_keys",
    "public_segments",
    "segment_by_key",
    "segment_by_name",
    "segments_of_arrival",
]


@frozen
class NewArrival(CaptureCounts):
    """A file that was taken from an agent."""

    agent_id: int
    name: str
    sha256: str
    size_bytes: int
    received_ms: int


@frozen
class ArrivalRow(NewArrival):
    """The same as a stored row."""

    id: int


@frozen
class NewSegment(SegmentFacts):
    """A file of captures to keep."""

    arrival_id: int
    agent_id: int
    key: str
    state: str
    revision: int
    made_ms: int


@frozen
class SegmentRow(NewSegment):
    """A file of captures that is kept; ended_ms: when it was withdrawn."""

    id: int
    ended_ms: int | None


def arrival_by_sha256(tx: Transaction, agent_id: int, sha256: str) -> ArrivalRow | None:
    """Return what an agent sent with this digest."""
    mine = arrivals.c.agent_id == agent_id
    return tx.row(ArrivalRow, sa.select(arrivals).where(mine, arrivals.c.sha256 == sha256))


def arrival_by_name(tx: Transaction, agent_id: int, name: str) -> ArrivalRow | None:
    """Return what an agent sent under this name."""
    mine = arrivals.c.agent_id == agent_id
    return tx.row(ArrivalRow, sa.select(arrivals).where(mine, arrivals.c.name == name))


def add_arrival(tx: Transaction, arrival: NewArrival) -> int:
    """Keep an arrival; return its number."""
    return tx.add(arrivals, **values_of(arrival))


def add_segment(tx: Transaction, segment: NewSegment, shares: Mapping[str, HostShare]) -> int:
    """Keep a segment and what it holds of the hosts that are known; return its number."""
    number = tx.add(segments, **values_of(segment))
    for part in chunks(shares):
        rows = tx.execute(sa.select(hosts.c.id, hosts.c.key).where(hosts.c.key.in_(part)))
        tx.insert(
            segment_hosts,
            [
                {"segment_id": number, "host_id": row.id, **values_of(shares[row.key], HostShare)}
                for row in rows
            ],
        )
    return number


def segment_by_name(tx: Transaction, name: str) -> SegmentRow | None:
    """Return the segment of this name, whatever its state."""
    return tx.row(SegmentRow, sa.select(segments).where(segments.c.name == name))


def segment_by_key(tx: Transaction, key: str) -> SegmentRow | None:
    """Return the segment under a key of the store, whatever its state."""
    return tx.row(SegmentRow, sa.select(segments).where(segments.c.key == key))


@frozen
class FileFilter:
    """Filter of public files. Times: from is inclusive, to is not; None: all."""

    name: str = ""
    agent_ids: tuple[int, ...] = ()
    arrival_id: int | None = None
    captured_from_ms: int | None = None
    captured_to_ms: int | None = None
    made_from_ms: int | None = None
    made_to_ms: int | None = None


def public_segments(
    tx: Transaction, asked: FileFilter, limit: int, offset: int = 0, after_id: int = 0
) -> tuple[int, list[SegmentRow]]:
    """Return how many public files fit, and some of them in the order of their making.

    after_id: only those made behind this one. What is withdrawn meanwhile shifts an offset, and
    not that.
    """
    wanted = [segments.c.kind == "public", segments.c.state == "current"]
    if asked.name:
        wanted.append(segments.c.name == asked.name)
    if asked.agent_ids:
        wanted.append(segments.c.agent_id.in_(asked.agent_ids))
    if asked.arrival_id is not None:
        wanted.append(segments.c.arrival_id == asked.arrival_id)
    for column, least, most in (
        (segments.c.first_ms, asked.captured_from_ms, asked.captured_to_ms),
        (segments.c.made_ms, asked.made_from_ms, asked.made_to_ms),
    ):
        if least is not None:
            wanted.append(column >= least)
        if most is not None:
            wanted.append(column < most)
    query = sa.select(segments).where(*wanted, segments.c.id > after_id).order_by(segments.c.id)
    page = tx.rows(SegmentRow, query.limit(limit).offset(offset))
    return tx.count(segments, *wanted), page


def segments_of_arrival(tx: Transaction, arrival_id: int) -> list[SegmentRow]:
    """Return the segments that were made of an arrival, oldest first."""
    query = sa.select(segments).where(segments.c.arrival_id == arrival_id).order_by(segments.c.id)
    return tx.rows(SegmentRow, query)


def add_change(tx: Transaction, now_ms: int, what: str, changed: Sequence[tuple[int, str]]) -> None:
    """Note what happened to some (segment, name), for who follows."""
    rows: list[dict[str, Any]] = [
        {"at_ms": now_ms, "what": what, "segment_id": number, "name": name}
        for number, name in changed
    ]
    tx.insert(archive_changes, rows)


def excluded_keys(tx: Transaction, keys: Collection[str] | None = None) -> set[str]:
    """Return the keys of excluded hosts: all, or those among some."""
    query = sa.select(hosts.c.key).where(hosts.c.excluded_ms.is_not(None))
    return set(tx.values(query) if keys is None else tx.values_among(query, hosts.c.key, keys))

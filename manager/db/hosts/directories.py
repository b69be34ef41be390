"""The directories of big hosts: what agents measured of them, and by which they could be split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import directory_sums, host_sums, hosts, units
from manager.db.transaction import Transaction
from manager.distance.line_sums import COUNTS, DirectoryLineSums
from shared.frozen import frozen, values_of

__all__ = ["DirectoryRow", "add", "big_hosts", "crawled_in", "largest", "newest_round"]

MOST: Final = 4_000
"""Of one host, agent and round. What further logs name counts for the directory around it."""

BIG_REQUESTS: Final = 1_000
BIG_HOSTS_MOST: Final = 10_000


@frozen
class DirectoryRow(DirectoryLineSums):
    """Sums of an agent and round for the pages of one directory, without named subdirectories."""

    agent_id: int
    host_id: int


def big_hosts(tx: Transaction, agent_id: int, round_number: int) -> list[str]:
    """Return hosts of which an agent logged so much in a round that they are big, largest first."""
    return tx.values(
        sa.select(hosts.c.key)
        .join(units, units.c.host_id == hosts.c.id)
        .join(host_sums, host_sums.c.unit_id == units.c.id)
        .where(
            host_sums.c.round == round_number,
            host_sums.c.kind == "crawl",
            host_sums.c.agent_id == agent_id,
            host_sums.c.requests >= BIG_REQUESTS,
        )
        .group_by(hosts.c.key)
        .order_by(sa.func.max(host_sums.c.requests).desc())
        .limit(BIG_HOSTS_MOST)
    )


def add(tx: Transaction, agent_id: int, rows: Sequence[DirectoryRow]) -> None:
    """Add what a log of an agent says to what earlier logs said. Keys of one call differ."""
    of_host: dict[tuple[int, int, str], list[DirectoryRow]] = defaultdict(list)
    for row in rows:
        of_host[row.host_id, row.round, row.kind].append(row)
    together: dict[tuple[int, int, str, str], DirectoryRow] = {}
    for (host_id, number, kind), named in of_host.items():
        known = set(
            tx.values(
                sa.select(directory_sums.c.path).where(
                    directory_sums.c.agent_id == agent_id,
                    directory_sums.c.host_id == host_id,
                    directory_sums.c.round == number,
                    directory_sums.c.kind == kind,
                )
            )
        )
        for row in sorted(named, key=lambda one: (len(one.path), one.path)):
            path = _kept(row.path, known)
            known.add(path)
            key = (host_id, number, kind, path)
            before = together.get(key)
            together[key] = replace(row, path=path) if before is None else _sum(before, row)
    tx.upsert(
        directory_sums,
        [values_of(row) for row in together.values()],
        ["agent_id", "host_id", "path", "round", "kind"],
        add=COUNTS,
    )


def _kept(path: str, known: set[str]) -> str:
    """Return a directory, or where there are too many the longest known one around it."""
    while path not in known and len(known) >= MOST and path != "/":
        path = path[: path.rindex("/", 0, len(path) - 1) + 1]
    return path


def _sum(one: DirectoryRow, other: DirectoryRow) -> DirectoryRow:
    added: dict[str, Any] = {name: getattr(one, name) + getattr(other, name) for name in COUNTS}
    return replace(one, **added)


def largest(tx: Transaction, host_id: int, limit: int | None) -> list[DirectoryRow]:
    """Return what is known of a host's directories, of the newest round and the largest first.

    limit: so many; None: all.
    """
    return tx.rows(
        DirectoryRow,
        sa.select(directory_sums)
        .where(directory_sums.c.host_id == host_id)
        .order_by(directory_sums.c.round.desc(), directory_sums.c.response_bytes.desc())
        .limit(limit),
    )


def newest_round(tx: Transaction, host_id: int) -> int | None:
    """Return the newest round in which the directories of a host were crawled, or None."""
    newest = sa.select(sa.func.max(directory_sums.c.round)).where(
        directory_sums.c.host_id == host_id, directory_sums.c.kind == "crawl"
    )
    found = tx.value(newest)
    return None if found is None else int(found)


def crawled_in(tx: Transaction, host_id: int, round_number: int) -> list[DirectoryRow]:
    """Return the crawled directories of a host in a round, by each agent."""
    return tx.rows(
        DirectoryRow,
        sa.select(directory_sums)
        .where(
            directory_sums.c.host_id == host_id,
            directory_sums.c.round == round_number,
            directory_sums.c.kind == "crawl",
        )
        .order_by(directory_sums.c.path, directory_sums.c.agent_id),
    )

"""States of files by the rows that name them: kept, ended, or none."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from manager.db.tables import archive_jobs, releases, reports, segments, transfers
from manager.db.transaction import Transaction

__all__ = [
    "FileState",
    "states_of_bundles",
    "states_of_keys",
    "states_of_logs",
    "states_of_results",
    "states_of_uploads",
]


class FileState(StrEnum):
    """The state of a file by its rows."""

    NAMED = "named"  # a row needs it
    ENDED = "ended"  # rows name it, and none needs it: it was withdrawn, or has expired


def states_of_keys(tx: Transaction, keys: Collection[str]) -> dict[str, FileState]:
    """Return what rows say of segments by their keys; of which they say nothing is left out."""
    return _states(tx, segments.c.key, keys, segments.c.state != "gone")


def states_of_uploads(tx: Transaction, keys: Collection[str]) -> dict[str, FileState]:
    """Return what rows say of uploads by their keys."""
    needed = transfers.c.state.in_(("receiving", "received"))
    return _states(tx, transfers.c.key, keys, needed)


def states_of_results(tx: Transaction, numbers: Collection[int]) -> dict[int, FileState]:
    """Return what rows say of the results of jobs by their numbers."""
    needed = archive_jobs.c.state.in_(("queued", "running", "complete"))
    return _states(tx, archive_jobs.c.id, numbers, needed)


def states_of_bundles(tx: Transaction, digests: Collection[str]) -> dict[str, FileState]:
    """Return what rows say of files of releases by their digests."""
    return _states(tx, releases.c.sha256, digests, releases.c.revoked_ms.is_(None))


def states_of_logs(
    tx: Transaction, logs: Collection[tuple[int, str]]
) -> dict[tuple[int, str], FileState]:
    """Return what rows say of crawl logs by agent and digest; lines that were forgotten ended."""
    digests: dict[int, list[str]] = {}
    for agent_id, sha256 in logs:
        digests.setdefault(agent_id, []).append(sha256)
    found: dict[tuple[int, str], FileState] = {}
    for agent_id, ours in digests.items():
        of_agent = sa.and_(reports.c.agent_id == agent_id, reports.c.kind == "log")
        states = _states(tx, reports.c.sha256, ours, reports.c.path != "", of_agent)
        found |= {(agent_id, sha256): state for sha256, state in states.items()}
    return found


def _states(
    tx: Transaction,
    column: sa.ColumnElement[Any],
    names: Iterable[Any],
    needed: Any,
    which: sa.ColumnElement[bool] | None = None,
) -> dict[Any, FileState]:
    query = sa.select(column, needed).where(sa.true() if which is None else which)
    found: dict[Any, FileState] = {}
    for name, is_needed in tx.among(query, column, names):
        if is_needed or name not in found:
            found[name] = FileState.NAMED if is_needed else FileState.ENDED
    return found

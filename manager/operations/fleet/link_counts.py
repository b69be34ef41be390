"""Counts of links by kind, taken from syncs.

An agent counts since its process started. What it has counted since its last sync belongs to the
round whose list it holds; a process that ends unexpectedly takes what it counted since with it.

Invariant: a sync that comes twice adds nothing the second time. Only kinds that this version knows
have a row; those of a newer agent count as `unknown`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from manager.db.engine import Transaction
from manager.db.fleet.agents import AgentRow
from manager.db.fleet.link_counts import LinkKindRow, add_link_kinds
from shared.wire.link_kinds import LINK_KINDS
from shared.wire.sync import SyncRequest

__all__ = ["record_link_kinds"]

UNKNOWN: Final = "unknown"

_KNOWN: Final = frozenset(LINK_KINDS)

Counted = tuple[int, int, int]  # links, pages, missing


def record_link_kinds(tx: Transaction, told: Sequence[tuple[AgentRow, SyncRequest]]) -> None:
    """Add the counts of agents since their last syncs. Rows: from before these syncs."""
    rows = [new for row, request in told for new in _new_counts(row, request)]
    if rows:
        add_link_kinds(tx, rows)


def _new_counts(row: AgentRow, request: SyncRequest) -> Iterator[LinkKindRow]:
    kinds = request.counters.kinds
    if not kinds or not request.round_held:
        return
    before: Mapping[str, Counted] = {}
    if row.boot_id == request.boot_id:
        before = _summed(
            (one.get("kind", ""), one.get("links", 0), one.get("pages", 0), one.get("missing", 0))
            for one in json.loads(row.counters or "{}").get("kinds", [])
        )
    now = _summed((one.kind, one.links, one.pages, one.missing) for one in kinds)
    for kind, counts in now.items():
        known = before.get(kind, (0, 0, 0))
        links, pages, missing = (max(0, new - old) for new, old in zip(counts, known, strict=True))
        if links or pages or missing:
            yield LinkKindRow(request.round_held, row.id, kind, links, pages, missing)


def _summed(counted: Iterator[tuple[str, int, int, int]]) -> dict[str, Counted]:
    sums: dict[str, Counted] = {}
    for kind, *counts in counted:
        name = kind if kind in _KNOWN else UNKNOWN
        links, pages, missing = sums.get(name, (0, 0, 0))
        sums[name] = (links + counts[0], pages + counts[1], missing + counts[2])
    return sums

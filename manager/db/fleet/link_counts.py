"""Counts of links by kind, round and agent."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from manager.db.tables import round_link_kinds
from manager.db.transaction import Transaction
from shared.frozen import frozen, values_of

__all__ = ["LinkKindRow", "LinkKindSum", "add_link_kinds", "sums_of_round"]


@frozen
class LinkKindRow:
    """New counts of one kind, of an agent in a round: to add to those that are stored."""

    round: int
    agent_id: int
    kind: str
    links: int
    pages: int
    missing: int


@frozen
class LinkKindSum:
    """One kind of links: URLs that it led to first, their pages (2xx), and 404s and 410s."""

    kind: str
    links: int
    pages: int
    missing: int


def add_link_kinds(tx: Transaction, rows: Sequence[LinkKindRow]) -> None:
    """Add to what is written down."""
    key, sums = ["round", "agent_id", "kind"], ["links", "pages", "missing"]
    tx.upsert(round_link_kinds, [values_of(row) for row in rows], key, add=sums)


def sums_of_round(tx: Transaction, number: int) -> list[LinkKindSum]:
    """Return what each kind brought to all agents of a round, the most URLs first."""
    table = round_link_kinds
    links, pages, missing = (
        sa.cast(sa.func.sum(column), sa.BigInteger()).label(column.name)
        for column in (table.c.links, table.c.pages, table.c.missing)
    )
    return tx.rows(
        LinkKindSum,
        sa.select(table.c.kind, links, pages, missing)
        .where(table.c.round == number)
        .group_by(table.c.kind)
        .order_by(links.desc(), table.c.kind),
    )

"""Scope of the crawl: its versions, and the units that it excludes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import sqlalchemy as sa

from manager.db.tables import crawl_scopes, hosts, units
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "ScopeRow",
    "ScopedUnit",
    "add_version",
    "close_units",
    "outside_count",
    "reopen_units",
    "scope_in_force",
    "set_applied",
    "units_after",
    "units_to_scope",
]


@frozen
class ScopeRow:
    """A version of the scope. applied_ms: None: some units were not opened or closed by it yet."""

    id: int
    rules: str
    reason: str
    set_by: str
    set_ms: int
    applied_to: int
    applied_ms: int | None


@frozen
class ScopedUnit:
    """A unit as the scope sees it. scope_rule: by which it is outside; empty: inside."""

    id: int
    key: str
    path: str
    state: str
    scope_rule: str
    host_id: int
    group_id: int | None
    excluded_ms: int | None
    countries: str | None

    @property
    def known_countries(self) -> tuple[str, ...] | None:
        """Return the codes of the countries of its host's addresses; None: not known."""
        return None if self.countries is None else tuple(self.countries.split())


_UNITS = (
    sa.select(
        units.c.id,
        units.c.key,
        units.c.path,
        units.c.state,
        units.c.scope_rule,
        units.c.host_id,
        hosts.c.group_id,
        hosts.c.excluded_ms,
        hosts.c.countries,
    )
    .join(hosts, hosts.c.id == units.c.host_id)
    .where(units.c.merged_ms.is_(None))
)


def scope_in_force(tx: Transaction) -> ScopeRow | None:
    """Return the newest version."""
    newest = sa.select(crawl_scopes).order_by(crawl_scopes.c.id.desc()).limit(1)
    return tx.row(ScopeRow, newest)


def add_version(tx: Transaction, rules: str, reason: str, set_by: str, now_ms: int) -> int:
    """Put another version in force; return its number."""
    return tx.add(
        crawl_scopes, rules=rules, reason=reason, set_by=set_by, set_ms=now_ms, applied_to=0
    )


def set_applied(tx: Transaction, number: int, applied_to: int, applied_ms: int | None) -> None:
    """Write down up to which unit a version was applied; applied_ms: None: others are left."""
    tx.execute(
        crawl_scopes.update()
        .where(crawl_scopes.c.id == number)
        .values(applied_to=applied_to, applied_ms=applied_ms)
    )


def units_after(tx: Transaction, after: int, limit: int) -> list[ScopedUnit]:
    """Return units behind a number, in the order of their numbers."""
    query = _UNITS.where(units.c.id > after).order_by(units.c.id).limit(limit)
    return tx.rows(ScopedUnit, query)


def units_to_scope(tx: Transaction, unit_ids: Collection[int]) -> list[ScopedUnit]:
    """Return some units, by number."""
    return tx.rows_among(ScopedUnit, _UNITS, units.c.id, unit_ids)


def outside_count(tx: Transaction) -> int:
    """Return how many units are outside."""
    return tx.count(units, units.c.scope_rule != "")


def close_units(tx: Transaction, closing: Mapping[str, Collection[int]]) -> None:
    """Take units out of the crawl, by the rule that excludes them; no name of them is looked up."""
    for rule, unit_ids in closing.items():
        excluding = units.update().values(state="excluded", scope_rule=rule)
        tx.changed_among(excluding, units.c.id, unit_ids)
        whole = sa.select(units.c.host_id).where(units.c.path == "/")
        quiet = hosts.update().values(resolve_after_ms=None)
        tx.changed_among(quiet, hosts.c.id, tx.values_among(whole, units.c.id, unit_ids))


def reopen_units(tx: Transaction, opening: Mapping[str, Collection[int]], now_ms: int) -> None:
    """Take units in again, by their next state; those of an excluded host stay excluded."""
    for state, unit_ids in opening.items():
        tx.changed_among(units.update().values(state=state, scope_rule=""), units.c.id, unit_ids)
        whole = sa.select(units.c.host_id).where(units.c.path == "/")
        due = hosts.update().values(resolve_after_ms=now_ms)
        tx.changed_among(due, hosts.c.id, tx.values_among(whole, units.c.id, unit_ids))

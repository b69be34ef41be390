"""Pins and bans: which unit people gave to one agent, which host an agent never gets.

What follows from them is left to operations; here they are kept and found.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from manager.db.fleet.agents import TAKES_PART
from manager.db.group_lookup import ATOM, groups_of_units
from manager.db.tables import agents, bans, hosts, pins, units
from manager.db.transaction import Transaction, chunks
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "Ban",
    "BanRow",
    "PinRow",
    "any_pin_or_ban",
    "ban",
    "bans_of_host",
    "bans_of_hosts",
    "bans_page",
    "blocked_groups",
    "count_pins",
    "lift",
    "not_banned",
    "pin",
    "pins_among",
    "pins_in_groups",
    "pins_of_agent",
    "pins_of_units",
    "pins_page",
    "unpin",
]


@frozen
class PinRow:
    """A unit that people gave to one agent. state: of the unit. atom: what must have one owner with
    it (`group_lookup`). merged_ms: when the directory stopped being a unit."""

    unit_id: int
    unit: str
    path: str
    state: str
    merged_ms: int | None
    group_id: int | None
    atom: int | None
    agent_id: int
    reason: Message | None
    made_by: str
    made_ms: int


@frozen
class BanRow:
    """A ban by the numbers of its host, group and agent."""

    host_id: int
    host: str
    group_id: int | None
    agent_id: int


@frozen
class Ban:
    """A host that an agent never gets."""

    host: str
    agent: str
    reason: str
    made_by: str
    made_ms: int


_PINS = (
    sa.select(
        pins.c.unit_id,
        units.c.key.label("unit"),
        units.c.path,
        units.c.state,
        units.c.merged_ms,
        hosts.c.group_id,
        ATOM.label("atom"),
        pins.c.agent_id,
        pins.c.reason,
        pins.c.made_by,
        pins.c.made_ms,
    )
    .join(units, units.c.id == pins.c.unit_id)
    .join(hosts, hosts.c.id == units.c.host_id)
)
_BANS = sa.select(
    bans.c.host_id, hosts.c.key.label("host"), hosts.c.group_id, bans.c.agent_id
).join(hosts, hosts.c.id == bans.c.host_id)
_BANS_SHOWN = (
    sa.select(
        hosts.c.key.label("host"),
        agents.c.name.label("agent"),
        bans.c.reason,
        bans.c.made_by,
        bans.c.made_ms,
    )
    .join(hosts, hosts.c.id == bans.c.host_id)
    .join(agents, agents.c.id == bans.c.agent_id)
)


def pin(tx: Transaction, rows: Sequence[dict[str, Any]]) -> None:
    """Keep pins; one of the same unit is written over."""
    tx.upsert(pins, rows, key=["unit_id"])


def unpin(tx: Transaction, unit_ids: Collection[int]) -> int:
    """Forget the pins of units; return how many there were."""
    return tx.changed_among(pins.delete(), pins.c.unit_id, unit_ids)


def pins_page(tx: Transaction, agent_id: int | None, limit: int, offset: int) -> list[PinRow]:
    """Return a page of the pins, of one agent or of all, in the order of domains."""
    query = _PINS.order_by(hosts.c.reversed_key, units.c.path).limit(limit).offset(offset)
    if agent_id is not None:
        query = query.where(pins.c.agent_id == agent_id)
    return tx.rows(PinRow, query)


def count_pins(tx: Transaction, agent_id: int | None = None) -> int:
    """Return how many pins there are, of one agent or of all."""
    return tx.count(pins) if agent_id is None else tx.count(pins, pins.c.agent_id == agent_id)


def any_pin_or_ban(tx: Transaction) -> bool:
    """Return whether there is any; joined with millions of hosts, none is dear to find."""
    return bool(tx.value(sa.select(sa.or_(sa.exists(pins.select()), sa.exists(bans.select())))))


def pins_among(tx: Transaction, group_ids: Collection[int] | None = None) -> list[PinRow]:
    """Return the pins in some groups, or all; the oldest first."""
    query = _PINS.order_by(pins.c.made_ms, pins.c.unit_id)
    if group_ids is None:
        return tx.rows(PinRow, query)
    return tx.rows_among(PinRow, query, hosts.c.group_id, group_ids)


def pins_of_units(tx: Transaction, unit_ids: Collection[int]) -> list[PinRow]:
    """Return the pins of some units, by unit."""
    return tx.rows_among(PinRow, _PINS.order_by(pins.c.unit_id), pins.c.unit_id, unit_ids)


def pins_of_agent(tx: Transaction, agent_id: int) -> list[PinRow]:
    """Return the pins of an agent, by unit."""
    return tx.rows(PinRow, _PINS.where(pins.c.agent_id == agent_id).order_by(pins.c.unit_id))


def pins_in_groups(tx: Transaction, unit_ids: Collection[int]) -> list[PinRow]:
    """Return the pins of some units, and of units at their addresses; oldest first."""
    if _is_shorter(tx, pins, unit_ids):
        there = pins_among(tx)
        if not there:
            return []
        mine, groups = set(unit_ids), set(groups_of_units(tx, unit_ids).values()) - {None}
        return [row for row in there if row.unit_id in mine or row.group_id in groups]
    found: dict[int, PinRow] = {}
    for part in chunks(unit_ids):
        own = sa.select(hosts.c.group_id).join(units, units.c.host_id == hosts.c.id)
        wanted = sa.or_(
            pins.c.unit_id.in_(part), hosts.c.group_id.in_(own.where(units.c.id.in_(part)))
        )
        found.update({row.unit_id: row for row in tx.rows(PinRow, _PINS.where(wanted))})
    return sorted(found.values(), key=lambda row: (row.made_ms, row.unit_id))


def ban(tx: Transaction, row: dict[str, Any]) -> None:
    """Keep a ban; the same again gets the new reason."""
    tx.upsert(bans, [row], key=["host_id", "agent_id"])


def lift(tx: Transaction, host_id: int, agent_id: int) -> int:
    """Forget a ban; return how many there were."""
    return tx.changed(bans.delete().where(bans.c.host_id == host_id, bans.c.agent_id == agent_id))


def bans_page(tx: Transaction, agent_id: int | None, limit: int, offset: int) -> list[Ban]:
    """Return a page of the bans, of one agent or of all, in the order of domains."""
    query = _BANS_SHOWN.order_by(hosts.c.reversed_key, bans.c.agent_id)
    query = query.limit(limit).offset(offset)
    if agent_id is not None:
        query = query.where(bans.c.agent_id == agent_id)
    return tx.rows(Ban, query)


def bans_of_host(tx: Transaction, host_id: int) -> list[Ban]:
    """Return the bans on a host, for people."""
    return tx.rows(Ban, _BANS_SHOWN.where(bans.c.host_id == host_id))


def bans_of_hosts(tx: Transaction, group_ids: Collection[int] | None = None) -> list[BanRow]:
    """Return the bans on hosts of some groups, or all there are."""
    if group_ids is None:
        return tx.rows(BanRow, _BANS)
    if group_ids and _is_shorter(tx, bans, group_ids):
        wanted = set(group_ids)
        return [row for row in tx.rows(BanRow, _BANS) if row.group_id in wanted]
    return tx.rows_among(BanRow, _BANS, hosts.c.group_id, group_ids)


def _is_shorter(tx: Transaction, table: sa.Table, numbers: Collection[int]) -> bool:
    """Return whether a table is to be read whole rather than asked for so many numbers: a plan may
    move a million units, and people decided on a few."""
    rows = sa.select(sa.literal(1)).select_from(table).limit(len(numbers) + 1)
    return tx.count(rows.subquery()) <= len(numbers)


def not_banned(
    agent: sa.ColumnElement[int] | int, host: sa.ColumnElement[int]
) -> sa.ColumnElement[bool]:
    """Return the condition that an agent may have a host."""
    return ~sa.exists().where(bans.c.host_id == host, bans.c.agent_id == agent)


def blocked_groups(taking: int) -> sa.Select[Any]:
    """Return the query for groups that none of the agents that take part may have.

    taking: how many agents take part.
    """
    return (
        sa.select(hosts.c.group_id)
        .select_from(bans.join(hosts, hosts.c.id == bans.c.host_id))
        .join(agents, agents.c.id == bans.c.agent_id)
        .where(*TAKES_PART, hosts.c.group_id.is_not(None))
        .group_by(hosts.c.group_id)
        .having(sa.func.count(bans.c.agent_id.distinct()) >= taking)
    )

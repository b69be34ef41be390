"""Preconditions of actions, as codes: what would be refused now, before anybody asks for it.

Each function asks what the action itself asks, reads only, and answers with a code or with the
refusal that the action would make. Who acts all the same is refused by the action: a state may
change between the two.
"""

from __future__ import annotations

from typing import Final, Literal

from manager.db.engine import Database
from manager.db.hosts import hosts
from manager.db.ownership import pins
from manager.db.people import users
from manager.db.rounds import rounds
from manager.errors import ConflictError
from manager.operations.hosts.idle_hosts import check_idle, host_and_units
from manager.operations.hosts.splits.pieces import takers_of
from manager.operations.ownership.reassignment import members
from manager.operations.policy import Policy

__all__ = [
    "ObstacleCode",
    "is_last_admin",
    "merge_obstacle",
    "plan_obstacle",
    "round_obstacle",
    "split_obstacle",
]

ObstacleCode = Literal["", "round-open", "no-agent", "no-host"]
"""Why no round or plan can be made; empty: it can."""
IN_ROUND: Final = ("placed", "probing")
IDLE: Final = ("placed", "probing", "idle")


def round_obstacle(db: Database) -> ObstacleCode:
    """Return why no round can begin."""
    with db.read() as tx:
        current = rounds.open_round(tx)
        if current is not None and current.state == "probing":
            return "round-open"
        if not members(tx):
            return "no-agent"
        return "" if hosts.any_in_state(tx, IDLE) else "no-host"


def plan_obstacle(db: Database) -> ObstacleCode:
    """Return why no plan can be made."""
    with db.read() as tx:
        if not members(tx):
            return "no-agent"
        states = IN_ROUND if rounds.open_round(tx) is not None else ("placed", "idle")
        return "" if hosts.any_in_state(tx, states) else "no-host"


def split_obstacle(db: Database, key: str, policy: Policy, now_ms: int) -> ConflictError | None:
    """Return why a host cannot be split among agents now. Raises NotFoundError, UrlError."""
    with db.read() as tx:
        host, units = host_and_units(tx, key)
        try:
            check_idle(tx, host, units, policy, now_ms, alone=True)
            takers_of(tx, host, units[0].id)
        except ConflictError as error:
            return error
    return None


def merge_obstacle(db: Database, key: str, policy: Policy, now_ms: int) -> ConflictError | None:
    """Return why the pieces of a host cannot become one now. Raises NotFoundError, UrlError."""
    with db.read() as tx:
        host, units = host_and_units(tx, key)
        below = [unit.id for unit in units if unit.path != "/"]
        try:
            check_idle(tx, host, units, policy, now_ms)
        except ConflictError as error:
            return error
        pinned = [pin.unit for pin in pins.pins_in_groups(tx, below) if pin.unit_id in below]
        if pinned:
            return ConflictError("hosts.pinned_below", unit=pinned[0])
    return None


def is_last_admin(db: Database, name: str) -> bool:
    """Return whether this user is the only one that may act as administrator."""
    with db.read() as tx:
        found = users.all_users(tx)
    return {one.name for one in found if one.role == "admin" and not one.disabled_ms} == {name}

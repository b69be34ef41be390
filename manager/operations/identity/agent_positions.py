"""Positions of agents on the map: stated by people, never guessed from addresses."""

from __future__ import annotations

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import Actor, note
from shared.wire.positions import Position

__all__ = ["place", "position_as_shown", "set_position"]


def position_as_shown(latitude: float | None, longitude: float | None) -> str:
    """Return a position as a form repeats it, to detect a later change; empty: unknown."""
    return "" if latitude is None or longitude is None else f"{latitude} {longitude}"


def set_position(
    db: Database,
    agent: str,
    position: Position | None,
    actor: Actor,
    now_ms: int,
    shown: str | None = None,
) -> None:
    """Set the position of an agent; None: unknown.

    shown: what the person saw, by `position_as_shown`. Raises NotFoundError, ConflictError
    (another person changed it meanwhile).
    """
    with db.write() as tx:
        row = agents.by_name(tx, agent)
        if row is None:
            raise NotFoundError("general.unknown_agent", agent=agent[:80], see="agents")
        if shown not in (None, position_as_shown(row.latitude, row.longitude)):
            raise ConflictError("general.changed_meanwhile", names=(agent,))
        place(tx, row.id, agent, position, actor, now_ms)


def place(
    tx: Transaction, agent_id: int, name: str, position: Position | None, actor: Actor, now_ms: int
) -> None:
    """Set the position of an agent, within a transaction."""
    latitude = None if position is None else position.latitude
    longitude = None if position is None else position.longitude
    agents.update(tx, agent_id, latitude=latitude, longitude=longitude)
    note(tx, now_ms, actor, "agent.set-position", name, latitude=latitude, longitude=longitude)

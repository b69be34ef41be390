"""Where agents are, for the map: said by people, never guessed from addresses."""

from __future__ import annotations

from manager.db import agents
from manager.db.engine import Database, Transaction
from manager.errors import NotFoundError
from manager.operations.actor import Actor, note
from shared.wire.positions import Position

__all__ = ["place", "set_position"]


def set_position(
    db: Database, agent: str, position: Position | None, actor: Actor, now_ms: int
) -> None:
    """Say where an agent is; None: nobody knows. Raises NotFoundError."""
    with db.write() as tx:
        row = agents.by_name(tx, agent)
        if row is None:
            raise NotFoundError(f"agent {agent[:80]!a}: there is none", see="agents")
        place(tx, row.id, agent, position, actor, now_ms)


def place(
    tx: Transaction, agent_id: int, name: str, position: Position | None, actor: Actor, now_ms: int
) -> None:
    """Say where an agent is, in a transaction that goes on."""
    latitude = None if position is None else position.latitude
    longitude = None if position is None else position.longitude
    agents.update(tx, agent_id, latitude=latitude, longitude=longitude)
    note(tx, now_ms, actor, "agent.position", name, latitude=latitude, longitude=longitude)

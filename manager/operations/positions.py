"""Where agents are, for the map: said by people, never guessed from addresses."""

from __future__ import annotations

import math
from dataclasses import dataclass

from manager.db import agents
from manager.db.engine import Database
from manager.errors import NotFoundError
from manager.operations.actor import Actor, note
from shared.errors import FormatError

__all__ = ["Position", "read_position", "set_position"]


@dataclass(frozen=True, slots=True)
class Position:
    """Degrees, north and east positive."""

    latitude: float
    longitude: float


def read_position(latitude: float, longitude: float) -> Position:
    """Return a position to a hundredth of a degree, about a kilometre. Raises FormatError."""
    for name, value, most in (("latitude", latitude, 90), ("longitude", longitude, 180)):
        if not (math.isfinite(value) and -most <= value <= most):
            raise FormatError(
                f"{name} = {value:g}: must be -{most} to {most} degrees, as 35.03 and 135.78 of "
                "Kyoto"
            )
    return Position(round(latitude, 2), round(longitude, 2))


def set_position(
    db: Database, agent: str, position: Position | None, actor: Actor, now_ms: int
) -> None:
    """Say where an agent is; None: nobody knows. Raises NotFoundError."""
    latitude = None if position is None else position.latitude
    longitude = None if position is None else position.longitude
    with db.write() as tx:
        row = agents.by_name(tx, agent)
        if row is None:
            raise NotFoundError(f"agent {agent[:80]!a}: there is none; see `prsm agents`")
        agents.update(tx, row.id, latitude=latitude, longitude=longitude)
        note(tx, now_ms, actor, "agent.position", agent, latitude=latitude, longitude=longitude)

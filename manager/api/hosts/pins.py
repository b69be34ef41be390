"""Moves of units, pins of units to an agent, bans of agents from hosts."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel

from manager.api.access import Door, Operator, Viewer
from manager.api.routes import Limit, Offset, subject_router
from manager.intake.messages.large_messages import AgentName, NewPins, Reason, Unpin, Url
from manager.operations.hosts import bans
from manager.operations.hosts.bans import Ban
from manager.operations.ownership import pins, unit_moves
from manager.operations.ownership.pins import Pinned, PinPage

__all__ = ["router"]

router: Final = subject_router("hosts", "/hosts")


class NewPin(BaseModel):
    """A host, or a directory that is a unit, and the agent that is to own it."""

    unit: Url
    agent: AgentName
    reason: Reason = ""


class NewMove(BaseModel):
    """A host, or a directory that is a unit, and the agent that gets it now."""

    unit: Url
    agent: AgentName
    reason: Reason = ""


class Unpinned(BaseModel):
    """unpinned: how many were pinned."""

    unpinned: int


class NewBan(BaseModel):
    """A host, and the agent that never gets it."""

    host: Url
    agent: AgentName
    reason: Reason = ""


class Lift(BaseModel):
    """A host, and the agent that may have it again."""

    host: Url
    agent: AgentName


class Moved(BaseModel):
    """moved: units that changed hands at once."""

    moved: int


class Lifted(BaseModel):
    """lifted: there was a ban."""

    lifted: bool


@router.get("/pins")
def list_pins(
    door: Door, _: Viewer, agent: str = "", limit: Limit = 100, offset: Offset = 0
) -> PinPage:
    """List pins, of one agent or of all, with why those that do not hold now do not."""
    return pins.list_pins(door.db, agent=agent, limit=limit, offset=offset)


@router.post("/move")
def move(door: Door, actor: Operator, asked: NewMove) -> Moved:
    """Move a unit and all units at its address to an agent now; the next plan may move it again."""
    moved = unit_moves.move_unit(
        door.db, asked.unit, asked.agent, asked.reason, actor, door.now_ms()
    )
    return Moved(moved=moved)


@router.post("/pin")
def pin(door: Door, actor: Operator, asked: NewPin) -> Pinned:
    """Pin a unit to an agent until the pin is removed."""
    return pins.pin_unit(door.db, asked.unit, asked.agent, asked.reason, actor, door.now_ms())


@router.post("/pin-many")
def pin_many(door: Door, actor: Operator, asked: NewPins) -> Pinned:
    """Move many units to an agent; each impossible move is refused singly."""
    return pins.pin_units(door.db, asked.units, asked.agent, asked.reason, actor, door.now_ms())


@router.post("/unpin")
def unpin(door: Door, actor: Operator, asked: Unpin) -> Unpinned:
    """Lift pins: plans may move these units again."""
    unpinned = pins.unpin_units(door.db, asked.units, actor, door.now_ms(), asked.reason)
    return Unpinned(unpinned=unpinned)


@router.get("/bans")
def list_bans(
    door: Door, _: Viewer, agent: str = "", limit: Limit = 100, offset: Offset = 0
) -> list[Ban]:
    """List bans, of one agent or of all."""
    return bans.list_bans(door.db, agent=agent, limit=limit, offset=offset)


@router.post("/ban")
def ban(door: Door, actor: Operator, asked: NewBan) -> Moved:
    """Ban an agent from a host and from its address."""
    moved = bans.ban_host(
        door.db, asked.host, asked.agent, asked.reason, actor, door.now_ms(), door.policy
    )
    return Moved(moved=moved)


@router.post("/lift-ban")
def lift_ban(door: Door, actor: Operator, asked: Lift) -> Lifted:
    """Lift a ban."""
    lifted = bans.lift_ban(door.db, asked.host, asked.agent, actor, door.now_ms())
    return Lifted(lifted=lifted)

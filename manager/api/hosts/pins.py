"""Moves of units, pins of units to an agent, bans of agents from hosts."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel

from manager.api.access import Operator, Services, Viewer
from manager.api.routes import Limit, Offset, subject_router
from manager.intake.messages.message_models import AgentName, NewPins, Reason, Unpin, Url
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
    services: Services, _: Viewer, agent: str = "", limit: Limit = 100, offset: Offset = 0
) -> PinPage:
    """List pins, of one agent or of all, with why those that do not hold now do not."""
    return pins.list_pins(services.db, agent=agent, limit=limit, offset=offset)


@router.post("/move")
def move(services: Services, actor: Operator, asked: NewMove) -> Moved:
    """Move a unit and all units at its address to an agent now; the next plan may move it again."""
    moved = unit_moves.move_unit(
        services.db, asked.unit, asked.agent, asked.reason, actor, services.now_ms()
    )
    return Moved(moved=moved)


@router.post("/pin")
def pin(services: Services, actor: Operator, asked: NewPin) -> Pinned:
    """Pin a unit to an agent until the pin is removed."""
    return pins.pin_unit(
        services.db, asked.unit, asked.agent, asked.reason, actor, services.now_ms()
    )


@router.post("/pin-many")
def pin_many(services: Services, actor: Operator, asked: NewPins) -> Pinned:
    """Move many units to an agent; each impossible move is refused singly."""
    return pins.pin_units(
        services.db, asked.units, asked.agent, asked.reason, actor, services.now_ms()
    )


@router.post("/unpin")
def unpin(services: Services, actor: Operator, asked: Unpin) -> Unpinned:
    """Lift pins: plans may move these units again."""
    unpinned = pins.unpin_units(services.db, asked.units, actor, services.now_ms(), asked.reason)
    return Unpinned(unpinned=unpinned)


@router.get("/bans")
def list_bans(
    services: Services, _: Viewer, agent: str = "", limit: Limit = 100, offset: Offset = 0
) -> list[Ban]:
    """List bans, of one agent or of all."""
    return bans.list_bans(services.db, agent=agent, limit=limit, offset=offset)


@router.post("/ban")
def ban(services: Services, actor: Operator, asked: NewBan) -> Moved:
    """Ban an agent from a host and from its address."""
    moved = bans.ban_host(
        services.db,
        asked.host,
        asked.agent,
        asked.reason,
        actor,
        services.now_ms(),
        services.policy,
    )
    return Moved(moved=moved)


@router.post("/lift-ban")
def lift_ban(services: Services, actor: Operator, asked: Lift) -> Lifted:
    """Lift a ban."""
    lifted = bans.lift_ban(services.db, asked.host, asked.agent, actor, services.now_ms())
    return Lifted(lifted=lifted)

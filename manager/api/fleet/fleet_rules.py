"""Rules for all agents: the block list and limits of politeness."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query
from pydantic import BaseModel

from manager.api.access import Door, Operator, Viewer
from manager.api.routes import subject_router
from manager.intake.messages.large_messages import NewLines
from manager.operations.fleet import block_list, fleet_rules
from manager.operations.fleet.block_list import Tried
from manager.operations.fleet.fleet_rules import FleetRules, LimitsRow

__all__ = ["router"]

router: Final = subject_router("fleet rules", "/fleet-rules")


class Added(BaseModel):
    """Number of new lines."""

    added: int


class Limits(BaseModel):
    """Limits for all agents; none: as each site sets them."""

    interval_s: float | None = None
    parallel_hosts: int | None = None
    bytes_per_s: int | None = None


@router.get("")
def show(door: Door, _: Viewer) -> FleetRules:
    """Show the block list and the limits."""
    return fleet_rules.fleet_rules_of(door.db)


@router.post("/blocked", status_code=201)
def add(door: Door, actor: Operator, asked: NewLines) -> Added:
    """Add lines to the block list: all of them, or none where one is no RE2."""
    added = block_list.add_blocked(door.db, asked.text, asked.reason, actor, door.now_ms())
    return Added(added=added)


@router.post("/blocked/{number}/remove", status_code=204)
def remove(door: Door, actor: Operator, number: int) -> None:
    """Take a line out of the block list."""
    block_list.remove_blocked(door.db, number, actor, door.now_ms())


@router.get("/try")
def try_(
    door: Door,
    _: Viewer,
    url: Annotated[str, Query(max_length=4096)],
    pattern: Annotated[str, Query(max_length=1000)] = "",
) -> Tried:
    """Show which lines block a URL or a host; with a pattern, whether that does."""
    return block_list.try_url(door.db, url, pattern)


@router.post("/limits", status_code=204)
def limits(door: Door, actor: Operator, asked: Limits) -> None:
    """Set the limits."""
    row = LimitsRow(asked.interval_s, asked.parallel_hosts, asked.bytes_per_s)
    fleet_rules.set_limits(door.db, row, actor, door.now_ms())

"""Rules for all agents: the block list and limits of politeness."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query
from pydantic import BaseModel

from manager.api.access import Operator, Services, Viewer
from manager.api.routes import subject_router
from manager.intake.messages.message_models import NewLines
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
def show(services: Services, _: Viewer) -> FleetRules:
    """Show the block list and the limits."""
    return fleet_rules.fleet_rules_of(services.db)


@router.post("/blocked", status_code=201)
def add(services: Services, actor: Operator, asked: NewLines) -> Added:
    """Add lines to the block list: all of them, or none where one is no RE2."""
    added = block_list.add_blocked(services.db, asked.text, asked.reason, actor, services.now_ms())
    return Added(added=added)


@router.post("/blocked/{number}/remove", status_code=204)
def remove(services: Services, actor: Operator, number: int) -> None:
    """Take a line out of the block list."""
    block_list.remove_blocked(services.db, number, actor, services.now_ms())


@router.get("/try")
def try_(
    services: Services,
    _: Viewer,
    url: Annotated[str, Query(max_length=4096)],
    pattern: Annotated[str, Query(max_length=1000)] = "",
) -> Tried:
    """Show which lines block a URL or a host; with a pattern, whether that does."""
    return block_list.try_url(services.db, url, pattern)


@router.post("/limits", status_code=204)
def limits(services: Services, actor: Operator, asked: Limits) -> None:
    """Set the limits."""
    row = LimitsRow(asked.interval_s, asked.parallel_hosts, asked.bytes_per_s)
    fleet_rules.set_limits(services.db, row, actor, services.now_ms())

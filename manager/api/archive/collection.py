"""Collection of segments: schedules, orders to send now, transfers."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from manager.api.access import Operator, Services, Viewer
from manager.api.rounds.schedules import add_schedule_routes
from manager.api.routes import Limit, subject_router
from manager.db.rounds.schedules import CollectionSchedule
from manager.operations.segments import (
    collection_orders,
    collection_schedules,
    sending_limits,
    upload_completion,
    uploads,
)
from manager.operations.segments.collection_orders import AskedAll, ListedOrder, NewCollection
from manager.operations.segments.sending_limits import ALL_DAY, read_limits
from manager.operations.segments.uploads import ListedTransfer
from manager.operations.timetables import Scheduled
from shared.wire.sync import CollectionCondition, EpochMs

__all__ = ["router"]

router: Final = subject_router("collection", "/collection")
AgentText = Annotated[str, Query(max_length=253)]
Windows = Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=24)]


class Asked(BaseModel):
    """Selection: full, difference, since (from_ms), period (from_ms to until_ms); push or pull.

    Times are epoch milliseconds of the captures.
    """

    condition: CollectionCondition = "difference"
    way: Literal["push", "pull"] = "push"
    from_ms: EpochMs | None = None
    until_ms: EpochMs | None = None

    def asked(self) -> NewCollection:
        """Return it as the operation takes it."""
        return NewCollection(self.condition, self.way, self.from_ms, self.until_ms)


class NewOrder(Asked):
    """Ask one agent now."""

    agent: Annotated[str, Field(max_length=253)]


class NewCollectionSchedule(Asked):
    """crontab: as cron reads it, in the zone. agent: none is all that have no schedule."""

    agent: Annotated[str, Field(max_length=253)] | None = None
    crontab: Annotated[str, Field(max_length=200)]
    zone: Annotated[str, Field(max_length=64)] = "UTC"


class ChangedCollectionSchedule(NewCollectionSchedule):
    """The whole schedule. shown_ms: refused unless it is still the schedule's `made_ms`."""

    shown_ms: EpochMs | None = None


class RunNow(BaseModel):
    """Number of agents that are asked."""

    asked: int


@router.post("/schedules", status_code=201)
def add_schedule(
    services: Services, actor: Operator, asked: NewCollectionSchedule
) -> Scheduled[CollectionSchedule]:
    """Add a schedule of sending for one agent, or for all."""
    return collection_schedules.add_collection_schedule(
        services.db, asked.agent, asked.crontab, asked.zone, asked.asked(), actor, services.now_ms()
    )


@router.post("/schedules/{number}")
def change_schedule(
    services: Services, actor: Operator, number: int, asked: ChangedCollectionSchedule
) -> Scheduled[CollectionSchedule]:
    """Replace a schedule; it keeps its number."""
    return collection_schedules.change_collection_schedule(
        services.db,
        number,
        asked.agent,
        asked.crontab,
        asked.zone,
        asked.asked(),
        actor,
        services.now_ms(),
        shown_ms=asked.shown_ms,
    )


@router.post("/schedules/{number}/run")
def run_schedule(services: Services, actor: Operator, number: int) -> RunNow:
    """Make a schedule's orders now, before their time, which stays."""
    made = collection_schedules.run_collection_schedule(
        services.db, number, actor, services.now_ms()
    )
    return RunNow(asked=made)


class NewLimits(BaseModel):
    """Hours as `02:00-08:00`; the default zone is the agent's."""

    bytes_per_s: int | None = None
    weekday: Windows = [ALL_DAY]
    weekend: Windows = [ALL_DAY]
    zone: Annotated[str, Field(max_length=64)] = ""


add_schedule_routes(
    router, "/schedules", collection_schedules.TIMETABLE, Scheduled[CollectionSchedule]
)


@router.post("/agents/{name}/limits", status_code=204)
def limit_sending(services: Services, actor: Operator, name: str, asked: NewLimits) -> None:
    """Set the rate and hours of an agent's sending; a body without limits lifts them."""
    limits = read_limits(asked.bytes_per_s, asked.weekday, asked.weekend, asked.zone)
    sending_limits.limit_sending(services.db, name, limits, actor, services.now_ms())


@router.get("/orders")
def list_orders(
    services: Services,
    _: Viewer,
    agent: AgentText = "",
    state: Annotated[str, Query(description=", ".join(collection_orders.STATES))] = "",
    before: int | None = None,
    limit: Limit = 100,
) -> list[ListedOrder]:
    """List what agents were asked to send, newest first; before: the last number of a page."""
    return collection_orders.list_orders(
        services.db, agent=agent, state=state, before=before, limit=limit
    )


@router.post("/orders", status_code=201)
def collect_now(services: Services, actor: Operator, asked: NewOrder) -> ListedOrder:
    """Ask an agent to send now; it hears of it with its next sync."""
    return collection_orders.collect_now(
        services.db, asked.agent, asked.asked(), actor, services.now_ms()
    )


@router.post("/ask-all", status_code=201)
def collect_all_now(services: Services, actor: Operator, asked: Asked) -> AskedAll:
    """Ask all agents to send now, but those that have too many open orders."""
    return collection_orders.collect_all_now(services.db, asked.asked(), actor, services.now_ms())


@router.post("/orders/{number}/cancel", status_code=204)
def cancel_order(services: Services, actor: Operator, number: int) -> None:
    """Cancel an order for the segments that were not sent yet."""
    collection_orders.cancel_order(services.db, number, actor, services.now_ms())


@router.get("/transfers")
def list_transfers(
    services: Services,
    _: Viewer,
    agent: AgentText = "",
    state: Annotated[str, Query(max_length=20)] = "",
    before: int | None = None,
    limit: Limit = 100,
) -> list[ListedTransfer]:
    """List files that came or are coming, newest first; before: the last number of a page."""
    return uploads.list_transfers(services.db, agent=agent, state=state, before=before, limit=limit)


@router.post("/transfers/{number}/cancel", status_code=204)
def cancel_transfer(services: Services, actor: Operator, number: int) -> None:
    """Cancel the transfer of a file; its agent starts it again with its next order."""
    upload_completion.cancel_transfer(services.db, services.parts, number, actor, services.now_ms())

"""Rounds: start, look, cancel, report; schedules by which they begin."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from manager.api.access import Operator, Services, Viewer
from manager.api.rounds.schedules import add_schedule_routes
from manager.api.routes import Limit, subject_router
from manager.db.rounds.schedules import RoundSchedule
from manager.operations.rounds import (
    predicted_plan,
    round_forecast,
    round_holders,
    round_list,
    round_report,
    round_schedules,
    rounds,
)
from manager.operations.rounds.round_forecast import RoundForecast
from manager.operations.rounds.round_holders import RoundHolders
from manager.operations.rounds.round_list import PastRound, RoundFilter, RoundPage, past_rounds
from manager.operations.rounds.round_report import RoundReport
from manager.operations.rounds.rounds import RoundDetail
from manager.operations.timetables import Scheduled

__all__ = ["Method", "Moves", "Offset", "Seed", "Sort", "router"]

router: Final = subject_router("rounds")
Method = Literal["default", "random", "keep", "tree", "exchange", "prices", "lp"]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Offset = Annotated[int, Field(ge=0, lt=2**62)]
Sort = Annotated[str, Query(description="a column, `-` before it for descending")]

Moves = Annotated[float | None, Field(ge=0, le=1)]
UntilShare = Annotated[float | None, Field(gt=0, le=1)]
UntilSeconds = Annotated[int | None, Field(ge=60, le=400 * 86_400)]


class NewRound(BaseModel):
    """Assignment method of a round. probe: measure first what is not known freshly.

    moves: share of the placed units that its plan may move; none: the policy's. until_ms,
    until_share: its deadline, a moment or the share of its units that are finished; what is left
    then is carried over into the next round.
    """

    method: Method = "default"
    probe: bool = True
    seed: Seed = 0
    moves: Moves = None
    until_ms: Annotated[int | None, Field(ge=0, lt=2**62)] = None
    until_share: UntilShare = None


class NewSchedule(BaseModel):
    """crontab: five fields as cron reads them, or @daily and the like; in the time zone.

    until_s, until_share: the deadline of its rounds, so long after they begin or a share.
    """

    crontab: Annotated[str, Field(max_length=200)]
    zone: Annotated[str, Field(max_length=64)] = "UTC"
    method: Method = "default"
    probe: bool = True
    moves: Moves = None
    until_s: UntilSeconds = None
    until_share: UntilShare = None


class ChangedSchedule(NewSchedule):
    """The whole schedule. shown_ms: refused unless it is still the schedule's `made_ms`."""

    shown_ms: Annotated[int | None, Field(ge=0, lt=2**62)] = None


class Cancel(BaseModel):
    """Reason of a cancellation, for the audit. round: refused where another one is open by then."""

    round: int | None = None
    reason: Annotated[str, Field(max_length=500)] = ""


class UsePredictions(BaseModel):
    """round: none: the one that probes."""

    round: int | None = None


class CarryOver(BaseModel):
    """round: none: the oldest that crawls."""

    round: int | None = None


@router.get("/rounds")
def list_rounds(
    services: Services,
    _: Viewer,
    method: str = "",
    state: Annotated[str, Query(description=", ".join(round_list.STATES))] = "",
    sort: Sort = "-number",
    limit: Limit = 50,
    offset: Offset = 0,
) -> RoundPage:
    """List the rounds that match, the newest first, a page at a time; `total` says how many."""
    return round_list.round_page(
        services.db, RoundFilter(method, state), sort=sort, limit=limit, offset=offset
    )


@router.get("/rounds/history")
def history(
    services: Services,
    _: Viewer,
    limit: Limit = 60,
    before: Annotated[
        int | None, Query(ge=1, lt=2**62, description="rounds of lesser numbers only")
    ] = None,
) -> list[PastRound]:
    """Lay the newest rounds side by side, oldest first: planned, at best possible, measured."""
    return past_rounds(services.db, limit, before)


@router.get("/rounds/forecast")
def start_forecast(
    services: Services, _: Viewer, probe: bool = True, limit: Limit = 20
) -> RoundForecast:
    """Predict a round that would start now: the end of its probes, its end, who calls late."""
    return round_forecast.forecast_of_start(
        services.db, services.policy, services.now_ms(), probe=probe, limit=limit
    )


@router.post("/rounds", status_code=201)
def start_round(services: Services, actor: Operator, asked: NewRound) -> RoundDetail:
    """Start a round."""
    number = rounds.start_round(
        services.db,
        asked.method,
        actor,
        services.now_ms(),
        probe=asked.probe,
        seed=asked.seed,
        moves=asked.moves,
        until_ms=asked.until_ms,
        until_share=asked.until_share,
        policy=services.policy,
    )
    return rounds.round_detail(services.db, number)


@router.post("/rounds/cancel")
def cancel_round(services: Services, actor: Operator, asked: Cancel) -> RoundDetail:
    """Cancel the running round; without one, the round to come with the work carried into it."""
    number = rounds.cancel_round(
        services.db, actor, services.now_ms(), asked.reason, meant=asked.round
    )
    return rounds.round_detail(services.db, number)


@router.post("/rounds/carry-over")
def carry_over(services: Services, actor: Operator, asked: CarryOver) -> RoundDetail:
    """Carry over what is left of a round into the next one, as at its deadline."""
    number, _ = rounds.carry_over_now(services.db, actor, services.now_ms(), meant=asked.round)
    return rounds.round_detail(services.db, number)


@router.post("/rounds/use-predictions")
def use_predictions(services: Services, actor: Operator, asked: UsePredictions) -> RoundDetail:
    """Plan the round that probes now, with predicted distances in place of its open probes."""
    number, _ = predicted_plan.use_predictions(
        services.db, actor, services.now_ms(), meant=asked.round
    )
    return rounds.round_detail(services.db, number)


@router.post("/rounds/schedules", status_code=201)
def add_schedule(
    services: Services, actor: Operator, asked: NewSchedule
) -> Scheduled[RoundSchedule]:
    """Add a schedule of rounds."""
    return round_schedules.add_schedule(
        services.db,
        asked.crontab,
        asked.zone,
        asked.method,
        actor,
        services.now_ms(),
        probe=asked.probe,
        moves=asked.moves,
        until_s=asked.until_s,
        until_share=asked.until_share,
    )


@router.post("/rounds/schedules/{number}")
def change_schedule(
    services: Services, actor: Operator, number: int, asked: ChangedSchedule
) -> Scheduled[RoundSchedule]:
    """Replace a schedule; it keeps its number."""
    return round_schedules.change_schedule(
        services.db,
        number,
        asked.crontab,
        asked.zone,
        asked.method,
        actor,
        services.now_ms(),
        probe=asked.probe,
        moves=asked.moves,
        until_s=asked.until_s,
        until_share=asked.until_share,
        shown_ms=asked.shown_ms,
    )


add_schedule_routes(
    router, "/rounds/schedules", round_schedules.TIMETABLE, Scheduled[RoundSchedule]
)


@router.get("/rounds/{number}/report")
def round_report_of(services: Services, _: Viewer, number: int) -> RoundReport:
    """Show the planned cost of a round, the measured cost, and the difference."""
    return round_report.round_report(services.db, number)


@router.get("/rounds/{number:int}/holders")
def round_holders_of(services: Services, _: Viewer, number: int, limit: Limit = 20) -> RoundHolders:
    """List what a round waits for: hosts with their agents, those held longest first."""
    return round_holders.holders_of(services.db, number, services.policy, services.now_ms(), limit)


@router.get("/rounds/{number:int}/forecast")
def round_forecast_of(
    services: Services, _: Viewer, number: int, limit: Limit = 20
) -> RoundForecast:
    """Predict the end of a round, and list the agents that it waits for, why and until when."""
    return round_forecast.forecast_of_round(
        services.db, number, services.policy, services.now_ms(), limit
    )


@router.get("/rounds/{number:int}")
def round_detail(services: Services, _: Viewer, number: int) -> RoundDetail:
    """Show a round and its progress."""
    return rounds.round_detail(services.db, number)

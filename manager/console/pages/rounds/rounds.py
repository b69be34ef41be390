"""Rounds: start one, watch it, cancel it; those before."""

from __future__ import annotations

import math
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.drawings.agent_bars import Pair, draw_bars
from manager.console.drawings.drawing import Drawing, svg_download
from manager.console.language import _
from manager.console.messages.disabled_reasons import unable_of
from manager.console.pages.planning.balance import draw_rounds
from manager.console.pages.planning.cost_bars import cost_bars
from manager.console.pages.planning.plan_tables import COSTS
from manager.console.pages.planning.plan_words import METHOD_WORDS
from manager.console.pages.rounds.round_progress import RoundProgress, progress_of
from manager.console.pages.rounds.round_tables import (
    AGENTS,
    AWAITED,
    HOLDERS,
    HOLDING_WORDS,
    PROGRESS,
    REASON_WORDS,
    ROUNDS,
    SCHEDULES,
)
from manager.console.pages.rounds.schedules import edited, next_run, number_of, removed, too_many
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link, number, share, whole_number
from manager.operations.hosts.preconditions import round_obstacle
from manager.operations.planning.plans import plan_detail
from manager.operations.rounds.carried_work import carried_work
from manager.operations.rounds.predicted_plan import use_predictions
from manager.operations.rounds.round_forecast import forecast_of_round, forecast_of_start
from manager.operations.rounds.round_holders import holders_of
from manager.operations.rounds.round_list import past_rounds
from manager.operations.rounds.round_report import RoundReport, report_of, round_report
from manager.operations.rounds.round_schedules import TIMETABLE, add_schedule, change_schedule
from manager.operations.rounds.rounds import (
    RoundRow,
    cancel_round,
    carry_over_now,
    current_round,
    round_detail,
    start_round,
)

__all__ = ["PAGES"]

HERE: Final = "/console/rounds"
REASON_MOST: Final = 500

HOURS_MOST: Final = 1e6
"""More is refused in any case."""

AGENTS_DRAWN: Final = 40
"""On the page; the file has more of them."""


def show(visit: Visit) -> Response:
    """Show all rounds, and what can be done about the next one."""
    current = current_round(visit.db)
    past = past_rounds(visit.db)
    schedules = TIMETABLE.listed(visit.db, visit.now_ms)
    obstacle = round_obstacle(visit.db)
    return visit.page(
        "rounds.html",
        list=ROUNDS.view(visit),
        current=current,
        carried=carried_work(visit.db),
        progress=(_progress(visit, current.number) if current else None),
        series=draw_rounds(past) if past else None,
        methods=METHOD_WORDS,
        schedules=SCHEDULES.part(visit, schedules),
        edited=edited(visit, schedules),
        unready=unable_of(obstacle),
        forecast=None if obstacle else forecast_of_start(visit.db, visit.policy, visit.now_ms),
        too_many=too_many(TIMETABLE, schedules),
    )


def _progress(visit: Visit, number: int) -> RoundProgress:
    return progress_of(round_detail(visit.db, number, with_plan=False), visit.now_ms)


def _draw(report: RoundReport, most: int | None = None) -> Drawing:
    """Return what each agent was planned to take, and took; of at most so many."""
    return draw_bars(
        "planned-and-measured",
        _("Round %(number)s: cost of each agent, planned and measured", number=report.number),
        (_("planned"), _("measured")),
        [Pair(one.name, one.planned_ms, one.measured_ms) for one in report.agents[:most]],
        report.bound_ms,
    )


def agents_file(visit: Visit) -> Response:
    """Send that drawing."""
    report = round_report(visit.db, visit.number)
    return svg_download(_draw(report), f"round-{report.number}")


def show_round(visit: Visit) -> Response:
    """Show one round: its progress, its plan, what each agent did."""
    detail = round_detail(visit.db, visit.number, with_plan=False)
    plan = (
        plan_detail(visit.db, detail.round.plan_id, limit=10)
        if detail.round.plan_id is not None
        else None
    )
    report = report_of(detail, plan.agents if plan is not None else ())
    progress = progress_of(detail, visit.now_ms)
    bars = cost_bars(plan.agents, plan.plan.bound_ms) if plan is not None else None
    holders = holders_of(visit.db, visit.number, visit.policy, visit.now_ms)
    forecast = forecast_of_round(visit.db, visit.number, visit.policy, visit.now_ms)
    return visit.page(
        "round.html",
        progress=progress,
        progress_rows=PROGRESS.part(visit, progress.agents),
        row=detail.round,
        report=report,
        list=AGENTS.view(visit, report.agents),
        drawing=_draw(report, AGENTS_DRAWN),
        plan=plan,
        bars=bars,
        costs=COSTS.part(visit, bars.bars if bars is not None else []),
        methods=METHOD_WORDS,
        logs=_logs_of(detail.round),
        holders=HOLDERS.part(visit, holders.holders),
        holders_left=holders.total - len(holders.holders),
        holding=HOLDING_WORDS,
        forecast=forecast,
        awaited=AWAITED.part(visit, forecast.agents),
        awaited_left=forecast.total - len(forecast.agents),
        reasons=REASON_WORDS,
        link_kinds=detail.link_kinds,
    )


def _logs_of(row: RoundRow) -> str:
    """Return the address of the log lines that were fetched during a round."""
    query = {"since": figures.iso(row.started_ms)}
    if row.finished_ms is not None:
        query["until"] = figures.iso(row.finished_ms)
    return link("logs", **query)


def start(visit: Visit) -> Response:
    """Start a round."""
    until_s = _until_s(visit)
    began = start_round(
        visit.db,
        visit.form.get("method", ""),
        visit.actor,
        visit.now_ms,
        probe=visit.form.get("probe") == "yes",
        moves=share(visit, "moves"),
        until_ms=None if until_s is None else visit.now_ms + until_s * 1000,
        until_share=share(visit, "until_share"),
        policy=visit.policy,
    )
    return visit.go(f"{HERE}/{began}", done=_("Round %(number)s has started.", number=began))


def _until_s(visit: Visit) -> int | None:
    """Return how long after its start the deadline of a round comes; None: it has none."""
    hours = number(visit, "until_hours")
    if hours is None:
        return None
    return round(min(hours, HOURS_MOST) * 3600) if math.isfinite(hours) else -1  # is refused


def carry_over(visit: Visit) -> Response:
    """Carry over what is left of a round into the next one; ask once."""
    meant = whole_number(visit, "round")
    if not visit.is_confirmed:
        return visit.ask(
            _("Carry the rest of round %(number)s over?", number=meant or ""),
            _("The round ends. Agents continue with the units that are left, for the next round."),
            button=_("Carry the rest over"),
            back=f"{HERE}/{meant}" if meant else HERE,
            fields={"round": str(meant or "")},
        )
    done, units = carry_over_now(visit.db, visit.actor, visit.now_ms, meant=meant)
    told = _("%(units)s units of round %(number)s were carried over.", units=units, number=done)
    return visit.go(f"{HERE}/{done}", done=told)


def plan_with_predictions(visit: Visit) -> Response:
    """Plan the round that probes now, with predicted distances; ask once."""
    meant = whole_number(visit, "round")
    if not visit.is_confirmed:
        return visit.ask(
            _("Plan round %(number)s with predictions?", number=meant or ""),
            _("Open probes stop. The plan uses predicted distances in their place."),
            button=_("Plan with predictions"),
            back=f"{HERE}/{meant}" if meant else HERE,
            fields={"round": str(meant or "")},
        )
    done, orders = use_predictions(visit.db, visit.actor, visit.now_ms, meant=meant)
    told = _("Round %(number)s is planned without %(orders)s probes.", number=done, orders=orders)
    return visit.go(f"{HERE}/{done}", done=told)


def cancel(visit: Visit) -> Response:
    """Cancel the running round, or the work carried over; ask once, and cancel no other round."""
    reason = visit.form.get("reason", "").strip()[:REASON_MOST]
    meant = whole_number(visit, "round")
    current, carried = current_round(visit.db), carried_work(visit.db)
    numbers = [current.number] if current is not None else []
    numbers += [carried.round] if carried is not None else []
    if numbers and not visit.is_confirmed:
        asked = numbers[0] if meant is None else meant
        is_carried = carried is not None and carried.round == asked
        return visit.ask(
            _("Cancel round %(number)s?", number=asked),
            _("Agents stop fetching with their next lists."),
            _("Measurements and captures stay; the next round starts from the beginning."),
            button=_("Cancel the carried work") if is_carried else _("Cancel the round"),
            back=HERE if is_carried else f"{HERE}/{asked}",
            fields={"round": str(asked)},
            shown={"reason": reason},
        )
    ended = cancel_round(visit.db, visit.actor, visit.now_ms, reason, meant=meant)
    return visit.go(f"{HERE}/{ended}", done=_("Round %(number)s is cancelled.", number=ended))


def add(visit: Visit) -> Response:
    """Add a schedule of rounds."""
    made = add_schedule(
        visit.db,
        visit.form.get("crontab", ""),
        visit.form.get("zone", "").strip() or "UTC",
        visit.form.get("method", ""),
        visit.actor,
        visit.now_ms,
        probe=visit.form.get("no_probe") != "yes",
        moves=share(visit, "moves"),
        until_s=_until_s(visit),
        until_share=share(visit, "until_share"),
    )
    return visit.go(HERE, done=_("The next round begins %(when)s.", when=next_run(made)))


def change(visit: Visit) -> Response:
    """Replace a schedule of rounds by the form."""
    made = change_schedule(
        visit.db,
        number_of(visit.form.get("schedule", "")),
        visit.form.get("crontab", ""),
        visit.form.get("zone", "").strip() or "UTC",
        visit.form.get("method", ""),
        visit.actor,
        visit.now_ms,
        probe=visit.form.get("no_probe") != "yes",
        moves=share(visit, "moves"),
        until_s=_until_s(visit),
        until_share=share(visit, "until_share"),
        shown_ms=number_of(visit.form.get("shown", "")),
    )
    return visit.go(HERE, done=_("The next round begins %(when)s.", when=next_run(made)))


def remove(visit: Visit) -> Response:
    """Remove a schedule of rounds; ask once."""
    warning = _("It starts no more rounds. A running round continues.")
    return removed(visit, TIMETABLE, HERE, warning)


PAGES: Final = (
    *ROUNDS.pages(show, "edit"),
    *AGENTS.pages(show_round),
    Page("GET", "/rounds/{number:int}/agents.svg", "viewer", agents_file),
    Page("POST", "/rounds/start", "operator", start, form="/rounds"),
    Page("POST", "/rounds/cancel", "operator", cancel, form="/rounds"),
    Page("POST", "/rounds/carry-over", "operator", carry_over, form="/rounds"),
    Page("POST", "/rounds/use-predictions", "operator", plan_with_predictions, form="/rounds"),
    Page("POST", "/rounds/schedules", "operator", add, form="/rounds"),
    Page("POST", "/rounds/schedules/change", "operator", change, form="/rounds?edit={schedule}"),
    Page("POST", "/rounds/schedules/remove", "operator", remove, form="/rounds"),
)

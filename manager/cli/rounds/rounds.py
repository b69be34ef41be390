"""`prsm rounds`: start, list, show, cancel."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

import click

from manager.cli import output
from manager.cli.options import (
    METHODS,
    Target,
    json_answer,
    moment_ms,
    moves_option,
    paged_options,
    until_share_option,
)
from manager.cli.rounds.round_forecasts import forecast, show_forecast, show_warnings
from manager.cli.rounds.round_schedules import schedule
from manager.cli.status import code_counts
from shared.ratios import spoken_change

__all__ = ["rounds"]


HOLDING: Final = {
    "fetching": "its agent is fetching it",
    "resting": "the host asked for a back-off",
    "waiting": "waiting until its agent may take it",
    "probing": "its distance is being measured",
    "log_awaited": "waiting for the agent's log",
    "unplaced": "no owner yet",
    "unresolved": "its name is being looked up",
    "plan": "waiting for the plan, or for an agent",
    "asleep": "its agent calls again later",
    "closed": "the hours of its agent are closed",
    "late": "its agent is late; others take it then",
    "lost": "its agent is lost; others take it",
    "paused": "its agent is paused",
}
LOOK_EVERY_S: Final = 1.0
"""Between looks at a round that is waited for; the API of commands tells of no change by itself."""
NONE_YET: Final = "No round yet. `prsm rounds start` begins one."


@click.group()
def rounds() -> None:
    """Rounds: probe, plan, crawl, report, balance again."""


rounds.add_command(schedule)
rounds.add_command(forecast)


@rounds.command()
@click.option("--method", type=METHODS, default="default", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of random choices.")
@click.option("--no-probe", is_flag=True, help="Use the known distances.")
@moves_option
@click.option("--until", help="Deadline, as 2026-11-22T03:00+09:00; the rest is carried over.")
@until_share_option
@click.option("--wait", is_flag=True, help="Return when it is over; Ctrl-C ends only the waiting.")
@json_answer
def start(
    target: Target, no_probe: bool, wait: bool, until: str | None, **options: Any
) -> Iterator[Any]:
    """Start a round; one that crawls continues beside it."""
    show_warnings(target.calls.get("/rounds/forecast", probe=not no_probe))
    deadline = {"until_ms": moment_ms("--until", until)}
    detail = target.calls.post("/rounds", {**options, **deadline, "probe": not no_probe})
    if wait:
        detail = _wait_for_end(target, detail["round"]["number"])
    yield detail
    _show(detail)


@rounds.command("list")
@click.option("--method", type=METHODS)
@click.option("--state", default="", help="probing, crawling, finished or cancelled.")
@paged_options
@json_answer
def list_(target: Target, method: str | None, state: str, **paged: Any) -> Iterator[Any]:
    """List rounds, newest first."""
    page = target.calls.get("/rounds", method=method, state=state, **paged)
    yield page
    output.table(
        page["rounds"],
        "No such round." if method or state or paged["offset"] else NONE_YET,
        output.Column("round", "number"),
        *output.columns("state", "method"),
        output.Column("started", "started_ms", output.time_text),
        output.Column("makespan", lambda one: output.ms_text(one["makespan_ms"] or None)),
        output.Column("of", "makespan_agent"),
        output.Column("took", "elapsed_ms", output.ms_text),
    )
    output.more(page["total"], paged["offset"] + len(page["rounds"]))
    carried = page["carried"]
    if carried is not None:
        output.say(
            f"Agents work on {carried['left']} carried units for round {carried['round']}, which "
            "has not begun. `prsm rounds cancel` stops them."
        )


@rounds.command()
@click.argument("number", type=int, required=False)
@click.option(
    "--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="Of hosts."
)
@json_answer
def show(target: Target, number: int | None, limit: int) -> Iterator[Any]:
    """Show round NUMBER, or the newest, with the hosts that are not finished."""
    chosen = _given_or_newest(target, number)
    detail = target.calls.get(f"/rounds/{chosen}")
    holders = target.calls.get(f"/rounds/{chosen}/holders", limit=limit)
    predicted = target.calls.get(f"/rounds/{chosen}/forecast", limit=limit)
    yield {**detail, "holders": holders, "forecast": predicted}
    _show(detail)
    if detail["round"]["state"] in ("probing", "crawling"):
        output.say()
        show_forecast(predicted)
    if holders["total"]:
        output.say(f"\nwaits for {holders['total']}:")
        output.table(
            holders["holders"],
            "",
            output.Column("unit", lambda one: one["unit"] or "-"),
            output.Column("agent", lambda one: one["agent"] or "-"),
            output.Column("reason", _held),
            output.Column("since", "since_ms", output.time_text),
            output.Column("until", "until_ms", output.time_text),
        )
        more = holders["total"] - len(holders["holders"])
        if more > 0:
            output.say(f"... {more} more; --limit shows more of them")


@rounds.command()
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000))
@click.option("--before", type=click.IntRange(1), help="Of the rounds before this number.")
@json_answer
def history(target: Target, limit: int, before: int | None) -> Iterator[Any]:
    """Compare the newest rounds, oldest first: makespan planned, best possible, measured."""
    found = target.calls.get("/rounds/history", limit=limit, before=before)
    yield found
    output.table(
        found,
        NONE_YET if before is None else f"No round before {before}.",
        output.Column("round", "number"),
        *output.columns("method", "state"),
        output.Column("planned", "planned_ms", output.ms_text),
        output.Column("best possible", "bound_ms", output.ms_text),
        output.Column("measured", "measured_ms", output.ms_text),
        output.Column("crawl took", "elapsed_ms", output.ms_text),
        output.Column("moves"),
    )
    if len(found) == limit:
        output.say(f"Rounds before these: --before {found[0]['number']}")


@rounds.command()
@click.option("--reason", default="", help="Why, for the audit.")
@json_answer
def cancel(target: Target, reason: str) -> Iterator[Any]:
    """Cancel the running round; without one, the work that was carried over."""
    detail = target.calls.post("/rounds/cancel", {"reason": reason})
    yield detail
    _show(detail)


@rounds.command("use-predictions")
@click.argument("number", type=int, required=False)
@json_answer
def use_predictions(target: Target, number: int | None) -> Iterator[Any]:
    """Plan the round that probes now, with predicted distances in place of its open probes."""
    detail = target.calls.post("/rounds/use-predictions", {"round": number})
    yield detail
    _show(detail)


@rounds.command("carry-over")
@click.argument("number", type=int, required=False)
@json_answer
def carry_over(target: Target, number: int | None) -> Iterator[Any]:
    """Carry over what is left of round NUMBER, or of the oldest that crawls, into the next."""
    detail = target.calls.post("/rounds/carry-over", {"round": number})
    yield detail
    _show(detail)


@rounds.command()
@click.argument("number", type=int, required=False)
@json_answer
def report(target: Target, number: int | None) -> Iterator[Any]:
    """Show the planned and the measured cost of round NUMBER, or of the newest."""
    found = target.calls.get(f"/rounds/{_given_or_newest(target, number)}/report")
    yield found
    output.facts(
        (
            ("round", f"{found['number']}, {found['state']}, by {found['method']}"),
            ("probes", output.counts_text(found["probes"])),
            ("units", output.counts_text(found["units"])),
            ("failed by", code_counts(found["failures"])),
            ("without address", code_counts(found["unresolved"])),
            ("pages", found["pages"]),
            ("received", output.bytes_text(found["bytes"])),
            ("planned", _of(found["planned_ms"], found["planned_agent"])),
            ("best possible", output.ms_text(found["bound_ms"])),
            ("measured", _of(found["measured_ms"] or None, found["measured_agent"])),
            ("error", _percent(found["error"])),
            ("crawl took", output.ms_text(found["elapsed_ms"])),
        )
    )
    output.say()
    output.table(
        found["agents"],
        "No agent took part.",
        output.Column("agent", "name"),
        *output.columns("units", "failed", "pages"),
        output.Column("received", "bytes", output.bytes_text),
        output.Column("planned", "planned_ms", output.ms_text),
        output.Column("measured", "measured_ms", output.ms_text),
        output.Column("error", "error", _percent),
    )
    output.link_kinds(found["link_kinds"])


def _held(one: dict[str, Any]) -> str:
    reason = HOLDING[one["reason"]]
    return f"{reason}: {one['why']}" if one["why"] else reason


def _given_or_newest(target: Target, number: int | None) -> int:
    if number is not None:
        return number
    newest = target.calls.get("/rounds", limit=1)["rounds"]
    if not newest:
        raise click.ClickException(NONE_YET)
    return int(newest[0]["number"])


def _wait_for_end(target: Target, number: int) -> dict[str, Any]:
    """Wait for the end of a round and return it; each change of its counts goes to stderr."""
    shown = ""
    while True:
        detail: dict[str, Any] = target.calls.get(f"/rounds/{number}")
        state = detail["round"]["state"]
        if state not in ("probing", "crawling"):
            return detail
        kind = "probes" if state == "probing" else "units"
        counts = output.counts_text(detail["orders" if state == "probing" else "units"])
        line = f"round {number}: {state}, {kind}: {counts or 'none yet'}"
        if line != shown:
            output.say(line, err=True)
        shown = line
        time.sleep(LOOK_EVERY_S)


def _of(length_ms: float | None, agent: str) -> str | None:
    if length_ms is None:
        return None
    return f"{output.ms_text(length_ms)}{f' ({agent})' if agent else ''}"


def _percent(error: float | None) -> str | None:
    return spoken_change(None if error is None else 1 + error)


def _deadline(about: dict[str, Any]) -> str:
    share = about["until_share"]
    parts = [output.time_text(about["until_ms"])] if about["until_ms"] is not None else []
    parts += [f"{share:.1%} of the units finished"] if share is not None else []
    return ", or ".join(parts) or output.time_text(None)


def _show(detail: dict[str, Any]) -> None:
    about = detail["round"]
    output.facts(
        (
            ("round", about["number"]),
            ("state", about["state"]),
            ("method", about["method"]),
            ("started", f"{output.time_text(about['started_ms'])} by {about['started_by']}"),
            ("crawl began", output.time_text(about["crawling_ms"])),
            ("deadline", _deadline(about)),
            ("rest carried over", output.time_text(about["carried_ms"])),
            ("planned with predictions", output.time_text(about["predicted_ms"])),
            ("finished", output.time_text(about["finished_ms"])),
            ("expected", output.time_text(about["eta_ms"])),
            ("error of that", _percent(about["eta_error"])),
            ("reason", about["reason"]),
            ("probes", output.counts_text(detail["orders"])),
            ("units", output.counts_text(detail["units"])),
            ("failed by", code_counts(detail["failures"])),
            ("without address", code_counts(detail["unresolved"])),
            ("planned", output.ms_text(detail["planned_ms"])),
            ("best possible", output.ms_text(detail["bound_ms"])),
            ("measured", _measured(about["makespan_ms"])),
            ("of", about["makespan_agent"]),
        )
    )
    output.link_kinds(detail["link_kinds"])


def _measured(makespan_ms: int | None) -> str:
    return "nothing was fetched" if makespan_ms == 0 else output.ms_text(makespan_ms)

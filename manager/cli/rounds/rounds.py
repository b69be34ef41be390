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
    json_option,
    moves_option,
    paged_options,
    pass_target,
)
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
}
LOOK_EVERY_S: Final = 1.0
"""Between looks at a round that is waited for; the API of commands tells of no change by itself."""
NONE_YET: Final = "No round yet. `prsm rounds start` begins one."


@click.group()
def rounds() -> None:
    """Rounds: probe, plan, crawl, report, balance again."""


rounds.add_command(schedule)


@rounds.command()
@click.option("--method", type=METHODS, default="default", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of random choices.")
@click.option("--no-probe", is_flag=True, help="Use the known distances.")
@moves_option
@click.option("--wait", is_flag=True, help="Return when it is over; Ctrl-C ends only the waiting.")
@json_option
@pass_target
def start(
    target: Target,
    method: str,
    seed: int,
    no_probe: bool,
    moves: float | None,
    wait: bool,
    as_json: bool,
) -> None:
    """Start a round."""
    body = {"method": method, "seed": seed, "probe": not no_probe, "moves": moves}
    detail = target.calls.post("/rounds", body)
    _show(_wait_for_end(target, detail["round"]["number"]) if wait else detail, as_json)


@rounds.command("list")
@click.option("--method", type=METHODS)
@click.option("--state", default="", help="probing, crawling, finished or cancelled.")
@paged_options
@json_option
@pass_target
def list_(
    target: Target,
    method: str | None,
    state: str,
    sort: str,
    limit: int,
    offset: int,
    as_json: bool,
) -> None:
    """List rounds, newest first."""
    page = target.calls.get(
        "/rounds", method=method, state=state, sort=sort, limit=limit, offset=offset
    )
    if as_json:
        output.as_json(page)
        return
    found = page["rounds"]
    output.table(
        ("round", "state", "method", "started", "makespan", "of", "took"),
        (
            (
                one["number"],
                one["state"],
                one["method"],
                output.time_text(one["started_ms"]),
                output.ms_text(one["makespan_ms"] or None),
                one["makespan_agent"],
                output.ms_text(one["elapsed_ms"]),
            )
            for one in found
        ),
        "No such round." if method or state or offset else NONE_YET,
    )
    output.more(page["total"], offset + len(found))


@rounds.command()
@click.argument("number", type=int, required=False)
@click.option(
    "--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="Of hosts."
)
@json_option
@pass_target
def show(target: Target, number: int | None, limit: int, as_json: bool) -> None:
    """Show round NUMBER, or the newest, with the hosts that are not finished."""
    chosen = _given_or_newest(target, number)
    detail = target.calls.get(f"/rounds/{chosen}")
    holders = target.calls.get(f"/rounds/{chosen}/holders", limit=limit)
    if as_json:
        output.as_json({**detail, "holders": holders})
        return
    _show(detail, as_json)
    if holders["total"]:
        output.say(f"\nwaits for {holders['total']}:")
        output.table(("unit", "agent", "reason", "since", "until"), _held(holders), "")
        more = holders["total"] - len(holders["holders"])
        if more > 0:
            output.say(f"... {more} more; --limit shows more of them")


@rounds.command()
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000))
@click.option("--before", type=click.IntRange(1), help="Of the rounds before this number.")
@json_option
@pass_target
def history(target: Target, limit: int, before: int | None, as_json: bool) -> None:
    """Compare the newest rounds, oldest first: makespan planned, best possible, measured."""
    found = target.calls.get("/rounds/history", limit=limit, before=before)
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("round", "method", "state", "planned", "best possible", "measured", "crawl took", "moves"),
        (
            (
                one["number"],
                one["method"],
                one["state"],
                output.ms_text(one["planned_ms"]),
                output.ms_text(one["bound_ms"]),
                output.ms_text(one["measured_ms"]),
                output.ms_text(one["elapsed_ms"]),
                one["moves"],
            )
            for one in found
        ),
        NONE_YET if before is None else f"No round before {before}.",
    )
    if len(found) == limit:
        output.say(f"Rounds before these: --before {found[0]['number']}")


@rounds.command()
@click.option("--reason", default="", help="Why, for the audit.")
@json_option
@pass_target
def cancel(target: Target, reason: str, as_json: bool) -> None:
    """Cancel the running round."""
    _show(target.calls.post("/rounds/cancel", {"reason": reason}), as_json)


@rounds.command()
@click.argument("number", type=int, required=False)
@json_option
@pass_target
def report(target: Target, number: int | None, as_json: bool) -> None:
    """Show the planned and the measured cost of round NUMBER, or of the newest."""
    found = target.calls.get(f"/rounds/{_given_or_newest(target, number)}/report")
    if as_json:
        output.as_json(found)
        return
    output.facts(
        (
            ("round", f"{found['number']}, {found['state']}, by {found['method']}"),
            ("probes", _counts(found["probes"])),
            ("units", _counts(found["units"])),
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
        ("agent", "units", "failed", "pages", "received", "planned", "measured", "error"),
        (
            (
                one["name"],
                one["units"],
                one["failed"],
                one["pages"],
                output.bytes_text(one["bytes"]),
                output.ms_text(one["planned_ms"]),
                output.ms_text(one["measured_ms"]),
                _percent(one["error"]),
            )
            for one in found["agents"]
        ),
        "No agent took part.",
    )
    output.link_kinds(found["link_kinds"])


def _held(holders: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    for one in holders["holders"]:
        reason = HOLDING[one["reason"]]
        yield (
            one["unit"] or "-",
            one["agent"] or "-",
            f"{reason}: {one['why']}" if one["why"] else reason,
            output.time_text(one["since_ms"]),
            output.time_text(one["until_ms"]),
        )


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
        counts = _counts(detail["orders" if state == "probing" else "units"])
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


def _show(detail: dict[str, Any], as_json: bool) -> None:
    if as_json:
        output.as_json(detail)
        return
    about = detail["round"]
    output.facts(
        (
            ("round", about["number"]),
            ("state", about["state"]),
            ("method", about["method"]),
            ("started", f"{output.time_text(about['started_ms'])} by {about['started_by']}"),
            ("crawl began", output.time_text(about["crawling_ms"])),
            ("finished", output.time_text(about["finished_ms"])),
            ("reason", about["reason"]),
            ("probes", _counts(detail["orders"])),
            ("units", _counts(detail["units"])),
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


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {state}" for state, number in counts.items())

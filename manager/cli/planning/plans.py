"""`prsm plan` makes, previews and applies; `prsm plans` lists, shows, applies and takes back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click

from manager.cli import output
from manager.cli.options import (
    METHODS,
    Target,
    json_answer,
    moves_option,
    objective_option,
    paged_options,
)
from shared.ratios import spoken_change

__all__ = ["plan", "plans"]

MOVES_SHOWN: Final = 10
SAVES_AND_COSTS: Final = (
    output.Column("saves", "giver_ms", output.ms_text),
    output.Column("costs", "taker_ms", output.ms_text),
)


@click.command()
@click.option("--method", type=METHODS, default="default", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of random choices.")
@click.option("--apply", is_flag=True, help="Carry it out, too.")
@click.option("--no-compare", is_flag=True, help="Do not try the other methods.")
@moves_option
@objective_option
@json_answer
def plan(target: Target, apply: bool, no_compare: bool, **options: Any) -> Iterator[Any]:
    """Make a plan: a proposal of units for each agent; nothing moves without --apply.

    Shows the moves with their gains, the makespan before and after, its distance from the best
    possible, and the result of each other method.
    """
    made = target.calls.post("/plans", {**options, "compare": not no_compare})
    number = made["plan"]["id"]
    if apply:
        made["applied"] = target.calls.post(f"/plans/{number}/apply")
    yield made
    _show_plan(made)
    if apply:
        output.say(f"\nplan {number} is applied: {made['applied']['moved']} units moved")
    else:
        output.say(f"\n`prsm plans apply {number}` carries it out")


@click.group(invoke_without_command=True)
@click.option("--method", type=METHODS)
@click.option("--applied/--not-applied", default=None, help="Only those that were, or were not.")
@paged_options
@json_answer
def plans(target: Target, method: str | None, applied: bool | None, **paged: Any) -> Iterator[Any]:
    """List plans, newest first; or show, apply or undo one."""
    page = target.calls.get("/plans", method=method, applied=applied, **paged)
    yield page
    filtered = method is not None or applied is not None or paged["offset"]
    output.table(
        page["plans"],
        "No such plan." if filtered else "No plan yet. `prsm plan` makes one.",
        output.Column("plan", "id"),
        output.Column("method"),
        output.Column("made", "made_ms", output.time_text),
        output.Column("by", "made_by"),
        *output.columns("moves", "units"),
        output.Column("before", "before_ms", output.ms_text),
        output.Column("after", "makespan_ms", output.ms_text),
        output.Column("applied", "applied_ms", output.time_text),
    )
    output.more(page["total"], paged["offset"] + len(page["plans"]))


@plans.command()
@click.argument("number", type=int)
@click.option("--agent", default="", help="Only moves that this agent gives or takes.")
@click.option("--moves", default=MOVES_SHOWN, show_default=True, type=click.IntRange(1, 1000))
@click.option("--offset", default=0, type=click.IntRange(0), help="Moves to leave out before them.")
@json_answer
def show(target: Target, number: int, agent: str, moves: int, offset: int) -> Iterator[Any]:
    """Show plan NUMBER with its moves, largest gain first."""
    detail = target.calls.get(f"/plans/{number}", agent=agent, limit=moves, offset=offset)
    yield detail
    _show_plan(detail, moves, offset)


@plans.command()
@click.argument("number", type=int)
@json_answer
def apply(target: Target, number: int) -> Iterator[Any]:
    """Apply plan NUMBER; refused if its preconditions have changed since it was made."""
    done = target.calls.post(f"/plans/{number}/apply")
    yield done
    output.say(f"{done['moved']} units moved")


@plans.command()
@click.argument("number", type=int)
@json_answer
def tree(target: Target, number: int) -> Iterator[Any]:
    """Show the spanning tree of plan NUMBER: costs that neighbours would pass, and its moves."""
    seen = target.calls.get(f"/plans/{number}/tree")
    yield seen
    output.say(f"from the costs {seen['basis']} the plan:\n")
    output.table(
        seen["edges"],
        "One agent has no neighbour.",
        output.Column("A", "first"),
        output.Column("B", "second"),
        output.Column("ms/KB", "length", output.figure_text),
        output.Column("Give(A,B)", "give_ms", _signed),
        output.Column("Give(B,A)", "give_back_ms", _signed),
        output.Column("Move(A,B)", "move_ms", _signed),
        output.Column("units A to B", "units"),
        output.Column("B to A", "units_back"),
    )
    apart = [flow for flow in seen["flows"] if not flow["neighbours"]]
    if apart:
        output.say("\nbetween agents that are no neighbours:")
        output.table(
            apart,
            "",
            output.Column("from", "giver"),
            output.Column("to", "taker"),
            output.Column("units"),
            *SAVES_AND_COSTS,
        )


@plans.command()
@click.argument("number", type=int, required=False)
@json_answer
def undo(target: Target, number: int | None) -> Iterator[Any]:
    """Undo the moves of the last applied plan; run again: those of the plan before it.

    With NUMBER only if that plan was applied last.
    """
    made = target.calls.post("/plans/undo", {"standing": number} if number is not None else None)
    yield made
    about = made["plan"]
    output.say(
        f"plan {about['undoes']} is taken back by plan {about['id']}: {about['moves']} units"
    )


def _show_plan(detail: dict[str, Any], moves: int = MOVES_SHOWN, offset: int = 0) -> None:
    about = detail["plan"]
    output.facts(
        (
            ("plan", about["id"]),
            ("method", about["method"]),
            ("made", f"{output.time_text(about['made_ms'])} by {about['made_by']}"),
            ("applied", about["applied_ms"] and output.time_text(about["applied_ms"])),
            ("taken back by", detail["undone_by"] and f"plan {detail['undone_by']}"),
            *_times(detail["time"]),
            ("makespan now", output.ms_text(about["before_ms"])),
            ("makespan then", output.ms_text(about["makespan_ms"])),
            ("best possible", output.ms_text(about["bound_ms"])),
            ("moves", f"{about['moves']} of {about['units']} units"),
        )
    )
    output.say()
    output.table(
        detail["agents"],
        "No agent takes part.",
        output.Column("agent", "name"),
        output.Column("capacity", lambda agent: f"{100 * agent.get('capacity', 1):.3g}%"),
        output.Column("cost now", "before_ms", output.ms_text),
        output.Column("cost then", "after_ms", output.ms_text),
        output.Column("units now", "units_before"),
        output.Column("units then", "units_after"),
        output.Column("takes", _elapsed),
    )
    for sentence in detail["explanation"]:
        output.say(sentence)
    if detail["moves"]:
        output.say()
        _show_moves(detail["moves"][:moves], detail["moving"] - offset)
    if detail["compared"]:
        output.say("\nother methods would give:")
        output.table(
            detail["compared"],
            "There is no other method.",
            output.Column("method"),
            output.Column("makespan", "makespan_ms", output.ms_text),
            output.Column("above the best possible", "above_bound", spoken_change),
            output.Column("crawl ends after", "end_ms", output.ms_text),
            output.Column("network cost", "network_ms", output.ms_text),
            output.Column("moves"),
            output.Column("", "why"),
        )


def _times(time: dict[str, Any] | None) -> list[tuple[str, Any]]:
    """Return the facts of the end of the crawl; none for plans that did not predict it."""
    if time is None:
        return []
    return [
        ("crawl ends now after", _never(time["end_before_ms"])),
        ("crawl ends then after", _never(time["end_ms"])),
        ("not possible before", output.ms_text(time["end_bound_ms"])),
        ("network cost now", output.ms_text(time["network_before_ms"])),
        ("network cost then", output.ms_text(time["network_ms"])),
    ]


def _never(length_ms: float | None) -> str:
    return "never" if length_ms is None else output.ms_text(length_ms)


def _show_moves(moves: list[dict[str, Any]], left: int) -> None:
    output.table(
        moves,
        "Nothing moves.",
        output.Column("unit"),
        output.Column("from", lambda move: move["giver"] or "none"),
        output.Column("to", "taker"),
        *SAVES_AND_COSTS,
        output.Column("gain", _gain),
    )
    if left > len(moves):
        output.say(f"... and {left - len(moves)} more moves")


def _signed(length_ms: float) -> str:
    return f"{'-' if length_ms < 0 else ''}{output.ms_text(abs(length_ms))}"


def _elapsed(agent: dict[str, Any]) -> str:
    if "elapsed_ms" not in agent:
        return "-"
    return "for ever" if agent["elapsed_ms"] is None else output.ms_text(agent["elapsed_ms"])


def _gain(move: dict[str, Any]) -> str | None:
    if move["giver_ms"] is None or move["taker_ms"] is None:
        return None
    return _signed(move["giver_ms"] - move["taker_ms"])

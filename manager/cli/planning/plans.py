"""`prsm plan` makes, previews and applies; `prsm plans` lists, shows, applies and takes back."""

from __future__ import annotations

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
from shared.ratios import spoken_change

__all__ = ["plan", "plans"]

MOVES_SHOWN: Final = 10


@click.command()
@click.option("--method", type=METHODS, default="default", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of random choices.")
@click.option("--apply", is_flag=True, help="Carry it out, too.")
@click.option("--no-compare", is_flag=True, help="Do not try the other methods.")
@moves_option
@json_option
@pass_target
def plan(
    target: Target,
    method: str,
    seed: int,
    apply: bool,
    no_compare: bool,
    moves: float | None,
    as_json: bool,
) -> None:
    """Make a plan: a proposal of units for each agent; nothing moves without --apply.

    Shows the moves with their gains, the makespan before and after, its distance from the best
    possible, and the result of each other method.
    """
    asked = {"method": method, "seed": seed, "compare": not no_compare, "moves": moves}
    made = target.calls.post("/plans", asked)
    number = made["plan"]["id"]
    if apply:
        made["applied"] = target.calls.post(f"/plans/{number}/apply")
    if as_json:
        output.as_json(made)
        return
    _show_plan(made)
    if apply:
        output.say(f"\nplan {number} is applied: {made['applied']['moved']} units changed hands")
    else:
        output.say(f"\n`prsm plans apply {number}` carries it out")


@click.group(invoke_without_command=True)
@click.option("--method", type=METHODS)
@click.option("--applied/--not-applied", default=None, help="Only those that were, or were not.")
@paged_options
@json_option
@click.pass_context
def plans(
    context: click.Context,
    method: str | None,
    applied: bool | None,
    sort: str,
    limit: int,
    offset: int,
    as_json: bool,
) -> None:
    """List plans, newest first; or show, apply or undo one."""
    if context.invoked_subcommand is not None:
        return
    target = context.find_object(Target)
    assert target is not None, "the main command made it"
    page = target.calls.get(
        "/plans", method=method, applied=applied, sort=sort, limit=limit, offset=offset
    )
    if as_json:
        output.as_json(page)
        return
    found = page["plans"]
    filtered = method is not None or applied is not None
    output.table(
        ("plan", "method", "made", "by", "moves", "units", "before", "after", "applied"),
        (
            (
                one["id"],
                one["method"],
                output.time_text(one["made_ms"]),
                one["made_by"],
                one["moves"],
                one["units"],
                output.ms_text(one["before_ms"]),
                output.ms_text(one["makespan_ms"]),
                output.time_text(one["applied_ms"]),
            )
            for one in found
        ),
        "No such plan." if filtered or offset else "No plan yet. `prsm plan` makes one.",
    )
    output.more(page["total"], offset + len(found))


@plans.command()
@click.argument("number", type=int)
@click.option("--agent", default="", help="Only moves that this agent gives or takes.")
@click.option("--moves", default=MOVES_SHOWN, show_default=True, type=click.IntRange(1, 1000))
@click.option("--offset", default=0, type=click.IntRange(0), help="Moves to leave out before them.")
@json_option
@pass_target
def show(target: Target, number: int, agent: str, moves: int, offset: int, as_json: bool) -> None:
    """Show plan NUMBER with its moves, largest gain first."""
    detail = target.calls.get(f"/plans/{number}", agent=agent, limit=moves, offset=offset)
    if as_json:
        output.as_json(detail)
    else:
        _show_plan(detail, moves, offset)


@plans.command()
@click.argument("number", type=int)
@json_option
@pass_target
def apply(target: Target, number: int, as_json: bool) -> None:
    """Apply plan NUMBER; refused if its preconditions have changed since it was made."""
    done = target.calls.post(f"/plans/{number}/apply")
    if as_json:
        output.as_json(done)
    else:
        output.say(f"{done['moved']} units changed hands")


@plans.command()
@click.argument("number", type=int)
@json_option
@pass_target
def tree(target: Target, number: int, as_json: bool) -> None:
    """Show the spanning tree of plan NUMBER: costs that neighbours would pass, and its moves."""
    seen = target.calls.get(f"/plans/{number}/tree")
    if as_json:
        output.as_json(seen)
        return
    output.say(f"from the costs {seen['basis']} the plan:\n")
    output.table(
        ("A", "B", "ms/KB", "Give(A,B)", "Give(B,A)", "Move(A,B)", "units A to B", "B to A"),
        (
            (
                edge["first"],
                edge["second"],
                output.figure_text(edge["length"]),
                _signed(edge["give_ms"]),
                _signed(edge["give_back_ms"]),
                _signed(edge["move_ms"]),
                edge["units"],
                edge["units_back"],
            )
            for edge in seen["edges"]
        ),
        "One agent has no neighbour.",
    )
    apart = [flow for flow in seen["flows"] if not flow["neighbours"]]
    if apart:
        output.say("\nbetween agents that are no neighbours:")
        output.table(
            ("from", "to", "units", "saves", "costs"),
            (
                (
                    flow["giver"],
                    flow["taker"],
                    flow["units"],
                    output.ms_text(flow["giver_ms"]),
                    output.ms_text(flow["taker_ms"]),
                )
                for flow in apart
            ),
            "",
        )


@plans.command()
@click.argument("number", type=int, required=False)
@json_option
@pass_target
def undo(target: Target, number: int | None, as_json: bool) -> None:
    """Undo the moves of the last applied plan; run again: those of the plan before it.

    With NUMBER only if that plan was applied last.
    """
    made = target.calls.post("/plans/undo", {"standing": number} if number is not None else None)
    if as_json:
        output.as_json(made)
        return
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
            ("makespan now", output.ms_text(about["before_ms"])),
            ("makespan then", output.ms_text(about["makespan_ms"])),
            ("best possible", output.ms_text(about["bound_ms"])),
            ("moves", f"{about['moves']} of {about['units']} units"),
        )
    )
    output.say()
    output.table(
        ("agent", "capacity", "cost now", "cost then", "units now", "units then", "takes"),
        (
            (
                agent["name"],
                f"{100 * agent.get('capacity', 1):.3g}%",
                output.ms_text(agent["before_ms"]),
                output.ms_text(agent["after_ms"]),
                agent["units_before"],
                agent["units_after"],
                _elapsed(agent),
            )
            for agent in detail["agents"]
        ),
        "No agent takes part.",
    )
    for sentence in detail["explanation"]:
        output.say(sentence)
    if detail["moves"]:
        output.say()
        _show_moves(detail["moves"][:moves], detail["moving"] - offset)
    if detail["compared"]:
        output.say("\nother methods would give:")
        _show_compared(detail["compared"])


def _show_moves(moves: list[dict[str, Any]], left: int) -> None:
    output.table(
        ("unit", "from", "to", "saves", "costs", "gain"),
        (
            (
                move["unit"],
                move["giver"] or "none",
                move["taker"],
                output.ms_text(move["giver_ms"]),
                output.ms_text(move["taker_ms"]),
                _gain(move["giver_ms"], move["taker_ms"]),
            )
            for move in moves
        ),
        "Nothing moves.",
    )
    if left > len(moves):
        output.say(f"... and {left - len(moves)} more moves")


def _signed(length_ms: float) -> str:
    return f"{'-' if length_ms < 0 else ''}{output.ms_text(abs(length_ms))}"


def _elapsed(agent: dict[str, Any]) -> str:
    if "elapsed_ms" not in agent:
        return "-"
    return "for ever" if agent["elapsed_ms"] is None else output.ms_text(agent["elapsed_ms"])


def _gain(giver_ms: float | None, taker_ms: float | None) -> str | None:
    if giver_ms is None or taker_ms is None:
        return None
    gain_ms = giver_ms - taker_ms
    return _signed(gain_ms)


def _show_compared(compared: list[dict[str, Any]]) -> None:
    output.table(
        ("method", "makespan", "above the best possible", "moves", ""),
        (
            (
                one["method"],
                output.ms_text(one["makespan_ms"]),
                spoken_change(one["above_bound"]),
                one["moves"],
                one["why"],
            )
            for one in compared
        ),
        "There is no other method.",
    )

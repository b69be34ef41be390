"""`prsm rounds`: start, list, show, cancel; make plans and apply them."""

from __future__ import annotations

from typing import Any, Final

import click

from manager.cli import showing
from manager.cli.options import Place, json_option, pass_place

__all__ = ["rounds"]

METHODS: Final = click.Choice(["random", "tree", "keep", "prices"])


@click.group()
def rounds() -> None:
    """Rounds: probe, assign, crawl, report, equalise, again."""


@rounds.command()
@click.option("--method", type=METHODS, default="prices", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, help="Of what is left to chance.")
@click.option("--no-probe", is_flag=True, help="Go on with the distances that are known.")
@json_option
@pass_place
def start(place: Place, method: str, seed: int, no_probe: bool, as_json: bool) -> None:
    """Start a round."""
    body = {"method": method, "seed": seed, "probe": not no_probe}
    _show(place.calls.post("/rounds", body), as_json)


@rounds.command("list")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000))
@json_option
@pass_place
def list_(place: Place, limit: int, as_json: bool) -> None:
    """List rounds, newest first."""
    found = place.calls.get("/rounds", limit=limit)
    if as_json:
        showing.as_json(found)
        return
    showing.table(
        ("round", "state", "method", "started", "makespan", "of", "took"),
        (
            (
                one["number"],
                one["state"],
                one["method"],
                showing.time_text(one["started_ms"]),
                showing.ms_text(one["makespan_ms"]),
                one["makespan_agent"],
                showing.ms_text(one["elapsed_ms"]),
            )
            for one in found
        ),
        "No round yet. `prsm rounds start` begins one.",
    )


@rounds.command()
@click.argument("number", type=int, required=False)
@json_option
@pass_place
def show(place: Place, number: int | None, as_json: bool) -> None:
    """Show round NUMBER, or the newest one."""
    if number is None:
        newest = place.calls.get("/rounds", limit=1)
        number = newest[0]["number"] if newest else 0
    _show(place.calls.get(f"/rounds/{number}"), as_json)


@rounds.command()
@click.option("--reason", default="", help="Why, for the audit.")
@json_option
@pass_place
def cancel(place: Place, reason: str, as_json: bool) -> None:
    """Cancel the round that goes on."""
    _show(place.calls.post("/rounds/cancel", {"reason": reason}), as_json)


@rounds.command()
@click.option("--method", type=METHODS, default="prices", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, help="Of what is left to chance.")
@click.option("--apply", is_flag=True, help="Carry it out, too.")
@json_option
@pass_place
def plan(place: Place, method: str, seed: int, apply: bool, as_json: bool) -> None:
    """Make a plan of who gets which units; nothing moves without --apply."""
    made = place.calls.post("/plans", {"method": method, "seed": seed})
    number = made["plan"]["id"]
    if apply:
        made["applied"] = place.calls.post(f"/plans/{number}/apply")
    if as_json:
        showing.as_json(made)
        return
    _show_plan(made)
    if apply:
        click.echo(f"\nplan {number} is applied: {made['applied']['moved']} units changed hands")
    else:
        click.echo(f"\n`prsm rounds apply {number}` carries it out")


@rounds.command()
@click.argument("number", type=int)
@json_option
@pass_place
def apply(place: Place, number: int, as_json: bool) -> None:
    """Carry out plan NUMBER, where nothing has changed since it was made."""
    done = place.calls.post(f"/plans/{number}/apply")
    if as_json:
        showing.as_json(done)
    else:
        click.echo(f"{done['moved']} units changed hands")


def _show(detail: dict[str, Any], as_json: bool) -> None:
    if as_json:
        showing.as_json(detail)
        return
    about = detail["round"]
    showing.facts(
        (
            ("round", about["number"]),
            ("state", about["state"]),
            ("method", about["method"]),
            ("started", f"{showing.time_text(about['started_ms'])} by {about['started_by']}"),
            ("crawl began", showing.time_text(about["crawling_ms"])),
            ("finished", showing.time_text(about["finished_ms"])),
            ("reason", about["reason"]),
            ("probes", _counts(detail["orders"])),
            ("units", _counts(detail["units"])),
            ("planned", showing.ms_text(detail["planned_ms"])),
            ("best possible", showing.ms_text(detail["bound_ms"])),
            ("measured", showing.ms_text(about["makespan_ms"])),
            ("of", about["makespan_agent"]),
        )
    )


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {state}" for state, number in counts.items())


def _show_plan(detail: dict[str, Any]) -> None:
    about = detail["plan"]
    showing.facts(
        (
            ("plan", about["id"]),
            ("method", about["method"]),
            ("makespan now", showing.ms_text(about["before_ms"])),
            ("makespan then", showing.ms_text(about["makespan_ms"])),
            ("best possible", showing.ms_text(about["bound_ms"])),
            ("moves", f"{about['moves']} of {about['units']} units"),
        )
    )
    click.echo()
    showing.table(
        ("agent", "cost now", "cost then", "units now", "units then"),
        (
            (
                agent["name"],
                showing.ms_text(agent["before_ms"]),
                showing.ms_text(agent["after_ms"]),
                agent["units_before"],
                agent["units_after"],
            )
            for agent in detail["agents"]
        ),
        "No agent takes part.",
    )
    for sentence in detail["explanation"]:
        click.echo(sentence)

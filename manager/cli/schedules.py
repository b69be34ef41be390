"""`prsm rounds schedule`: rounds that begin by the clock."""

from __future__ import annotations

from typing import Any

import click

from manager.cli import showing
from manager.cli.options import METHODS, Place, json_option, moves_option, pass_place

__all__ = ["schedule"]


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def schedule(context: click.Context, as_json: bool) -> None:
    """Rounds that begin by the clock; alone, it lists them with their next runs."""
    if context.invoked_subcommand is not None:
        return
    place = context.find_object(Place)
    assert place is not None, "the main command made it"
    found = place.calls.get("/rounds/schedules")
    if as_json:
        showing.as_json(found)
        return
    if not found:
        click.echo("No schedule. `prsm rounds schedule add '0 2 * * *'` begins one every night.")
    for one in found:
        _show(one)


@schedule.command()
@click.argument("crontab")
@click.option("--zone", default="UTC", show_default=True, help="Time zone, as Asia/Tokyo.")
@click.option("--method", type=METHODS, default="default", show_default=True)
@click.option("--no-probe", is_flag=True, help="Go on with the distances that are known.")
@moves_option
@json_option
@pass_place
def add(
    place: Place,
    crontab: str,
    zone: str,
    method: str,
    no_probe: bool,
    moves: float | None,
    as_json: bool,
) -> None:
    """Begin a round at the times of CRONTAB: minute, hour, day, month, day of week.

    A time at which a round goes on is skipped; the audit says so.
    """
    body = {
        "crontab": crontab,
        "zone": zone,
        "method": method,
        "probe": not no_probe,
        "moves": moves,
    }
    made = place.calls.post("/rounds/schedules", body)
    if as_json:
        showing.as_json(made)
    else:
        _show(made)


@schedule.command()
@click.argument("number", type=int)
@pass_place
def remove(place: Place, number: int) -> None:
    """Begin no round by schedule NUMBER any more."""
    place.calls.post(f"/rounds/schedules/{number}/remove")
    click.echo(f"schedule {number} is removed")


def _show(one: dict[str, Any]) -> None:
    about, moves = one["schedule"], one["schedule"]["plan_moves"]
    showing.facts(
        (
            ("schedule", about["id"]),
            ("times", f"{about['crontab']} ({about['zone']})"),
            ("method", f"{about['method']}{'' if about['probe'] else ', without probing'}"),
            (
                "moves",
                "as the policy says" if moves is None else f"at most {moves:.1%} of the units",
            ),
            ("made by", about["made_by"]),
            ("last time", about["last_ms"] and showing.time_text(about["last_ms"])),
            ("result", about["last_result"]),
            *(("next" if not number else "", run) for number, run in enumerate(one["next_runs"])),
        )
    )
    click.echo()

"""`prsm alerts`: what administrators were told of, and quiet for maintenance."""

from __future__ import annotations

import click

from manager.cli import showing
from manager.cli.options import Place, json_option, pass_place

__all__ = ["alerts"]


@click.group(invoke_without_command=True)
@json_option
@pass_place
@click.pass_context
def alerts(context: click.Context, place: Place, as_json: bool) -> None:
    """Show the troubles that go on, as far as somebody was told of them."""
    if context.invoked_subcommand is not None:
        return
    seen = place.calls.get("/alerts")
    if as_json:
        showing.as_json(seen)
        return
    showing.table(
        ("since", "told", "what"),
        (
            (showing.time_text(one["since_ms"]), showing.time_text(one["told_ms"]), one["text"])
            for one in seen["troubles"]
        ),
        "Nobody was told of anything that goes on.",
    )
    if seen["quiet_until_ms"]:
        click.echo(f"quiet until {showing.time_text(seen['quiet_until_ms'])}")


@alerts.command()
@click.option("--hours", type=click.FloatRange(0, 720), required=True, help="0 ends it.")
@click.option("--reason", default="", help="For the audit.")
@pass_place
def quiet(place: Place, hours: float, reason: str) -> None:
    """Tell nobody of troubles for some hours, for maintenance. A cron line makes it regular."""
    seen = place.calls.post("/alerts/quiet", {"seconds": hours * 3600, "reason": reason})
    until = seen["quiet_until_ms"]
    click.echo(f"quiet until {showing.time_text(until)}" if until else "troubles are told")

"""`prsm rounds forecast`, and the forecast in `prsm rounds show` and `start`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click

from manager.cli import output
from manager.cli.options import Target, json_answer

__all__ = ["forecast", "show_forecast", "show_warnings"]

REASONS: Final = {
    "working": "it works",
    "asleep": "it calls again later",
    "closed": "its hours are closed",
    "late": "it is late; others take its work then",
    "lost": "it is lost; others take its work",
    "paused": "it is paused",
}


@click.command()
@click.option("--no-probe", is_flag=True, help="Of a round without probes.")
@click.option(
    "--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="Of agents."
)
@json_answer
def forecast(target: Target, no_probe: bool, limit: int) -> Iterator[Any]:
    """Predict a round that would start now."""
    found = target.calls.get("/rounds/forecast", probe=not no_probe, limit=limit)
    yield found
    show_forecast(found)


def show_warnings(found: dict[str, Any]) -> None:
    """Print the warnings of a forecast to stderr."""
    for warning in found["warnings"]:
        output.say(f"warning: {warning}", err=True)


def show_forecast(found: dict[str, Any]) -> None:
    """Show when a round ends, and the agents that it waits for."""
    show_warnings(found)
    output.facts(
        (
            ("probing ends", output.time_text(found["probing_end_ms"])),
            ("end, predicted now", output.time_text(found["end_ms"])),
            ("end, expected first", output.time_text(found["expected_ms"])),
            ("late by", output.ms_text(found["late_ms"] or None)),
        )
    )
    if not found["agents"]:
        return
    output.say()
    output.table(
        found["agents"],
        "",
        output.Column("agent"),
        output.Column("left", "work"),
        output.Column("reason", lambda one: REASONS[one["reason"]]),
        output.Column("until", "until_ms", output.time_text),
        output.Column("ends", "end_ms", output.time_text),
    )
    more = found["total"] - len(found["agents"])
    if more > 0:
        output.say(f"... {more} more agents; --limit shows more of them")

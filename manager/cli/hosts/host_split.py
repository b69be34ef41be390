"""`prsm hosts split` and `merge`: a host that is too big for one agent, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from manager.cli import output
from manager.cli.options import Target, json_answer

__all__ = ["merge", "split"]

UNITS_SHOWN = 6


@click.command()
@click.argument("host")
@click.option("--pieces", type=int, help="Agents at once; all that could, 8 at most, if not given.")
@click.option(
    "--interval-s",
    type=float,
    help="Seconds between two requests to it, whoever sends them; as its owner keeps alone, if "
    "not given.",
)
@click.option("--dry-run", is_flag=True, help="Only show how it would be cut.")
@json_answer
def split(target: Target, **options: Any) -> Iterator[Any]:
    """Split HOST by its directories among agents; its total request rate stays the same."""
    made = target.calls.post("/hosts/split", options)
    yield made
    output.table(
        made["pieces"],
        "It was cut into nothing.",
        output.Column("agent"),
        output.Column("share", lambda piece: f"{piece['share']:.1%}"),
        output.Column("pages"),
        output.Column("bytes", "size_bytes", output.bytes_text),
        output.Column("directories", "units", _directories),
    )
    each_s = made["interval_s"] * len(made["pieces"])
    output.say(
        f"by round {made['round']}; the longest piece is {made['unevenness']:.2f} times the mean; "
        f"{made['interval_s']:g} s between two requests, so {each_s:g} s at each agent"
    )
    output.say(f"{made['host']} is split" if made["applied"] else "nothing was changed (--dry-run)")


@click.command()
@click.argument("host")
@json_answer
def merge(target: Target, host: str) -> Iterator[Any]:
    """Merge the pieces of HOST into one unit, owned by the agent of its top directory."""
    made = target.calls.post("/hosts/merge", {"host": host})
    yield made
    output.say(f"{host} is whole again: {made['units']} directories were merged")


def _directories(units: list[str]) -> str:
    more = len(units) - UNITS_SHOWN
    return " ".join(units[:UNITS_SHOWN]) + (f" and {more} more" if more > 0 else "")

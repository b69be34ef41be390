"""`prsm hosts split` and `merge`: a host that is too big for one agent, and back."""

from __future__ import annotations

import click

from manager.cli import output
from manager.cli.options import Target, json_option, pass_target

__all__ = ["merge", "split"]

UNITS_SHOWN = 6


@click.command()
@click.argument("host")
@click.option("--pieces", type=int, help="Agents at once; all that could, 8 at most, if not given.")
@click.option(
    "--interval-s",
    type=float,
    help="Seconds between two requests to it, whoever sends them; else policy.split_interval_s.",
)
@click.option("--dry-run", is_flag=True, help="Only show how it would be cut.")
@json_option
@pass_target
def split(
    target: Target,
    host: str,
    pieces: int | None,
    interval_s: float | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Split HOST by its directories among agents; its total request rate stays the same."""
    asked = {"host": host, "pieces": pieces, "interval_s": interval_s, "dry_run": dry_run}
    made = target.calls.post("/hosts/split", asked)
    if as_json:
        output.as_json(made)
        return
    output.table(
        ("agent", "share", "pages", "bytes", "directories"),
        (
            (
                piece["agent"],
                f"{piece['share']:.1%}",
                piece["pages"],
                output.bytes_text(piece["size_bytes"]),
                _directories(piece["units"]),
            )
            for piece in made["pieces"]
        ),
        "It was cut into nothing.",
    )
    each_s = made["interval_s"] * len(made["pieces"])
    output.say(
        f"by round {made['round']}; the longest piece is {made['unevenness']:.2f} times the mean; "
        f"{made['interval_s']:g} s between two requests, so {each_s:g} s at each agent"
    )
    output.say(f"{made['host']} is split" if made["applied"] else "nothing was changed (--dry-run)")


@click.command()
@click.argument("host")
@json_option
@pass_target
def merge(target: Target, host: str, as_json: bool) -> None:
    """Merge the pieces of HOST into one unit, owned by the agent of its top directory."""
    made = target.calls.post("/hosts/merge", {"host": host})
    if as_json:
        output.as_json(made)
        return
    output.say(f"{host} is whole again: {made['units']} directories were merged")


def _directories(units: list[str]) -> str:
    more = len(units) - UNITS_SHOWN
    return " ".join(units[:UNITS_SHOWN]) + (f" and {more} more" if more > 0 else "")

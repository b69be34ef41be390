"""`prsm managers`: which processes serve the database, and which leads."""

from __future__ import annotations

import click

from manager.cli import showing
from manager.cli.options import Place, json_option, pass_place

__all__ = ["managers"]


@click.command()
@json_option
@pass_place
def managers(place: Place, as_json: bool) -> None:
    """Show the managers of this database, which of them leads, and the last tick."""
    seen = place.calls.get("/managers")
    if as_json:
        showing.as_json(seen)
        return
    showing.table(
        ("manager", "version", "since", "last sign of life", ""),
        (
            (
                one["place"],
                one["version"],
                showing.time_text(one["started_ms"]),
                showing.time_text(one["seen_ms"]),
                f"leads, epoch {seen['epoch']}" if one["leads"] else "",
            )
            for one in seen["managers"]
        ),
        "Nobody serves this database.",
    )
    showing.facts((("last tick", showing.time_text(seen["last_tick_ms"])),))

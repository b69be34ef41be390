"""`prsm managers`: which processes serve the database, which leads; forget one that is gone."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import click

from manager.cli import output
from manager.cli.options import Target, json_option, pass_target

__all__ = ["managers"]


@click.group(invoke_without_command=True)
@json_option
@pass_target
@click.pass_context
def managers(context: click.Context, target: Target, as_json: bool) -> None:
    """The managers of this database; without a command: the leader, the installation id,
    the last tick."""
    if context.invoked_subcommand is not None:
        return
    seen = target.calls.get("/managers")
    if as_json:
        output.as_json(seen)
        return
    output.table(
        ("manager", "place", "version", "since", "last sign of life", ""),
        (
            (
                one["name"],
                one["place"],
                one["version"],
                output.time_text(one["started_ms"]),
                output.time_text(one["seen_ms"]),
                _part(one, seen["epoch"]),
            )
            for one in seen["managers"]
        ),
        "No manager serves this database.",
    )
    output.facts(
        (
            ("installation", seen["installation"]),
            ("last tick", output.time_text(seen["last_tick_ms"])),
        )
    )


def _part(one: dict[str, Any], epoch: int) -> str:
    if one["leads"]:
        return f"leads, epoch {epoch}"
    return "silent" if one["is_silent"] else "stands by"


@managers.command()
@click.argument("name")
@pass_target
def forget(target: Target, name: str) -> None:
    """Forget the manager NAME, which was removed permanently."""
    target.calls.post(f"/managers/{quote(name, safe='')}/forget")

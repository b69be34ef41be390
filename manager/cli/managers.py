"""`prsm managers`: which processes serve the database, which leads; forget one that is gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import click

from manager.cli import output
from manager.cli.options import Target, json_answer, pass_target

__all__ = ["managers"]


@click.group(invoke_without_command=True)
@json_answer
def managers(target: Target) -> Iterator[Any]:
    """The managers of this database; without a command: the leader, the installation id,
    the last tick."""
    seen = target.calls.get("/managers")
    yield seen
    output.table(
        seen["managers"],
        "No manager serves this database.",
        output.Column("manager", "name"),
        *output.columns("place", "version"),
        output.Column("since", "started_ms", output.time_text),
        output.Column("last sign of life", "seen_ms", output.time_text),
        output.Column("", lambda one: _part(one, seen["epoch"])),
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

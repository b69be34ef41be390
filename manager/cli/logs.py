"""`prsm logs`: look for lines of crawl logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from manager.cli import output
from manager.cli.options import Target, json_option, pass_target

__all__ = ["logs"]

PORTION = 1000


@click.command()
@click.option("--host", default="", help="A name, or `*.example.jp` for all below it.")
@click.option("--url", default="", help="A part of it.")
@click.option("--status", default="", help="404, 5xx, `none` (no answer), or `bad`.")
@click.option("--kind", default="", help="probe, crawl or refetch.")
@click.option("--agent", default="", help="Only of this agent.")
@click.option(
    "--since",
    default="",
    help="A day or a moment, as 2026-11-21T04:30; UTC, or with a zone, as +09:00.",
)
@click.option("--until", default="", help="The same; a day is meant to its end.")
@click.option("--quarantined", is_flag=True, help="Only lines of units that the agent did not own.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 10**9))
@json_option
@pass_target
def logs(target: Target, /, limit: int, as_json: bool, **wanted: Any) -> None:
    """Show lines of crawl logs, newest first; with --json one object a line."""
    lines = _lines(target, limit, wanted)
    if as_json:
        for line in lines:
            click.echo(json.dumps(line, ensure_ascii=False))
        return
    output.table(
        ("agent", "time", "kind", "status", "bytes", "ms", "url"),
        (
            (
                line["agent"],
                ("" if line["is_exact"] else "~") + output.time_text(line["at_ms"]),
                line["kind"] + ("" if line["unit"] is not None else ", quarantined"),
                line["status"] or "none",
                line["response_bytes"],
                line["elapsed_ms"],
                line["url"],
            )
            for line in lines
        ),
        "No line is like that.",
    )


def _lines(target: Target, limit: int, wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield lines, portion by portion, until there are enough or all was looked at."""
    mark = ""
    while limit > 0:
        portion = target.calls.get("/logs", **wanted, mark=mark, limit=min(PORTION, limit))
        yield from portion["lines"]
        limit -= len(portion["lines"])
        mark = portion["next"]
        if mark is None:
            return

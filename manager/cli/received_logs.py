"""`prsm reports`: the accepted crawl logs."""

from __future__ import annotations

import click

from manager.cli import output
from manager.cli.options import Target, before_option, json_option, pass_target

__all__ = ["reports"]

LIMIT = click.IntRange(1, 1000)


@click.command()
@click.option("--limit", default=50, show_default=True, type=LIMIT)
@click.option("--agent", default="", help="Only of this agent.")
@before_option
@json_option
@pass_target
def reports(target: Target, limit: int, agent: str, before: int | None, as_json: bool) -> None:
    """List the accepted crawl logs, newest first."""
    rows = target.calls.get("/reports", limit=limit, agent=agent, before_id=before)
    if as_json:
        output.as_json(rows)
        return
    output.table(
        ("report", "received", "lines", "not held", "size"),
        (
            (
                row["name"],
                output.time_text(row["received_ms"]),
                row["lines"],
                row["quarantined"],
                output.bytes_text(row["size_bytes"]),
            )
            for row in rows
        ),
        "No log yet. Agents send them when they have finished a list.",
    )

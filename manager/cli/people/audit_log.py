"""`prsm audit`: the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from manager.cli import output
from manager.cli.options import Target, before_option, json_answer

__all__ = ["audit"]


@click.command()
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1000))
@click.option("--action", default="", help="Its beginning, as `agent.`.")
@click.option("--subject", default="", help="What it was done to.")
@click.option("--actor", default="", help="Who did it.")
@click.option("--alerts", is_flag=True, help="Only what a person should look at.")
@before_option
@json_answer
def audit(target: Target, before: int | None, **wanted: Any) -> Iterator[Any]:
    """Show the audit log: who did what and when, newest first."""
    return output.answer_rows(
        target.calls.get("/audit", **wanted, before_id=before),
        "Nothing happened yet.",
        output.Column("when", "at_ms", output.time_text),
        output.Column("who", lambda row: f"{row['actor_kind']} {row['actor_name']}"),
        output.Column("from", lambda row: row["address"] or "-"),
        output.Column("what", lambda row: row["action"] + ("!" if row["alert"] else "")),
        output.Column("to", "subject"),
        output.Column("detail"),
    )

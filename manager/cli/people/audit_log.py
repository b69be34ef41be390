"""`prsm audit`: the audit log."""

from __future__ import annotations

import click

from manager.cli import output
from manager.cli.options import Target, before_option, json_option, pass_target

__all__ = ["audit"]

LIMIT = click.IntRange(1, 1000)


@click.command()
@click.option("--limit", default=50, show_default=True, type=LIMIT)
@click.option("--action", default="", help="Its beginning, as `agent.`.")
@click.option("--subject", default="", help="What it was done to.")
@click.option("--actor", default="", help="Who did it.")
@click.option("--alerts", is_flag=True, help="Only what a person should look at.")
@before_option
@json_option
@pass_target
def audit(
    target: Target,
    limit: int,
    action: str,
    subject: str,
    actor: str,
    alerts: bool,
    before: int | None,
    as_json: bool,
) -> None:
    """Show the audit log: who did what and when, newest first."""
    asked = {"action": action, "subject": subject, "actor": actor, "alerts": alerts}
    rows = target.calls.get("/audit", limit=limit, before_id=before, **asked)
    if as_json:
        output.as_json(rows)
        return
    output.table(
        ("when", "who", "from", "what", "to", "detail"),
        (
            (
                output.time_text(row["at_ms"]),
                f"{row['actor_kind']} {row['actor_name']}",
                row["address"] or "-",
                row["action"] + ("!" if row["alert"] else ""),
                row["subject"],
                row["detail"],
            )
            for row in rows
        ),
        "Nothing happened yet.",
    )

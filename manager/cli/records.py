"""`prsm audit`, `prsm reports`, `prsm check`: what happened, and whether all fits together."""

from __future__ import annotations

import click

from manager.cli import showing
from manager.cli.calling import RefusedError
from manager.cli.options import Place, json_option, pass_place

__all__ = ["audit", "check", "reports"]

LIMIT = click.IntRange(1, 1000)

before_option = click.option(
    "--before", type=click.IntRange(1), help="Only those before this `id` of --json."
)


@click.command()
@click.option("--limit", default=50, show_default=True, type=LIMIT)
@click.option("--action", default="", help="Its beginning, as `agent.`.")
@click.option("--subject", default="", help="What it was done to.")
@click.option("--actor", default="", help="Who did it.")
@click.option("--alerts", is_flag=True, help="Only what a person should look at.")
@before_option
@json_option
@pass_place
def audit(
    place: Place,
    limit: int,
    action: str,
    subject: str,
    actor: str,
    alerts: bool,
    before: int | None,
    as_json: bool,
) -> None:
    """Show who did what and when, newest first."""
    asked = {"action": action, "subject": subject, "actor": actor, "alerts": alerts}
    rows = place.calls.get("/audit", limit=limit, before_id=before, **asked)
    if as_json:
        showing.as_json(rows)
        return
    showing.table(
        ("when", "who", "from", "what", "to", "detail"),
        (
            (
                showing.time_text(row["at_ms"]),
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


@click.command()
@click.option("--limit", default=50, show_default=True, type=LIMIT)
@click.option("--agent", default="", help="Only of this agent.")
@before_option
@json_option
@pass_place
def reports(place: Place, limit: int, agent: str, before: int | None, as_json: bool) -> None:
    """List the crawl logs that were taken, newest first."""
    rows = place.calls.get("/reports", limit=limit, agent=agent, before_id=before)
    if as_json:
        showing.as_json(rows)
        return
    showing.table(
        ("report", "received", "lines", "not held", "size"),
        (
            (
                row["name"],
                showing.time_text(row["received_ms"]),
                row["lines"],
                row["quarantined"],
                showing.bytes_text(row["size_bytes"]),
            )
            for row in rows
        ),
        "No log yet. Agents send them when they have finished a list.",
    )


@click.command()
@json_option
@pass_place
def check(place: Place, as_json: bool) -> None:
    """Check that the tables fit together; exit code 1 where they do not."""
    found = place.calls.get("/check")
    if as_json:
        showing.as_json(found)
    for finding in [] if as_json else found["findings"]:
        click.echo(f"{finding['subject']}: {finding['problem']}", err=True)
    if found["findings"]:
        raise RefusedError(f"{len(found['findings'])} things are not as they must be")
    if not as_json:
        click.echo("all is as it should be")

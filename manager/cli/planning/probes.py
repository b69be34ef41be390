"""`prsm probes`: what is measured and how lately; more are ordered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from manager.cli import output
from manager.cli.options import Target, json_answer

__all__ = ["probes"]

_older_option = click.option(
    "--older", type=click.FloatRange(0, 3650), help="Measured more than so many days ago."
)


@click.group(invoke_without_command=True)
@json_answer
def probes(target: Target) -> Iterator[Any]:
    """Show the share of pairs of agent and host with fresh probes; or list or order probes."""
    seen = target.calls.get("/probes/coverage")
    yield seen
    output.say(
        f"{seen['hosts_fresh']} of {seen['hosts']} hosts were measured within"
        f" {seen['fresh_days']:g} days\n"
    )
    output.table(
        seen["agents"],
        "No agent has joined.",
        *output.columns("agent", "measured", "fresh", "unreachable", "waiting"),
        output.Column("under way", "under_way"),
        output.Column("failed"),
        output.Column("not needed", "not_needed"),
        output.Column("suspect", lambda one: one["suspect_reason"] or None),
    )


@probes.command(name="list")
@click.option("--agent", default="", help="Only of this agent.")
@click.option("--host", default="", help="Only of this host.")
@_older_option
@click.option("--unreachable", is_flag=True, help="Only what could not be fetched.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1000))
@json_answer
def list_pairs(
    target: Target, older: float | None, unreachable: bool, **options: Any
) -> Iterator[Any]:
    """List measured distances, oldest first."""
    reached = "unreachable" if unreachable else ""
    return output.answer_rows(
        target.calls.get("/probes", **options, older_days=older, reached=reached),
        "Nothing like that was measured.",
        *output.columns("agent", "host"),
        output.Column("ms/KB", "ms_per_kb", _ms_per_kb),
        output.Column("measured", "measured_ms", output.time_text),
        output.Column("by", "kind"),
        output.Column("round"),
    )


def _ms_per_kb(value: float | None) -> str:
    return "unreachable" if value is None else output.figure_text(value)


@probes.command()
@click.option("--host", default="", help="Of this host, however fresh its distances are.")
@click.option("--agent", default="", help="By this agent.")
@_older_option
@json_answer
def order(target: Target, host: str, agent: str, older: float | None) -> Iterator[Any]:
    """Order probes, in the running round or at the start of the next."""
    if not host and not agent and older is None:
        raise click.UsageError("name a --host, an --agent, or an age with --older DAYS")
    done = target.calls.post("/probes", {"host": host, "agent": agent, "older_days": older})
    yield done
    when = "when it begins" if done["waits"] else "now"
    output.say(f"{done['orders']} probes are ordered in round {done['round']}, {when}")
    if done["known"]:
        output.say(f"{done['known']} were ordered in it already")
    if done["left_out"]:
        output.say(f"{done['left_out']} are left out: their agent or host has no room today")
    if done["is_cut"]:
        output.say("there are more: only the oldest were looked at; order again after them")

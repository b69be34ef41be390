"""`prsm probes`: what is measured and how lately; more are ordered."""

from __future__ import annotations

from typing import Any

import click

from manager.cli import output
from manager.cli.options import Target, json_option, pass_target

__all__ = ["probes"]


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def probes(context: click.Context, as_json: bool) -> None:
    """Show the share of pairs of agent and host with fresh probes; or list or order probes."""
    if context.invoked_subcommand is not None:
        return
    target = context.find_object(Target)
    assert target is not None, "the main command made it"
    seen = target.calls.get("/probes/coverage")
    if as_json:
        output.as_json(seen)
        return
    output.say(
        f"{seen['hosts_fresh']} of {seen['hosts']} hosts were measured within"
        f" {seen['fresh_days']:g} days\n"
    )
    output.table(
        ("agent", "measured", "fresh", "unreachable", "waiting", "under way", "failed", "suspect"),
        (
            (
                one["agent"],
                one["measured"],
                one["fresh"],
                one["unreachable"],
                one["waiting"],
                one["under_way"],
                one["failed"],
                one["suspect_reason"] or None,
            )
            for one in seen["agents"]
        ),
        "No agent has joined.",
    )


@probes.command(name="list")
@click.option("--agent", default="", help="Only of this agent.")
@click.option("--host", default="", help="Only of this host.")
@click.option(
    "--older", type=click.FloatRange(0, 3650), help="Measured more than so many days ago."
)
@click.option("--unreachable", is_flag=True, help="Only what could not be fetched.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1000))
@json_option
@pass_target
def list_pairs(
    target: Target,
    agent: str,
    host: str,
    older: float | None,
    unreachable: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List measured distances, oldest first."""
    asked: dict[str, Any] = {"agent": agent, "host": host, "limit": limit}
    if older is not None:
        asked["older_days"] = older
    if unreachable:
        asked["reached"] = "unreachable"
    found = target.calls.get("/probes", **asked)
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("agent", "host", "ms/KB", "measured", "by", "round"),
        (
            (
                one["agent"],
                one["host"],
                "unreachable" if one["ms_per_kb"] is None else output.figure_text(one["ms_per_kb"]),
                output.time_text(one["measured_ms"]),
                one["kind"],
                one["round"],
            )
            for one in found
        ),
        "Nothing like that was measured.",
    )


@probes.command()
@click.option("--host", default="", help="Of this host, however fresh its distances are.")
@click.option("--agent", default="", help="By this agent.")
@click.option(
    "--older", type=click.FloatRange(0, 3650), help="Measured more than so many days ago."
)
@json_option
@pass_target
def order(target: Target, host: str, agent: str, older: float | None, as_json: bool) -> None:
    """Order probes, in the running round or at the start of the next."""
    if not host and not agent and older is None:
        raise click.UsageError("name a --host, an --agent, or an age with --older DAYS")
    done = target.calls.post("/probes", {"host": host, "agent": agent, "older_days": older})
    if as_json:
        output.as_json(done)
        return
    when = "when it begins" if done["waits"] else "now"
    output.say(f"{done['orders']} probes are ordered in round {done['round']}, {when}")
    if done["known"]:
        output.say(f"{done['known']} were ordered in it already")
    if done["left_out"]:
        output.say(f"{done['left_out']} are left out: their agent or host has no room today")
    if done["is_cut"]:
        output.say("there are more: only the oldest were looked at; order again after them")

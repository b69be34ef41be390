"""`prsm fleet`: what all agents keep to, a block list and limits of politeness."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

import click

from manager.cli import output
from manager.cli.options import Target, json_answer, pass_target

__all__ = ["fleet"]


@click.group(invoke_without_command=True)
@json_answer
def fleet(target: Target) -> Iterator[Any]:
    """Rules for all agents; without a command: the list. In force from each agent's next sync."""
    found = target.calls.get("/fleet-rules")
    yield found
    output.table(
        found["blocked"],
        "No URL is blocked.",
        output.Column("number", "id"),
        output.Column("expression", "pattern"),
        output.Column("since", "added_ms", output.time_text),
        output.Column("by", "added_by"),
        output.Column("reason"),
    )
    limits = found["limits"]
    if limits["interval_s"] is not None:
        output.say(f"interval at least {limits['interval_s']:g} s")
    if limits["parallel_hosts"] is not None:
        output.say(f"at most {limits['parallel_hosts']} hosts at a time")
    if limits["bytes_per_s"] is not None:
        output.say(f"at most {limits['bytes_per_s']} bytes/s")


@fleet.command()
@click.argument("patterns", nargs=-1)
@click.option("--file", type=click.File(encoding="utf-8"), help="Expressions, one a line.")
@click.option("--reason", default="", help="For who reads the list.")
@pass_target
def block(target: Target, patterns: tuple[str, ...], file: TextIO | None, reason: str) -> None:
    """Block URLs that match one of the RE2 expressions PATTERNS (block list)."""
    text = "\n".join(patterns) + ("\n" + file.read() if file is not None else "")
    done = target.calls.post("/fleet-rules/blocked", {"text": text, "reason": reason})
    output.say(f"{done['added']} lines are new")


@fleet.command()
@click.argument("number", type=int)
@pass_target
def unblock(target: Target, number: int) -> None:
    """Remove line NUMBER from the block list."""
    target.calls.post(f"/fleet-rules/blocked/{number}/remove")


@fleet.command("try")
@click.argument("url")
@click.option("--pattern", default="", help="This expression, not the list.")
@pass_target
def try_(target: Target, url: str, pattern: str) -> None:
    """Show the lines of the block list that block a URL or a host."""
    found = target.calls.get("/fleet-rules/try", url=url, pattern=pattern)
    for one in found["blocked_by"]:
        line = f"line {one['id']}: " if one["id"] else ""
        output.say(output.printable(f"{found['url']} is blocked by {line}{one['pattern']}"))
    if not found["blocked_by"]:
        output.say(output.printable(f"{found['url']} is not blocked"))


@fleet.command()
@click.option("--interval-s", type=float, help="Between two requests to an address, at least.")
@click.option("--parallel-hosts", type=int, help="Of one agent at a time, at most.")
@click.option("--bytes-per-s", type=int, help="Of one agent, at most.")
@pass_target
def limit(target: Target, /, **limits: Any) -> None:
    """Set minimum limits for all agents; each site decides those that are not named."""
    target.calls.post("/fleet-rules/limits", limits)

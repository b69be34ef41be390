"""`prsm status`: the first look of the morning."""

from __future__ import annotations

from typing import Any

import click

from manager.cli import output
from manager.cli.options import Target, json_option, pass_target
from shared.naming import failure_words

__all__ = ["activity", "code_counts", "failures_text", "status"]


@click.command()
@json_option
@pass_target
def status(target: Target, as_json: bool) -> None:
    """Show agents and hosts by state, the newest round, and alerts."""
    seen = target.calls.get("/overview")
    if as_json:
        output.as_json(seen)
        return
    newest = seen["round"]
    about = newest["round"] if newest else None
    output.facts(
        (
            ("agents", _counts(seen["agents"]) or "none; `prsm agents token NAME` lets one join"),
            ("hosts", _counts(seen["hosts"]) or "none; `prsm hosts import FILE` adds some"),
            ("names waiting", seen["names_waiting"] or ""),
            ("unresolved", failures_text(seen["names"]["failures"])),
            (
                "round",
                f"{about['number']}, {about['state']}, by {about['method']}" if about else "",
            ),
            ("its probes", _counts(newest["orders"]) if newest else ""),
            ("its units", _counts(newest["units"]) if newest else ""),
            ("failed by", code_counts(newest["failures"]) if newest else ""),
        )
    )
    if seen["held_until_ms"]:
        until = output.time_text(seen["held_until_ms"])
        output.say(f"! no unit is assigned until {until}: restored from a backup")
    for one in seen["attention"]:
        output.say(f"! {one['agent']} is {one['state']}: {one['reason']}")
    for trouble in seen["troubles"]:
        output.say(f"! {trouble}")
    for row in seen["alerts"]:
        when = output.time_text(row["at_ms"])
        output.say(f"! {when} {row['actor_name']}: {row['action']} {row['subject']}")


@click.command()
@click.option("--steps", default=24, show_default=True, type=click.IntRange(1, 1000))
@click.option("--hours", default=1, show_default=True, type=click.IntRange(1, 744), help="Of each.")
@json_option
@pass_target
def activity(target: Target, steps: int, hours: int, as_json: bool) -> None:
    """Show the fetch rate over time, from the received logs."""
    found = target.calls.get("/overview/activity", steps=steps, hours=hours)
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("from", "pages/s", "bytes/s", "errors/s"),
        (
            (
                output.time_text(one["from_ms"]),
                output.figure_text(one["pages_per_s"]),
                output.figure_text(one["bytes_per_s"]),
                output.figure_text(one["errors_per_s"]),
            )
            for one in found
        ),
        "",
    )


def failures_text(failures: list[dict[str, Any]]) -> str:
    """Return why hosts have no address, and how many of each reason."""
    return code_counts({one["failure"]: one["hosts"] for one in failures})


def code_counts(counts: dict[str, int]) -> str:
    """Return counts by code of `HostFailure` in words."""
    return ", ".join(f"{number:,} {failure_words(code)}" for code, number in counts.items())


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {state}" for state, number in counts.items() if number)

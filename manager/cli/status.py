"""`prsm status`: the first look of the morning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from manager.cli import output
from manager.cli.options import Target, json_answer
from shared.naming import failure_words

__all__ = ["code_counts", "status"]


@click.command()
@json_answer
def status(target: Target) -> Iterator[Any]:
    """Show agents and hosts by state, the newest round, and alerts."""
    seen = target.calls.get("/overview")
    yield seen
    newest = seen["round"]
    about = newest["round"] if newest else None
    failures = {one["failure"]: one["hosts"] for one in seen["names"]["failures"]}
    output.facts(
        (
            ("agents", _counts(seen["agents"]) or "none; `prsm agents token NAME` lets one join"),
            ("hosts", _counts(seen["hosts"]) or "none; `prsm hosts import FILE` adds some"),
            ("names waiting", seen["names_waiting"] or ""),
            ("unresolved", code_counts(failures)),
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


def code_counts(counts: dict[str, int]) -> str:
    """Return counts by code of `HostFailure` in words."""
    return ", ".join(f"{number:,} {failure_words(code)}" for code, number in counts.items())


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {state}" for state, number in counts.items() if number)

"""`prsm hosts splits`, `apply-splits` and `cancel-split`: splits that pay, and slow hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from manager.cli import output
from manager.cli.options import Target, json_answer

__all__ = ["apply_splits", "cancel_split", "splits"]


@click.command()
@json_answer
def splits(target: Target) -> Iterator[Any]:
    """List hosts whose split or merge pays, and slow hosts with what would help."""
    found = target.calls.get("/hosts/splits")
    yield found
    output.facts(
        (
            ("whole crawl takes", output.ms_text(found["crawl_ms"])),
            ("with all proposals", output.ms_text(found["after_ms"])),
            ("policy.splits", found["setting"]),
            ("hosts looked at", f"{found['looked_at']} of {found['addresses']}, the longest"),
        )
    )
    output.say()
    output.table(
        found["proposals"],
        "No split or merge would make the crawl end earlier.",
        output.Column("host"),
        output.Column("do", "action"),
        output.Column("agents", lambda one: " ".join(one["agents"])),
        output.Column("interval", lambda one: _seconds(one["interval_s"])),
        output.Column("host takes", lambda one: _change(one, "host")),
        output.Column("crawl takes", lambda one: _change(one, "crawl")),
        output.Column("note", _note),
    )
    if not found["slow"]:
        return
    output.say()
    fit = output.ms_text(found["fit_ms"])
    output.say(f"slow hosts (longer than {fit}): {found['slow_total']}")
    output.table(
        found["slow"],
        "",
        output.Column("host"),
        output.Column("agent"),
        output.Column("requests"),
        output.Column("takes", "takes_ms", output.ms_text),
        output.Column("interval", lambda one: _seconds(one["interval_s"])),
        output.Column("burst", lambda one: "-" if one["burst"] is None else str(one["burst"])),
        output.Column("no split", "why"),
    )
    output.say("interval, burst: with one of them, its agent would be done in time")


@click.command("apply-splits")
@click.argument("host", default="")
@json_answer
def apply_splits(target: Target, host: str) -> Iterator[Any]:
    """Split or merge HOST by its proposal, or all hosts that `prsm hosts splits` lists."""
    done = target.calls.post("/hosts/splits/apply", {"host": host})
    yield done
    for one in done["split"]:
        output.say(f"{one} is split")
    for one in done["merged"]:
        output.say(f"{one} is whole again")
    for one in done["ordered"]:
        output.say(f"{one} follows when its crawl is over; cancel with prsm hosts cancel-split")
    for one in done["refused"]:
        output.say(f"{one['host']}: {one['reason']}", err=True)
    if not any(done.values()):
        output.say("nothing is proposed")


@click.command("cancel-split")
@click.argument("host")
@json_answer
def cancel_split(target: Target, host: str) -> Iterator[Any]:
    """Cancel the split or merge of HOST that waits for the end of its crawl."""
    target.calls.post("/hosts/splits/cancel", {"host": host})
    yield {"host": host}
    output.say(f"{host} is not changed")


def _change(one: dict[str, Any], what: str) -> str:
    before, after = one[f"{what}_before_ms"], one[f"{what}_after_ms"]
    return f"{output.ms_text(before)} -> {output.ms_text(after)}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:g} s"


def _note(one: dict[str, Any]) -> str:
    if one["is_ordered"]:
        return "follows when its crawl is over"
    return str(one["obstacle"])

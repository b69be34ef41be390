"""`prsm hosts move`, `pin`, `unpin`, `pins`, `ban`, `lift-ban`, `bans`: who owns what, or never."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click

from manager.cli import output
from manager.cli.options import Target, json_answer
from shared.program import joined

__all__ = ["COMMANDS"]

_reason = click.option("--reason", default="", help="Reason, shown with the unit.")
_page_options = joined(
    click.option("--agent", default="", help="Of this agent only."),
    click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 1000)),
    click.option("--offset", default=0, type=click.IntRange(0)),
)
DECISION: Final = (
    output.Column("agent"),
    output.Column("since", "made_ms", output.time_text),
    output.Column("by", "made_by"),
    output.Column("reason"),
)


@click.command()
@click.argument("unit")
@click.argument("agent")
@_reason
@json_answer
def move(target: Target, unit: str, agent: str, reason: str) -> Iterator[Any]:
    """Move UNIT (a host, or a directory of a split host) to AGENT now.

    All units at its address move with it. The next plan may move it again; `pin` keeps it there.
    """
    done = target.calls.post("/hosts/move", {"unit": unit, "agent": agent, "reason": reason})
    yield done
    said = f"{unit} goes to {agent}; {done['moved']} units moved"
    output.say(said if done["moved"] else f"{agent} owns {unit} already")


@click.command()
@click.argument("unit")
@click.argument("agent")
@_reason
@json_answer
def pin(target: Target, unit: str, agent: str, reason: str) -> Iterator[Any]:
    """Pin UNIT (a host, or a directory of a split host) to AGENT permanently.

    No plan moves it from then on. If another agent owns it now, it moves at once, with all units
    at its address.
    """
    done = target.calls.post("/hosts/pin", {"unit": unit, "agent": agent, "reason": reason})
    yield done
    output.say(f"{unit} is pinned to {agent}; {done['moved']} units moved")
    if done["warning"]:
        output.say(f"the pin does not hold yet: {done['warning']}", err=True)


@click.command()
@click.argument("unit")
@_reason
@json_answer
def unpin(target: Target, unit: str, reason: str) -> Iterator[Any]:
    """Unpin UNIT: plans may move it again; its owner keeps it until one does."""
    done = target.calls.post("/hosts/unpin", {"units": [unit], "reason": reason})
    yield done
    output.say(f"{unit} unpinned" if done["unpinned"] else f"{unit} was not pinned")


@click.command()
@_page_options
@json_answer
def pins(target: Target, agent: str, limit: int, offset: int) -> Iterator[Any]:
    """List pins, and the reasons of those that are not in effect."""
    page = target.calls.get("/hosts/pins", agent=agent, limit=limit, offset=offset)
    yield page
    empty = "Nothing is pinned. `prsm hosts pin UNIT AGENT` pins a host."
    unit, ignored = output.columns("unit", "ignored")
    output.table(page["pins"], empty, unit, *DECISION, ignored)
    output.more(page["total"], offset + len(page["pins"]))


@click.command()
@click.argument("host")
@click.argument("agent")
@_reason
@json_answer
def ban(target: Target, host: str, agent: str, reason: str) -> Iterator[Any]:
    """Ban AGENT from HOST and from its address."""
    done = target.calls.post("/hosts/ban", {"host": host, "agent": agent, "reason": reason})
    yield done
    output.say(f"{agent} never gets {host}; {done['moved']} units moved")


@click.command("lift-ban")
@click.argument("host")
@click.argument("agent")
@json_answer
def lift_ban(target: Target, host: str, agent: str) -> Iterator[Any]:
    """Lift the ban of AGENT from HOST."""
    done = target.calls.post("/hosts/lift-ban", {"host": host, "agent": agent})
    yield done
    output.say(f"{agent} may get {host} again" if done["lifted"] else "there was no such ban")


@click.command()
@_page_options
@json_answer
def bans(target: Target, **wanted: Any) -> Iterator[Any]:
    """List bans: the hosts that an agent never gets."""
    rows = target.calls.get("/hosts/bans", **wanted)
    empty = "No agent is banned from any host."
    return output.answer_rows(rows, empty, output.Column("host"), *DECISION)


COMMANDS = (move, pin, unpin, pins, ban, lift_ban, bans)
"""What `prsm hosts` has besides."""

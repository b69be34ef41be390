"""`prsm hosts move`, `pin`, `unpin`, `pins`, `ban`, `lift-ban`, `bans`: who owns what, or never."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from manager.cli import output
from manager.cli.options import Target, json_option, pass_target

__all__ = ["COMMANDS"]

_reason = click.option("--reason", default="", help="Reason, shown with the unit.")
DECIDED: Final = ("agent", "since", "by", "reason")

_Command = TypeVar("_Command", bound=Callable[..., object])


def _listed(command: _Command) -> _Command:
    """Add what both lists are cut by."""
    for option in (
        click.option("--offset", default=0, type=click.IntRange(0)),
        click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 1000)),
        click.option("--agent", default="", help="Of this agent only."),
    ):
        command = option(command)
    return command


def _decided(one: dict[str, Any]) -> tuple[str, str, str, str]:
    return one["agent"], output.time_text(one["made_ms"]), one["made_by"], one["reason"]


def _tell(done: object, said: str, as_json: bool) -> None:
    if as_json:
        output.as_json(done)
    else:
        output.say(said)


@click.command()
@click.argument("unit")
@click.argument("agent")
@_reason
@json_option
@pass_target
def move(target: Target, unit: str, agent: str, reason: str, as_json: bool) -> None:
    """Move UNIT (a host, or a directory of a split host) to AGENT now.

    All units at its address move with it. The next plan may move it again; `pin` keeps it there.
    """
    done = target.calls.post("/hosts/move", {"unit": unit, "agent": agent, "reason": reason})
    said = f"{unit} goes to {agent}; {done['moved']} units changed hands"
    _tell(done, said if done["moved"] else f"{agent} owns {unit} already", as_json)


@click.command()
@click.argument("unit")
@click.argument("agent")
@_reason
@json_option
@pass_target
def pin(target: Target, unit: str, agent: str, reason: str, as_json: bool) -> None:
    """Pin UNIT (a host, or a directory of a split host) to AGENT permanently.

    No plan moves it from then on. If another agent owns it now, it moves at once, with all units
    at its address.
    """
    done = target.calls.post("/hosts/pin", {"unit": unit, "agent": agent, "reason": reason})
    _tell(done, f"{unit} is pinned to {agent}; {done['moved']} units changed hands", as_json)
    if done["warning"] and not as_json:
        output.say(f"the pin does not hold yet: {done['warning']}", err=True)


@click.command()
@click.argument("unit")
@_reason
@json_option
@pass_target
def unpin(target: Target, unit: str, reason: str, as_json: bool) -> None:
    """Unpin UNIT: plans may move it again; its owner keeps it until one does."""
    done = target.calls.post("/hosts/unpin", {"units": [unit], "reason": reason})
    said = f"{unit} unpinned" if done["unpinned"] else f"{unit} was not pinned"
    _tell(done, said, as_json)


@click.command()
@_listed
@json_option
@pass_target
def pins(target: Target, agent: str, limit: int, offset: int, as_json: bool) -> None:
    """List pins, and the reasons of those that are not in effect."""
    page = target.calls.get("/hosts/pins", agent=agent, limit=limit, offset=offset)
    if as_json:
        output.as_json(page)
        return
    output.table(
        ("unit", *DECIDED, "ignored"),
        ((one["unit"], *_decided(one), one["ignored"]) for one in page["pins"]),
        "Nothing is pinned. `prsm hosts pin UNIT AGENT` pins a host.",
    )
    output.more(page["total"], offset + len(page["pins"]))


@click.command()
@click.argument("host")
@click.argument("agent")
@_reason
@json_option
@pass_target
def ban(target: Target, host: str, agent: str, reason: str, as_json: bool) -> None:
    """Ban AGENT from HOST and from its address."""
    done = target.calls.post("/hosts/ban", {"host": host, "agent": agent, "reason": reason})
    _tell(done, f"{agent} never gets {host}; {done['moved']} units changed hands", as_json)


@click.command("lift-ban")
@click.argument("host")
@click.argument("agent")
@json_option
@pass_target
def lift_ban(target: Target, host: str, agent: str, as_json: bool) -> None:
    """Lift the ban of AGENT from HOST."""
    done = target.calls.post("/hosts/lift-ban", {"host": host, "agent": agent})
    said = f"{agent} may get {host} again" if done["lifted"] else "there was no such ban"
    _tell(done, said, as_json)


@click.command()
@_listed
@json_option
@pass_target
def bans(target: Target, agent: str, limit: int, offset: int, as_json: bool) -> None:
    """List bans: the hosts that an agent never gets."""
    page = target.calls.get("/hosts/bans", agent=agent, limit=limit, offset=offset)
    if as_json:
        output.as_json(page)
        return
    output.table(
        ("host", *DECIDED),
        ((one["host"], *_decided(one)) for one in page),
        "No agent is banned from any host.",
    )


COMMANDS = (move, pin, unpin, pins, ban, lift_ban, bans)
"""What `prsm hosts` has besides."""

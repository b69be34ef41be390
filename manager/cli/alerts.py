"""`prsm alerts`: current alerts, their recipients, and silences for maintenance."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import click

from manager.cli import output
from manager.cli.manager_client import RefusedError
from manager.cli.options import Target, json_answer, pass_target

__all__ = ["alerts"]

_HOURS: Final = click.FloatRange(0, 720)
_MOMENT: Final = click.DateTime(["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"])


@click.group(invoke_without_command=True)
@json_answer
def alerts(target: Target) -> Iterator[Any]:
    """Show current alerts, their start times, and the times of the next messages."""
    seen = target.calls.get("/alerts")
    yield seen
    output.table(
        seen["troubles"],
        "Nothing is wrong.",
        output.Column("since", "since_ms", output.time_text),
        output.Column("told", "told_ms", output.time_text),
        output.Column("next", _next_text),
        output.Column("key"),
        output.Column("what", "text"),
    )
    if seen["quiet_until_ms"]:
        output.say(f"quiet until {output.time_text(seen['quiet_until_ms'])}")
    if not seen["told_to"]:
        output.say("no recipients: alerts.mail_to and alerts.webhook_url are empty in prsm.toml")


def _next_text(one: dict[str, Any]) -> str:
    return "silent" if one["silence"] else output.time_text(one["next_ms"])


@alerts.command()
@click.option("--hours", type=_HOURS, required=True, help="0 ends it.")
@click.option("--reason", default="", help="For the audit.")
@pass_target
def quiet(target: Target, hours: float, reason: str) -> None:
    """Silence all alerts for some hours, for maintenance. Use cron for regular windows."""
    seen = target.calls.post("/alerts/quiet", {"seconds": hours * 3600, "reason": reason})
    until = seen["quiet_until_ms"]
    output.say(f"quiet until {output.time_text(until)}" if until else "alerts are sent")


@alerts.command()
@click.argument("key")
@click.option("--hours", type=_HOURS, required=True, help="For how long.")
@click.option("--reason", required=True, help="Why no notification is needed.")
@pass_target
def silence(target: Target, key: str, hours: float, reason: str) -> None:
    """Acknowledge the alert KEY: silence it for some hours, except for its end."""
    body = {"key": key, "seconds": hours * 3600, "reason": reason}
    target.calls.post("/alerts/silence", body)


@alerts.command()
@click.argument("begin", type=_MOMENT)
@click.argument("end", type=_MOMENT)
@click.option("--reason", default="", help="What is done then.")
@pass_target
def window(target: Target, begin: datetime, end: datetime, reason: str) -> None:
    """Plan a maintenance window from BEGIN to END, as 2026-12-01T22:00, in this machine's zone."""
    body = {"from_ms": _ms(begin), "until_ms": _ms(end), "reason": reason}
    target.calls.post("/alerts/windows", body)


@alerts.command()
@json_answer
def silences(target: Target) -> Iterator[Any]:
    """List silences and maintenance windows: open, planned, and ended within a month."""
    found = target.calls.get("/alerts")["silences"]
    yield found
    output.table(
        found,
        "Nothing is or was silent.",
        output.Column("number", "id"),
        output.Column("of", lambda one: one["key"] or "everything"),
        output.Column("from", "from_ms", output.time_text),
        output.Column("until", lambda one: output.time_text(one["ended_ms"] or one["until_ms"])),
        output.Column("by", "made_by"),
        output.Column("reason"),
    )


@alerts.command("end-silence")
@click.argument("number", type=int)
@pass_target
def end_silence(target: Target, number: int) -> None:
    """End the silence or maintenance window NUMBER, or cancel a planned one."""
    target.calls.post(f"/alerts/silences/{number}/end")


@alerts.command()
@pass_target
def test(target: Target) -> None:
    """Send a test message to all recipients of alerts."""
    results = target.calls.post("/alerts/test")
    if not results:
        raise RefusedError(
            "no recipients: set alerts.mail_to or alerts.webhook_url in prsm.toml, and restart"
        )
    for one in results:
        said = output.printable(one["error"] or "taken")
        output.say(f"{one['way']} to {output.printable(one['to'])}: {said}")
    if any(one["error"] for one in results):
        raise RefusedError("a test message was not taken; see above")


def _ms(moment: datetime) -> int:
    return round(moment.astimezone().timestamp() * 1000)

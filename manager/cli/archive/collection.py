"""`prsm collect`: collection of segments from agents: orders, schedules, transfers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

import click

from manager.cli import output
from manager.cli.options import Target, json_option, pass_target
from manager.cli.rounds.schedules import schedule_group, shown

__all__ = ["collect"]

SCHEDULES: Final = "/collection/schedules"
STATES: Final = click.Choice(["open", "done", "failed", "cancelled"])
CONDITIONS: Final = click.Choice(["difference", "full", "since", "period"])
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_Command = Callable[..., object]


class _Day(click.ParamType[int]):
    """A day or a moment in UTC, as epoch milliseconds."""

    name = "YYYY-MM-DD"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the milliseconds of `2026-11-22` or `2026-11-22T02:00`."""
        if isinstance(value, int):
            return value
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r}: write it as 2026-11-22 or 2026-11-22T02:00 (UTC)", param, ctx)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return round(moment.timestamp() * 1000)


def _selection_words(command: _Command) -> _Command:
    """Add the options that say what is to be sent."""
    for option in reversed(
        (
            click.option("--condition", type=CONDITIONS, default="difference", show_default=True),
            click.option("--from", "first", type=_Day(), help="First day, with since and period."),
            click.option(
                "--until", "end", type=_Day(), help="The day after the last, of a period."
            ),
            click.option("--pull", is_flag=True, help="Fetch from the agent's `prs serve`."),
        )
    ):
        command = option(command)
    return command


def _asked(condition: str, first: int | None, end: int | None, *, pull: bool) -> dict[str, Any]:
    return {
        "condition": condition,
        "way": "pull" if pull else "push",
        "from_ms": first,
        "until_ms": end,
    }


@click.group()
def collect() -> None:
    """Collection of segments from the agents to the manager."""


@collect.command()
@click.argument("agent", default="")
@click.option("--all", "everybody", is_flag=True, help="All agents that hear of orders.")
@_selection_words
@json_option
@pass_target
def now(
    target: Target,
    agent: str,
    everybody: bool,
    condition: str,
    first: int | None,
    end: int | None,
    pull: bool,
    as_json: bool,
) -> None:
    """Order AGENT, or all agents, to send segments now, from their next sync on.

    difference: segments that the manager has not accepted. full: all that the agent keeps. since,
    period: of the segments that are missing here, those with captures of these days.
    """
    if everybody == bool(agent):
        raise click.UsageError("say AGENT, or --all")
    body = _asked(condition, first, end, pull=pull)
    path = "/collection/ask-all" if everybody else "/collection/orders"
    made = target.calls.post(path, body if everybody else {"agent": agent, **body})
    if as_json:
        output.as_json(made)
    elif everybody:
        output.say(f"{made['asked']} agents are asked to send ({condition})")
        if made["skipped"]:
            output.say(f"{made['skipped']} agents are not: they have too many open orders")
    else:
        output.say(f"order {made['id']}: {agent} is asked to send ({condition})")


def _facts(about: dict[str, Any]) -> Iterator[tuple[str, object]]:
    days = [output.time_text(day) for day in (about["from_ms"], about["until_ms"]) if day]
    yield "agent", about["agent"] or "all agents without a schedule"
    yield "sends", " ".join([about["condition"], *days])
    yield "way", about["way"]


schedule: Final = schedule_group(
    SCHEDULES,
    "When agents send; alone, it lists the schedules with their next runs.",
    "No schedule. `prsm collect schedule set '0 3 * * *'` lets all send each night.",
    "Remove schedule NUMBER of the collection.",
    _facts,
)
collect.add_command(schedule, "schedule")


def _schedule(command: _Command) -> _Command:
    """Add what says a schedule."""
    for option in reversed(
        (
            click.argument("crontab"),
            click.option(
                "--agent", help="One agent; without it, all agents that have no schedule."
            ),
            click.option(
                "--zone", default="UTC", show_default=True, help="Time zone, as Asia/Tokyo."
            ),
            _selection_words,
        )
    ):
        command = option(command)
    return command


def _schedule_body(
    crontab: str,
    agent: str | None,
    zone: str,
    condition: str,
    first: int | None,
    end: int | None,
    *,
    pull: bool,
) -> dict[str, Any]:
    """Return what `_schedule` says, as the API takes it."""
    asked = _asked(condition, first, end, pull=pull)
    return {"crontab": crontab, "agent": agent, "zone": zone, **asked}


@schedule.command("set")
@_schedule
@json_option
@pass_target
def set_schedule(target: Target, /, as_json: bool, **said: Any) -> None:
    """Add a collection schedule at the times of CRONTAB: minute, hour, day, month, day of week."""
    shown(target.calls.post(SCHEDULES, _schedule_body(**said)), _facts, as_json=as_json)


@schedule.command("change")
@click.argument("number", type=int)
@_schedule
@json_option
@pass_target
def change_schedule(target: Target, /, number: int, as_json: bool, **said: Any) -> None:
    """Replace schedule NUMBER; arguments as for `set`. Its open orders stay."""
    made = target.calls.post(f"{SCHEDULES}/{number}", _schedule_body(**said))
    shown(made, _facts, as_json=as_json)


@schedule.command("run")
@click.argument("number", type=int)
@pass_target
def run_schedule(target: Target, number: int) -> None:
    """Run collection schedule NUMBER now; its next time stays."""
    made = target.calls.post(f"{SCHEDULES}/{number}/run")
    output.say(f"{made['asked']} agents are asked to send by schedule {number}")


@collect.command()
@click.argument("agent")
@click.option("--bytes-per-s", type=int, help="All segments together; without, its site's rate.")
@click.option("--weekday", multiple=True, metavar="HH:MM-HH:MM", help="Monday to Friday.")
@click.option("--weekend", multiple=True, metavar="HH:MM-HH:MM", help="Saturday and Sunday.")
@click.option("--zone", default="", help="Of the hours, as Asia/Tokyo; without, the agent's own.")
@click.option("--lift", is_flag=True, help="Remove the limit: the site's own one applies.")
@pass_target
def limit(
    target: Target,
    agent: str,
    bytes_per_s: int | None,
    weekday: tuple[str, ...],
    weekend: tuple[str, ...],
    zone: str,
    lift: bool,
) -> None:
    """Set the rate and hours in which AGENT may send segments.

    The site also has own settings; the stricter of both holds. Takes effect at its next sync.
    """
    if lift == bool(bytes_per_s is not None or weekday or weekend):
        raise click.UsageError("say --bytes-per-s, --weekday, --weekend, or --lift alone")
    body: dict[str, Any] = {"bytes_per_s": bytes_per_s, "zone": zone}
    body |= {"weekday": list(weekday)} if weekday else {}
    body |= {"weekend": list(weekend)} if weekend else {}
    target.calls.post(f"/collection/agents/{agent}/limits", body)
    output.say(f"{agent} hears of it with its next sync; `prsm agents show {agent}` says it")


@collect.command()
@click.option("--agent", default="", help="Of one agent.")
@click.option("--state", type=STATES, help="In one state.")
@click.option("--before", type=click.IntRange(1), help="Older than order NUMBER.", metavar="NUMBER")
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True)
@json_option
@pass_target
def orders(
    target: Target, agent: str, state: str | None, before: int | None, limit: int, as_json: bool
) -> None:
    """Show collection orders with their progress, newest first."""
    wanted = {"agent": agent, "state": state or "", "limit": limit}
    wanted |= {} if before is None else {"before": before}
    found = target.calls.get("/collection/orders", **wanted)
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("order", "agent", "condition", "way", "made", "state", "tries", "next try", "segments",
         "sent", "result"),
        (
            (
                one["id"], one["agent"], one["condition"], one["way"],
                output.time_text(one["made_ms"]), one["state"], one["tries"],
                output.time_text(one["next_try_ms"]), one["segments"],
                output.bytes_text(one["sent_bytes"]), one["result"],
            )
            for one in found
        ),
        "No order is like that."
        if agent or state or before
        else "No order yet. `prsm collect now AGENT` asks an agent to send.",
    )  # fmt: skip


@collect.command()
@click.argument("number", type=int)
@pass_target
def cancel(target: Target, number: int) -> None:
    """Cancel order NUMBER for the segments that were not sent yet."""
    target.calls.post(f"/collection/orders/{number}/cancel")
    output.say(f"order {number} is cancelled")


@collect.command()
@click.option("--agent", default="", help="Of one agent.")
@click.option("--state", default="", help="As receiving, received, accepted, quarantined, refused.")
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True)
@json_option
@pass_target
def transfers(target: Target, agent: str, state: str, limit: int, as_json: bool) -> None:
    """Show received and running transfers of files, newest first."""
    found = target.calls.get("/collection/transfers", agent=agent, state=state, limit=limit)
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("transfer", "agent", "file", "size", "came", "way", "state", "breaks", "begun", "result"),
        (
            (
                one["id"], one["agent"], one["filename"], output.bytes_text(one["size_bytes"]),
                output.bytes_text(one["received_bytes"]), one["way"], one["state"],
                one["breaks"], output.time_text(one["begun_ms"]), one["result"],
            )
            for one in found
        ),
        "Nothing has come yet.",
    )  # fmt: skip


@collect.command("give-up")
@click.argument("number", type=int)
@pass_target
def give_up(target: Target, number: int) -> None:
    """Cancel the running transfer NUMBER; its agent starts it again with its next order."""
    target.calls.post(f"/collection/transfers/{number}/cancel")
    output.say(f"transfer {number} is given up")

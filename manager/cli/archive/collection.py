"""`prsm collect`: collection of segments from agents: orders, schedules, transfers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import click

from manager.cli import output
from manager.cli.options import Target, json_answer, pass_target
from manager.cli.rounds.schedules import schedule_group, show_schedule
from shared.program import joined

__all__ = ["collect"]

SCHEDULES: Final = "/collection/schedules"
STATES: Final = click.Choice(["open", "done", "failed", "cancelled"])
CONDITIONS: Final = click.Choice(["difference", "full", "since", "period"])


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


_selection_options = joined(
    click.option("--condition", type=CONDITIONS, default="difference", show_default=True),
    click.option("--from", "from_ms", type=_Day(), help="First day, with since and period."),
    click.option("--until", "until_ms", type=_Day(), help="The day after the last, of a period."),
    click.option(
        "--pull",
        "way",
        flag_value="pull",
        default="push",
        help="Fetch from the agent's `prs serve`.",
    ),
)
"""What is to be sent."""


@click.group()
def collect() -> None:
    """Collection of segments from the agents to the manager."""


@collect.command()
@click.argument("agent", default="")
@click.option("--all", "everybody", is_flag=True, help="All agents that hear of orders.")
@_selection_options
@json_answer
def now(target: Target, agent: str, everybody: bool, **selection: Any) -> Iterator[Any]:
    """Order AGENT, or all agents, to send segments now, from their next sync on.

    difference: segments that the manager has not accepted. full: all that the agent keeps. since,
    period: of the segments that are missing here, those with captures of these days.
    """
    if everybody == bool(agent):
        raise click.UsageError("say AGENT, or --all")
    path = "/collection/ask-all" if everybody else "/collection/orders"
    made = target.calls.post(path, selection if everybody else {"agent": agent, **selection})
    yield made
    condition = selection["condition"]
    if not everybody:
        output.say(f"order {made['id']}: {agent} is asked to send ({condition})")
        return
    output.say(f"{made['asked']} agents are asked to send ({condition})")
    if made["skipped"]:
        output.say(f"{made['skipped']} agents are not: they have too many open orders")


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


_schedule_options = joined(
    click.argument("crontab"),
    click.option("--agent", help="One agent; without it, all agents that have no schedule."),
    click.option("--zone", default="UTC", show_default=True, help="Time zone, as Asia/Tokyo."),
    _selection_options,
)


@schedule.command("set")
@_schedule_options
@json_answer
def set_schedule(target: Target, **options: Any) -> Iterator[Any]:
    """Add a collection schedule at the times of CRONTAB: minute, hour, day, month, day of week."""
    made = target.calls.post(SCHEDULES, options)
    yield made
    show_schedule(made, _facts)


@schedule.command("change")
@click.argument("number", type=int)
@_schedule_options
@json_answer
def change_schedule(target: Target, number: int, **options: Any) -> Iterator[Any]:
    """Replace schedule NUMBER; arguments as for `set`. Its open orders stay."""
    made = target.calls.post(f"{SCHEDULES}/{number}", options)
    yield made
    show_schedule(made, _facts)


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
@json_answer
def orders(target: Target, limit: int, **wanted: Any) -> Iterator[Any]:
    """Show collection orders with their progress, newest first."""
    return output.answer_rows(
        target.calls.get("/collection/orders", **wanted, limit=limit),
        "No order is like that."
        if any(wanted.values())
        else "No order yet. `prsm collect now AGENT` asks an agent to send.",
        output.Column("order", "id"),
        *output.columns("agent", "condition", "way"),
        output.Column("made", "made_ms", output.time_text),
        *output.columns("state", "tries"),
        output.Column("next try", "next_try_ms", output.time_text),
        output.Column("segments"),
        output.Column("sent", "sent_bytes", output.bytes_text),
        output.Column("result"),
    )


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
@json_answer
def transfers(target: Target, **wanted: Any) -> Iterator[Any]:
    """Show received and running transfers of files, newest first."""
    return output.answer_rows(
        target.calls.get("/collection/transfers", **wanted),
        "Nothing has come yet.",
        output.Column("transfer", "id"),
        output.Column("agent"),
        output.Column("file", "filename"),
        output.Column("size", "size_bytes", output.bytes_text),
        output.Column("came", "received_bytes", output.bytes_text),
        *output.columns("way", "state", "breaks"),
        output.Column("begun", "begun_ms", output.time_text),
        output.Column("result"),
    )


@collect.command("cancel-transfer")
@click.argument("number", type=int)
@pass_target
def cancel_transfer(target: Target, number: int) -> None:
    """Cancel the running transfer NUMBER; its agent starts it again with its next order."""
    target.calls.post(f"/collection/transfers/{number}/cancel")
    output.say(f"transfer {number} is cancelled")

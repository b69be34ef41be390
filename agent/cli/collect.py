"""`prs collect`: what goes to the centre, and sending it now."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from agent.app.collection.collection_at_rest import collect_at_rest
from agent.app.startup.agent_run import identity_of
from agent.cli.options import HomeOption, in_words, pass_home_option, plain, print_text
from agent.collection.allowance import read_limits
from agent.collection.orders import add_site_order, read_orders, read_progress
from agent.collection.segment_records import SegmentRecords
from agent.control.lock import holder_of
from agent.settings import Home
from shared.day_times import window_text

__all__ = ["collect"]


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="All of it, for programs.")
@click.pass_context
def collect(context: click.Context, as_json: bool) -> None:
    """Segments on their way to the centre; alone, it shows waiting and sent ones."""
    if context.invoked_subcommand is not None:
        return
    home_option = context.find_object(HomeOption)
    assert home_option is not None, "the main command made it"
    with in_words(as_json=as_json):
        found = _found(Home(home_option.path))
    if as_json:
        click.echo(json.dumps(found))
        return
    for line in _lines(found):
        print_text(plain(line))


@collect.command()
@pass_home_option
def now(home_option: HomeOption) -> None:
    """Send now what the centre has not accepted, whatever was ordered.

    An agent that runs does it beside the crawl; without one it is done here, until it is over.
    """
    with in_words():
        settings = home_option.settings()
        home = Home(home_option.path)
        identity = identity_of(settings)
        if holder_of(home.lock) is None:
            print_text(collect_at_rest(settings, identity, print_text))
            return
        add_site_order(home.collection, round(datetime.now(UTC).timestamp() * 1000))
    print_text("the agent that runs sees it within a second; `prs collect` shows how far it is")


def _found(home: Home) -> dict[str, Any]:
    records = SegmentRecords(home.segments, home.collection)
    progress = read_progress(home.collection)
    limits = read_limits(home.collection)
    try:
        under_way = json.loads((home.collection / "status.json").read_bytes())
    except (OSError, ValueError):
        under_way = None
    return {
        "orders": [
            {**asdict(order), **(asdict(progress[order.id]) if order.id in progress else {})}
            for order in read_orders(home.collection)
        ],
        "segments": [asdict(records.read(name)) for name in records.names()],
        "under_way": under_way,
        "limits": None if limits is None else asdict(limits),
    }


def _lines(found: dict[str, Any]) -> list[str]:
    counts: dict[str, int] = {}
    for segment in found["segments"]:
        counts[segment["state"]] = counts.get(segment["state"], 0) + 1
    told = ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
    lines = [f"{len(found['segments'])} sealed segments{': ' if told else ''}{told}"]
    for order in found["orders"]:
        line = f"order {order['id']}: {order['condition']}, {order.get('state', 'open')}"
        if order.get("result"):
            line += f" ({order['result']})"
        if order.get("next_try_ms"):
            line += f"; next try {_time(order['next_try_ms'])}"
        lines.append(line)
    if found["limits"]:
        rate, limits = found["limits"]["bytes_per_s"], found["limits"]
        hours = [
            f"{name} {' '.join(window_text(tuple(one)) for one in limits[name]) or 'never'}"
            for name in ("weekday", "weekend")
        ]
        said = "any rate" if rate is None else f"{rate} bytes/s"
        lines.append(f"the manager allows {said}, {', '.join(hours)} {limits['zone']}".rstrip())
    under_way = found["under_way"]
    if under_way and under_way["offset"] < under_way["size_bytes"]:
        share = 100 * under_way["offset"] / under_way["size_bytes"]
        lines.append(f"{under_way['name']}: {share:.0f}% at {_time(under_way['at_ms'])}")
    lines += [
        f"{one['name']}: {one['state']}, {one['result']}"
        for one in found["segments"]
        if one["state"] in {"damaged", "refused"}
    ]
    return lines


def _time(epoch_ms: int) -> str:
    local = datetime.fromtimestamp(epoch_ms / 1000, UTC).astimezone()
    return f"{local:%Y-%m-%d %H:%M:%S}"

"""`prsm hosts`: import, list, show, exclude, include; `pins` and `host_split` have the others."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final

import click

from manager.cli import output
from manager.cli.hosts import names
from manager.cli.hosts.addresses import address, rule_text
from manager.cli.hosts.host_split import merge, split
from manager.cli.hosts.pins import COMMANDS
from manager.cli.hosts.split_proposals import apply_splits, cancel_split, splits
from manager.cli.manager_client import RefusedError
from manager.cli.options import Target, json_answer, json_option, pass_target

__all__ = ["hosts"]

REFUSALS_SHOWN: Final = 20
COUNTED_MOST: Final = 10_000  # hosts that match, by `GET /hosts`: where it says so many, or more


@click.group()
def hosts() -> None:
    """Hosts to crawl."""


for _command in (
    *(*COMMANDS, *names.COMMANDS, split, merge, address),
    *(splits, apply_splits, cancel_split),
):
    hosts.add_command(_command)


@hosts.command("import")
@click.argument("file", type=click.File("rb"))
@click.option(
    "--wait/--no-wait",
    default=None,
    help="Return when all names were looked up, or at once. Without: after 30 seconds at most.",
)
@json_option
@pass_target
def import_(target: Target, file: BinaryIO, wait: bool | None, as_json: bool) -> None:
    """Add hosts from FILE (`-`: standard input): a URL or name a line, plain or gzip.

    Invalid lines are shown with their numbers; the others are added. Then the names are looked
    up, and those without an address shown with the reason. A round begins with the hosts whose
    names were looked up: use --wait before `prsm rounds start`.
    """
    with tempfile.TemporaryFile() as kept:
        answer = target.calls.upload("/hosts/import", names.keep(names.chunks_of(file), kept))
        taken = answer["new"] + answer["start_pages"] + answer["known"]
        if taken:
            short_s = names.SHORT_WAIT_S if wait is None and not as_json else 0
            longest_s = None if wait else short_s
            answer["names"] = names.names_of_list(target.calls, kept, longest_s=longest_s)
    if as_json:
        output.as_json(answer)
    else:
        output.say(
            f"{answer['new']} new hosts, {answer['start_pages']} new start pages, "
            f"{answer['known']} known; {answer['refused_count']} lines refused"
        )
        for one in answer["refused_lines"][:REFUSALS_SHOWN]:
            output.say(f"line {one['line']}: {one['reason']} [{one['code']}]", err=True)
        if answer["refused_count"] > REFUSALS_SHOWN:
            output.say(f"... and {answer['refused_count'] - REFUSALS_SHOWN} more", err=True)
        if taken:
            names.show_names(answer["names"])
    if answer["refused_count"] and not taken:
        raise RefusedError("no line of this file names a host; a line is http://www.example.jp/")


@hosts.command("list")
@click.option("--domain", default="", help="This domain and all names below it.")
@click.option("--text", default="", help="Anywhere in the host's key.")
@click.option("--search", default="", help="A domain, or where none matches, any part of a host.")
@click.option("--owner", default="", help="Hosts of this agent.")
@click.option("--state", default="", help="new, idle, probing, placed or excluded.")
@click.option("--sort", default="domain", show_default=True, help="A column; -COLUMN descending.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1000))
@click.option("--offset", default=0, type=click.IntRange(0))
@json_answer
def list_(target: Target, limit: int, offset: int, **wanted: Any) -> Iterator[Any]:
    """List hosts that match."""
    page = target.calls.get("/hosts", **wanted, limit=limit, offset=offset)
    yield page
    output.table(
        page["hosts"],
        "No host matches. `prsm hosts import FILE` adds hosts.",
        output.Column("host", "key"),
        *output.columns("state", "owner"),
        output.Column("volume", "volume_kb", _kb_text),
        output.Column("pages"),
        output.Column("name", lambda host: host["resolve_problem"] or host["resolution"]),
    )
    if wanted["search"] and page["found_by"] == "part" and page["hosts"]:
        output.say("No host of that name or below it; these hold it in their address.", err=True)
    end = offset + len(page["hosts"])
    if page["matching"] < COUNTED_MOST:
        output.more(page["matching"], end)
    elif len(page["hosts"]) == limit:
        output.say(f"... of {COUNTED_MOST} or more; --offset {end} continues")


@hosts.command()
@click.argument("host")
@json_answer
def show(target: Target, host: str) -> Iterator[Any]:
    """Show all that is known of HOST (its name, or any URL on it)."""
    detail = target.calls.get("/hosts/detail", host=host)
    yield detail
    about, names = detail["host"], detail["agents"]
    output.facts(
        (
            ("host", about["key"]),
            ("first seen", output.time_text(about["first_seen_ms"])),
            ("found by", names.get(str(about["found_by"])) or "an administrator"),
            ("link from", about["referer"]),
            ("excluded", about["excluded_reason"]),
            ("pinned", "; ".join(_pin_text(pin) for pin in detail["pins"])),
            ("never goes to", ", ".join(ban["agent"] for ban in detail["bans"])),
            ("name", about["resolve_problem"] or about["resolution"]),
            ("addresses", ", ".join(sorted({address for _, address in detail["addresses"]}))),
            *((rule["address"], rule_text(rule)) for rule in detail["address_rules"]),
            *(("Crawl-delay", _delay_text(one, names)) for one in detail["crawl_delays"]),
            ("shares with", _beside(detail)),
        )
    )
    output.say()
    output.table(
        detail["units"],
        "It has no unit.",
        output.Column("unit", "key"),
        output.Column("state", lambda unit: "merged" if unit["merged_ms"] else unit["state"]),
        output.Column("volume", "volume_kb", _kb_text),
        output.Column("pages"),
    )
    output.say()
    output.table(
        detail["distances"],
        "No agent has measured it.",
        output.Column("agent", lambda distance: names.get(str(distance["agent_id"]))),
        output.Column("ms/KB", _number),
        output.Column("quartiles", _quartiles),
        output.Column("measured", "measured_ms", output.time_text),
        output.Column("by", "kind"),
        output.Column("evidence", _evidence),
    )


@hosts.command()
@click.argument("host")
@click.option("--reason", default="", help="Reason, shown with the host.")
@pass_target
def exclude(target: Target, host: str, reason: str) -> None:
    """Exclude HOST from the crawl."""
    target.calls.post("/hosts/exclude", {"host": host, "reason": reason})
    output.say(f"{host} is excluded; who fetches it now stops with the next list")


@hosts.command()
@click.argument("host")
@pass_target
def include(target: Target, host: str) -> None:
    """Include an excluded HOST again."""
    target.calls.post("/hosts/include", {"host": host})
    output.say(f"{host} may be crawled again")


def _number(distance: dict[str, Any]) -> str:
    if distance["ms_per_kb"] is None:
        return "unreachable"
    number = output.figure_text(distance["ms_per_kb"])
    return f"~{number}" if distance["state"] == "predicted" else number


def _quartiles(distance: dict[str, Any]) -> str | None:
    if distance["median"] is None:
        return None
    return " ".join(
        output.figure_text(distance[name])
        for name in ("first_quartile", "median", "third_quartile")
    )


def _evidence(distance: dict[str, Any]) -> str:
    since_ms = distance["unreachable_since_ms"]
    since = "" if since_ms is None else f", since {output.time_text(since_ms)}"
    return f"{distance['reason']}{since}"


def _pin_text(pin: dict[str, Any]) -> str:
    directory = pin["unit"].split("/", 3)[3]
    where = f"/{directory} " if directory else ""
    ignored = f" (ignored: {pin['ignored']})" if pin["ignored"] else ""
    return f"{where}to {pin['agent']}{ignored}"


def _delay_text(delay: Mapping[str, Any], names: Mapping[str, str]) -> str:
    agent = names.get(str(delay["agent_id"]))
    return f"{delay['delay_ms'] / 1000:g} s, read by {agent}, {output.time_text(delay['seen_ms'])}"


def _beside(detail: dict[str, Any]) -> str:
    """Return the hosts at its address, and how many there are that were not sent."""
    named = [key for key in detail["group"] if key != detail["host"]["key"]]
    left = detail["group_size"] - 1 - len(named)
    return ", ".join(named) + (f" and {left} more" if left > 0 else "")


def _kb_text(size_kb: float | None) -> str:
    return output.bytes_text(None if size_kb is None else size_kb * 1000)

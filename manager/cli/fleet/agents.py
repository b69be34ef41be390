"""`prsm agents`: who they are, how they join, what is ordered of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from manager.cli import output
from manager.cli.manager_client import RefusedError
from manager.cli.options import Target, json_answer, json_option, pass_target, yes_option

__all__ = ["agents"]


@click.group()
def agents() -> None:
    """The agents (crawlers) at the partners' sites."""


@agents.command("list")
@json_answer
def list_(target: Target) -> Iterator[Any]:
    """List all agents with their states and the reasons."""
    return output.answer_rows(
        target.calls.get("/agents"),
        "No agent yet. `prsm agents token NAME` makes a token with which one joins.",
        output.Column("agent", "name"),
        output.Column("state", lambda agent: agent["state"] + ("!" if agent["attention"] else "")),
        output.Column("units", "units_owned"),
        output.Column("last contact", "last_contact_ms", output.time_text),
        output.Column("version", _version_text),
        output.Column("why", "reason"),
    )


def _version_text(agent: dict[str, Any]) -> str:
    return agent["version"] or ("plain" if agent["kind"] == "plain" else "-")


@agents.command()
@click.argument("name")
@json_answer
def show(target: Target, name: str) -> Iterator[Any]:
    """Show one agent."""
    detail = target.calls.get(f"/agents/{name}")
    yield detail
    agent = detail["agent"]
    output.facts(
        (
            ("agent", agent["name"]),
            ("state", f"{agent['state']}: {agent['reason']}"),
            ("says", f"{agent['said_state']} {agent['said_reason']}".strip()),
            ("speaks", "the five messages" if agent["kind"] == "plain" else "sync"),
            ("version", agent["version"]),
            ("units owned", agent["units_owned"]),
            ("may fetch", f"{agent['crawl_rights']} to crawl, {agent['probe_rights']} to probe"),
            ("last contact", output.time_text(agent["last_contact_ms"])),
            ("by", agent["last_contact"]),
            ("last work", output.time_text(agent["last_work_ms"])),
            ("calls again", output.time_text(agent["promised_ms"])),
            ("list", f"generation {agent['generation']}, holds {agent['generation_held']}"),
            ("next list", _limit_text(agent["list_limit"])),
            ("permit until", output.time_text(agent["permit_until_ms"] or None)),
            ("restart ordered", output.time_text(agent["restart_ordered_ms"])),
            ("restart handled", output.time_text(agent["restart_handled_ms"])),
            ("command", agent["command"] if agent["command_done_ms"] is None else ""),
            ("disk free", output.bytes_text(agent["disk_free_bytes"])),
            ("reports waiting", agent["reports_waiting"]),
            ("clock ahead", output.ms_text(agent["skew_ms"])),
            ("two machines", agent["clone_reason"]),
            ("suspect", _suspect_text(agent)),
            ("doubted", _doubt_text(agent)),
            ("fetched again", _refetch_text(agent)),
            ("sends", agent["sending_said"]),
            ("old settings", _renamed_text(agent)),
        )
    )
    output.link_kinds(detail["counters"].get("kinds", ()))


def _renamed_text(agent: dict[str, Any]) -> str:
    names = ", ".join(f"{one['old']} is {one['new']}" for one in agent["renamed_settings"])
    return f"{names} now; its prs.toml should say so" if names else ""


def _suspect_text(agent: dict[str, Any]) -> str:
    if agent["suspect_since_ms"] is None:
        return ""
    return f"{agent['suspect_reason']} since {output.time_text(agent['suspect_since_ms'])}"


def _doubt_text(agent: dict[str, Any]) -> str:
    if not agent["doubted"]:
        return ""
    faults = ", ".join(one["fault"] for one in agent["doubted"])
    return f"{faults}; its claims do not count; `prsm agents trust {agent['name']}` ends that"


def _refetch_text(agent: dict[str, Any]) -> str:
    if not agent["refetch_round"]:
        return "no page of it yet"
    return (
        f"{agent['refetch_compared']} of its pages in round {agent['refetch_round']}, "
        f"{agent['refetch_contradicted']} contradicted"
    )


def _limit_text(pages: int | None) -> str:
    return "all pages" if not pages else f"{pages} pages of each unit"


@agents.command()
@click.argument("name")
@json_answer
def token(target: Target, name: str) -> Iterator[Any]:
    """Make a one-time token with which the machine NAME may join. It is shown once."""
    made = target.calls.post(f"/agents/{name}/token")
    yield made
    output.say(made["token"])
    until = output.time_text(made["expires_ms"])
    output.say(f"For {name} only, once, until {until}. It is not kept here.", err=True)


@agents.command()
@json_answer
def tokens(target: Target) -> Iterator[Any]:
    """List the join tokens that may still be used (not the tokens themselves)."""
    return output.answer_rows(
        target.calls.get("/join-tokens"),
        "No token waits to be used.",
        output.Column("agent"),
        output.Column("until", "expires_ms", output.time_text),
        output.Column("made by", "issued_by"),
    )


@agents.command("revoke-token")
@click.argument("name")
@pass_target
def revoke_token(target: Target, name: str) -> None:
    """Revoke the unused join token of NAME."""
    target.calls.post(f"/agents/{name}/token/revoke")
    output.say(f"join token of {name} revoked")


@agents.command()
@click.argument("name")
@yes_option
@pass_target
def retire(target: Target, name: str, yes: bool) -> None:
    """Retire the agent NAME permanently; its units go to others."""
    if not yes:
        click.confirm(f"Retire {name}? Its units go to other agents", abort=True)
    target.calls.post(f"/agents/{name}/retire")
    output.say(f"{name} is retired; a new join token would bring it back")


@agents.command()
@click.argument("name")
@yes_option
@pass_target
def trust(target: Target, name: str, yes: bool) -> None:
    """Accept the claims of the agent NAME as true so far, and use them from now on."""
    if not yes:
        click.confirm(f"Trust {name}? Plans use its times and bytes", abort=True)
    target.calls.post(f"/agents/{name}/believe")
    output.say(f"{name} is trusted; later claims are judged by those of today")


@agents.command()
@click.argument("name")
@click.option("--share", default=1.0, show_default=True, help="Of the pages, drawn by chance.")
@json_option
@pass_target
def compare(target: Target, name: str, share: float, as_json: bool) -> None:
    """Compare the logs of the agent NAME with the logs of others for the same pages.

    Fetches nothing: in rounds others probe the hosts that an agent crawls. Exit code 1 if the
    others contradict it too often.
    """
    found = target.calls.post(f"/agents/{name}/compare?share={share}")
    if as_json:
        output.as_json(found)
    else:
        output.table(
            found["examples"],
            "No contradictions.",
            output.Column("page", "url"),
            output.Column("it says", lambda one: _said(one["status"], one["bytes"])),
            output.Column("others say", lambda one: _said(one["their_status"], one["their_bytes"])),
            output.Column("others agree", "agreeing"),
            output.Column("disagree", "disagreeing"),
        )
        output.say(
            f"{found['compared']} of its pages were fetched by others too; "
            f"{found['contradicted']} are contradicted"
        )
    if found["suspect"]:
        raise RefusedError(f"{name} is contradicted too often to be believed: look at its pages")


@agents.command()
@click.argument("name")
@json_answer
def refetches(target: Target, name: str) -> Iterator[Any]:
    """Show pages of NAME that other agents refetched after a round, with the results.

    Pages of others that NAME refetched are shown, too.
    """
    found = target.calls.get(f"/agents/{name}/refetches")
    yield found
    output.table(
        found["pages"],
        "Nothing of it was fetched again yet.",
        output.Column("page", "url"),
        output.Column("crawled by", "crawled_by"),
        output.Column("agent: what it saw", "said", _seen_text),
        output.Column("verdict on it", lambda page: _VERDICTS[page["verdict"]]),
    )
    output.say(
        f"round {found['round']}: {found['tally']['compared']} pages compared, "
        f"{found['tally']['contradicted']} contradicted, {found['waiting']} still to be fetched"
        f"{': too many to be believed' if found['suspect'] else ''}"
    )


_VERDICTS = {True: "others agree", False: "contradicted", None: "not known"}


def _seen_text(said: dict[str, Any]) -> str:
    texts = {who: _said(seen["status"], seen["response_bytes"]) for who, seen in said.items()}
    return "; ".join(f"{who}: {text}" for who, text in texts.items())


def _said(status: int | None, size_bytes: int) -> str:
    return "no answer" if status is None else f"{status}, {output.bytes_text(size_bytes)}"


@agents.command("list-limit")
@click.argument("name")
@click.argument("pages", type=click.IntRange(0))
@pass_target
def list_limit(target: Target, name: str, pages: int) -> None:
    """Set how many PAGES of each unit the next list of NAME allows; 0: all."""
    target.calls.post(f"/agents/{name}/list-limit", {"pages": pages or None})
    output.say(f"{name}: next list allows {_limit_text(pages)}")


@agents.command("place")
@click.argument("name")
@click.argument("latitude", type=float, required=False)
@click.argument("longitude", type=float, required=False)
@pass_target
def place_(target: Target, name: str, latitude: float | None, longitude: float | None) -> None:
    """Set the position of NAME in degrees as `35.03 135.78`, for the map; without: unknown.

    Southern and western degrees are negative: write `-- NAME -33.9 18.4`.
    """
    if (latitude is None) != (longitude is None):
        raise click.UsageError("give LATITUDE and LONGITUDE, or none of them")
    body = None if latitude is None else {"latitude": latitude, "longitude": longitude}
    target.calls.post(f"/agents/{name}/position", body, empty=body is None)


@agents.command()
@click.argument("name")
@click.option(
    "--pages", is_flag=True, help="Delete all pages on its disk as well, delivered or not."
)
@yes_option
@json_answer
def restart(target: Target, name: str, pages: bool, yes: bool) -> Iterator[Any]:
    """Restart the agent NAME: it drops its list and queues and gets a new list; pages stay."""
    if pages and not yes:
        click.confirm(f"Delete all pages on the disk of {name}, delivered or not?", abort=True)
    yield from _ordered(target, name, {"command": "restart", "pages": pages})


def _ordered(target: Target, name: str, body: dict[str, Any]) -> Iterator[Any]:
    yield target.calls.post(f"/agents/{name}/command", body)
    output.say(f"{name}: {body['command']} is ordered; the agent hears it when it next calls")


def _order(command: str, told: str) -> click.Command:
    @click.command(command, help=told)
    @click.argument("name")
    @json_answer
    def order(target: Target, name: str) -> Iterator[Any]:
        yield from _ordered(target, name, {"command": command})

    return order


for _name, _told in (
    ("drain", "Let the agent NAME stop fetching, report, and leave its units to others."),
    ("pause", "Let the agent NAME stop fetching until it is resumed."),
    ("resume", "Resume the agent NAME after pause or drain."),
    ("update", "Let the agent NAME look for its release now, not only daily."),
):
    agents.add_command(_order(_name, _told))

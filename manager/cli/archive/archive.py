"""`prsm archive`, `withdraw`, `compact`, `mirrors`: what the archive gives away, and of whom."""

from __future__ import annotations

from typing import Any, Final

import click

from manager.cli import output
from manager.cli.archive.adoption import adopt, trash
from manager.cli.options import Target, json_option, pass_target, yes_option

__all__ = ["archive", "compact", "mirrors", "withdraw"]

NOTHING: Final = "Nothing has come yet."


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def archive(context: click.Context, as_json: bool) -> None:
    """The archive and its downloads; without a command: the size of the archive."""
    if context.invoked_subcommand is not None:
        return
    target = context.find_object(Target)
    assert target is not None, "the main command made it"
    found = target.calls.get("/archive")
    if as_json:
        output.as_json(found)
        return
    names = ("kind", "state", "segments", "captures", "bytes", "index_bytes")
    rows = (tuple(row[name] for name in names) for row in found["files"])
    output.table(("kind", "state", "segments", "captures", "bytes", "index bytes"), rows, NOTHING)
    output.say(f"results of jobs: {found['results']['files']}, {found['results']['bytes']} bytes")


archive.add_command(adopt)
archive.add_command(trash)


@archive.command()
@click.argument("url")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 1000))
@json_option
@pass_target
def captures(target: Target, url: str, limit: int, as_json: bool) -> None:
    """List the captures of the page URL, newest first, with their results."""
    found = target.calls.get("/archive/captures", url=url, limit=limit)
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("fetched", "status", "type", "bytes", "kept back", "segment", "offset"),
        (
            (
                output.time_text(one["fetched_ms"]),
                one["status"],
                one["mime"],
                one["body_bytes"],
                one["withheld"],
                one["segment"],
                one["offset"],
            )
            for one in found["captures"]
        ),
        "The archive holds no capture of this URL.",
    )
    if found["has_older"]:
        output.say("its host also lies in older segments, which were not looked at")


@archive.command()
@click.option("--client", default="", help="Only of this third party.")
@click.option("--state", default="", help="going, done or cut.")
@click.option("--limit", default=100, show_default=True)
@json_option
@pass_target
def downloads(target: Target, client: str, state: str, limit: int, as_json: bool) -> None:
    """Show downloads of third parties and their progress."""
    found = target.calls.get("/archive/downloads", client=client, state=state, limit=limit)
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("client", "token", "what", "state", "sent", "of", "requests", "last", "problem"),
        (
            (
                *(one[name] for name in ("client", "token_id", "name", "state", "sent_bytes")),
                one["size_bytes"] or "?",
                one["requests"],
                output.time_text(one["last_ms"]),
                one["problem"],
            )
            for one in found
        ),
        "No downloads.",
    )


@archive.command()
@click.option("--client", default="", help="Only of this third party.")
@click.option("--state", default="", help="queued, running, complete, failed or gone.")
@click.option("--limit", default=100, show_default=True)
@json_option
@pass_target
def jobs(target: Target, client: str, state: str, limit: int, as_json: bool) -> None:
    """List selections that are written as files."""
    found = target.calls.get("/archive/jobs", client=client, state=state, limit=limit)
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("job", "client", "state", "done", "of", "query", "problem"),
        (_job(one) for one in found),
        "No jobs.",
    )


def _job(one: dict[str, Any]) -> tuple[object, ...]:
    names = ("id", "client", "state", "done", "total", "query", "problem")
    return tuple(one[name] for name in names)


@archive.command()
@click.option("--now", is_flag=True, help="Begin a pass over all kept files now.")
@json_option
@pass_target
def scrub(target: Target, now: bool, as_json: bool) -> None:
    """Show the progress of the verification of all kept files (archive.scrub_days)."""
    if now:
        target.calls.post("/archive/scrub")
    found = target.calls.get("/archive/scrub")
    if as_json:
        output.as_json(found)
        return
    share = found["bytes"] / found["total_bytes"] if found["total_bytes"] else 0.0
    running = (
        f"{found['files']} of {found['total_files']} files, {share:.0%}, at "
        f"{output.bytes_text(found['rate_bytes_per_s'])}/s"
    )
    output.facts(
        (
            ("pass", running if found["running"] else "none runs now"),
            ("begun", output.time_text(found["begun_ms"])),
            ("ends about", output.time_text(found["ends_ms"])),
            ("next", output.time_text(found["next_ms"])),
            ("last pass ended", output.time_text(found["last_ended_ms"])),
            ("files of the last pass", found["last_files"]),
            ("missing or damaged now", found["problems"]),
        )
    )
    if found["too_slow"]:
        output.say("too slow for archive.scrub_days: raise archive.scrub_bytes_per_s")


@archive.command()
@click.option("--before", type=click.IntRange(1), help="Only those before this number.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 1000))
@json_option
@pass_target
def problems(target: Target, before: int | None, limit: int, as_json: bool) -> None:
    """List missing and damaged files, with the state of their repair."""
    found = target.calls.get("/archive/problems", before=before, limit=limit)
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("number", "file", "kind", "problem", "found", "answer", "detail"),
        (
            (
                one["id"],
                one["subject"],
                one["kind"],
                one["problem"].replace("_", " "),
                output.time_text(one["found_ms"]),
                one["answer"].replace("_", " "),
                one["detail"],
            )
            for one in found
        ),
        "No kept file is known to be missing or damaged.",
    )


@archive.command("remove-job")
@click.argument("number", type=int)
@pass_target
def remove_job(target: Target, number: int) -> None:
    """Remove selection NUMBER; no third party can download its result from now on."""
    target.calls.post(f"/archive/jobs/{number}/remove")
    output.say(f"job {number} is removed")


@archive.command()
@click.option("--text", default="", help="Anywhere in the host's key.")
@click.option("--before", type=click.IntRange(1), help="Only those after this number of the list.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 1000))
@json_option
@pass_target
def withdrawn(target: Target, text: str, before: int | None, limit: int, as_json: bool) -> None:
    """List withdrawn hosts, which no third party can download; `prsm withdraw` adds one."""
    found = target.calls.get("/archive/withdrawn", text=text, before=before, limit=limit)
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("host", "since", "segments to rewrite", "reason"),
        (
            (one["key"], output.time_text(one["since_ms"]), one["segments"], one["reason"])
            for one in found
        ),
        "No such host is withdrawn." if text or before else "No host is withdrawn.",
    )
    if len(found) == limit:
        output.say(f"Those after these: --before {found[-1]['id']}")


@click.command()
@click.argument("hosts", nargs=-1, required=True, metavar="HOST...")
@click.option("--reason", required=True, help="Why; the audit keeps it.")
@click.option("--compact", "at_once", is_flag=True, help="Rewrite the segments now, not later.")
@yes_option
@pass_target
def withdraw(target: Target, hosts: tuple[str, ...], reason: str, at_once: bool, yes: bool) -> None:
    """Withdraw HOSTs permanently: no crawl, no collection from agents, no downloads.

    Files, indexes and results that hold one answer 410; the next compaction rewrites them without
    it, and then its captures are gone. http and https are two hosts: name both.
    """
    if not yes:
        click.confirm(f"Captures of {', '.join(hosts)} will be deleted. Continue?", abort=True)
    for host in hosts:
        target.calls.post("/hosts/exclude", {"host": host, "reason": reason})
        output.say(f"{host} is withdrawn")
    if at_once:
        _compact(target)


@click.command()
@json_option
@pass_target
def compact(target: Target, as_json: bool) -> None:
    """Rewrite segments now, without the withdrawn hosts."""
    if as_json:
        output.as_json(target.calls.post("/archive/compact"))
    else:
        _compact(target)


def _compact(target: Target) -> None:
    done = target.calls.post("/archive/compact")
    output.say(f"{done['rewritten']} segments rewritten, {done['deleted']} deleted")


@click.command()
@click.option("--share", default=0.5, show_default=True, help="Of the smaller host's pages.")
@click.option("--limit", default=100, show_default=True)
@json_option
@pass_target
def mirrors(target: Target, share: float, limit: int, as_json: bool) -> None:
    """List mirrors: hosts with the same content at the same paths as another; reads all indexes."""
    found = target.calls.get("/archive/mirrors", share=share, limit=limit)
    if as_json:
        output.as_json(found)
        return
    output.table(
        ("host", "mirrors", "pages", "alike"),
        ((one["host"], one["of"], one["pages"], one["alike"]) for one in found),
        "No host shows what another one shows.",
    )

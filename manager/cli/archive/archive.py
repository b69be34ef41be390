"""`prsm archive`, `withdraw`, `compact`, `mirrors`: what the archive gives away, and of whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from manager.cli import output
from manager.cli.archive.adoption import adopt, trash
from manager.cli.options import Target, json_answer, pass_target, yes_option

__all__ = ["archive", "compact", "mirrors", "withdraw"]


@click.group(invoke_without_command=True)
@json_answer
def archive(target: Target) -> Iterator[Any]:
    """The archive and its downloads; without a command: the size of the archive."""
    found = target.calls.get("/archive")
    yield found
    output.table(
        found["files"],
        "Nothing has come yet.",
        *output.columns("kind", "state", "segments", "captures", "bytes"),
        output.Column("index bytes", "index_bytes"),
    )
    output.say(f"results of jobs: {found['results']['files']}, {found['results']['bytes']} bytes")


archive.add_command(adopt)
archive.add_command(trash)


@archive.command()
@click.argument("url")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 1000))
@json_answer
def captures(target: Target, url: str, limit: int) -> Iterator[Any]:
    """List the captures of the page URL, newest first, with their results."""
    found = target.calls.get("/archive/captures", url=url, limit=limit)
    yield found
    output.table(
        found["captures"],
        "The archive holds no capture of this URL.",
        output.Column("fetched", "fetched_ms", output.time_text),
        output.Column("status"),
        output.Column("type", "mime"),
        output.Column("bytes", "body_bytes"),
        output.Column("kept back", "withheld"),
        *output.columns("segment", "offset"),
    )
    if found["has_older"]:
        output.say("its host also lies in older segments, which were not looked at")


@archive.command()
@click.option("--client", default="", help="Only of this third party.")
@click.option("--state", default="", help="going, done or cut.")
@click.option("--limit", default=100, show_default=True)
@json_answer
def downloads(target: Target, **wanted: Any) -> Iterator[Any]:
    """Show downloads of third parties and their progress."""
    return output.answer_rows(
        target.calls.get("/archive/downloads", **wanted),
        "No downloads.",
        output.Column("client"),
        output.Column("token", "token_id"),
        output.Column("what", "name"),
        output.Column("state"),
        output.Column("sent", "sent_bytes"),
        output.Column("of", lambda one: one["size_bytes"] or "?"),
        output.Column("requests"),
        output.Column("last", "last_ms", output.time_text),
        output.Column("problem"),
    )


@archive.command()
@click.option("--client", default="", help="Only of this third party.")
@click.option("--state", default="", help="queued, running, complete, failed or gone.")
@click.option("--limit", default=100, show_default=True)
@json_answer
def jobs(target: Target, **wanted: Any) -> Iterator[Any]:
    """List selections that are written as files."""
    return output.answer_rows(
        target.calls.get("/archive/jobs", **wanted),
        "No jobs.",
        output.Column("job", "id"),
        *output.columns("client", "state", "done"),
        output.Column("of", "total"),
        *output.columns("query", "problem"),
    )


@archive.command()
@click.option("--now", is_flag=True, help="Begin a pass over all kept files now.")
@json_answer
def scrub(target: Target, now: bool) -> Iterator[Any]:
    """Show the progress of the verification of all kept files (archive.scrub_days)."""
    if now:
        target.calls.post("/archive/scrub")
    found = target.calls.get("/archive/scrub")
    yield found
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
@json_answer
def problems(target: Target, **wanted: Any) -> Iterator[Any]:
    """List missing and damaged files, with the state of their repair."""
    return output.answer_rows(
        target.calls.get("/archive/problems", **wanted),
        "No kept file is known to be missing or damaged.",
        output.Column("number", "id"),
        output.Column("file", "subject"),
        output.Column("kind"),
        output.Column("problem", lambda one: one["problem"].replace("_", " ")),
        output.Column("found", "found_ms", output.time_text),
        output.Column("answer", lambda one: one["answer"].replace("_", " ")),
        output.Column("detail"),
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
@json_answer
def withdrawn(target: Target, text: str, before: int | None, limit: int) -> Iterator[Any]:
    """List withdrawn hosts, which no third party can download; `prsm withdraw` adds one."""
    found = target.calls.get("/archive/withdrawn", text=text, before=before, limit=limit)
    yield found
    output.table(
        found,
        "No such host is withdrawn." if text or before else "No host is withdrawn.",
        output.Column("host", "key"),
        output.Column("since", "since_ms", output.time_text),
        output.Column("segments to rewrite", "segments"),
        output.Column("reason"),
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
        _show_compacted(target.calls.post("/archive/compact"))


@click.command()
@json_answer
def compact(target: Target) -> Iterator[Any]:
    """Rewrite segments now, without the withdrawn hosts."""
    done = target.calls.post("/archive/compact")
    yield done
    _show_compacted(done)


def _show_compacted(done: dict[str, int]) -> None:
    output.say(f"{done['rewritten']} segments rewritten, {done['deleted']} deleted")


@click.command()
@click.option("--share", default=0.5, show_default=True, help="Of the smaller host's pages.")
@click.option("--limit", default=100, show_default=True)
@json_answer
def mirrors(target: Target, **wanted: Any) -> Iterator[Any]:
    """List mirrors: hosts with the same content at the same paths as another; reads all indexes."""
    return output.answer_rows(
        target.calls.get("/archive/mirrors", **wanted),
        "No host shows what another one shows.",
        output.Column("host"),
        output.Column("mirrors", "of"),
        *output.columns("pages", "alike"),
    )

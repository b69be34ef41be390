"""`prs-get get`: captures into a folder."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from client.cli.options import (
    connection_options,
    host_options,
    in_words,
    json_option,
    logged_in,
    say,
    say_json,
    selected_hosts,
    stoppable,
)
from client.cli.terminal import Terminal, in_units
from client.errors import ClientError, NoMatchError
from client.folder import Folder
from client.retry import Patience
from client.run import Report, Run, matching_selections, missing_segments
from client.selection import Format, Selection, size_of
from client.server import Server
from client.withdrawal import Withdrawn, follow_withdrawals

__all__ = ["get"]

_WHEN: Final = "YYYY, YYYY-MM, YYYY-MM-DD or RFC 3339; UTC."


@click.command()
@host_options
@click.option("--url", default="", help="Only URLs that begin so; canonical.")
@click.option("--since", default="", metavar="DATE", help=f"Fetched then or later. {_WHEN}")
@click.option("--until", default="", metavar="DATE", help="Fetched before then.")
@click.option(
    "--updated-since", default="", metavar="DATE", help="Changed at its host then or later."
)
@click.option("--one-of-each", is_flag=True, help="Of near duplicates on a host only one.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["zip", "warc"]),
    default="zip",
    show_default=True,
    help="zip: html/sumh/suml/host:port.zip. warc: without host and date, whole segments.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="Where they are kept.",
)
@click.option(
    "-j",
    "--jobs",
    "at_once",
    type=click.IntRange(1, 32),
    default=4,
    show_default=True,
    help="Downloads at a time.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be taken, and take nothing.")
@click.option("--quiet", is_flag=True, help="Print only what goes wrong; for cron.")
@click.option(
    "--tries",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    help="Failures in a row without one new byte.",
)
@click.option(
    "--longest-wait",
    type=click.IntRange(0, 7 * 86_400),
    default=3600,
    show_default=True,
    metavar="SECONDS",
    help="Wait when the server says so, up to this; beyond, end with exit code 7.",
)
@connection_options
@json_option
def get(
    hosts: tuple[str, ...],
    domains: tuple[str, ...],
    url: str,
    since: str,
    until: str,
    updated_since: str,
    one_of_each: bool,
    form: Format,
    output: Path,
    at_once: int,
    dry_run: bool,
    quiet: bool,
    tries: int,
    longest_wait: int,
    ca: str,
    proxy: str,
    as_json: bool,
) -> None:
    """Take pages of hosts, or whole segments, into DIR; continue where the last run ended.

    Each --host and --domain is a separate job; the same question again replaces its file.

    What the server has withdrawn since the last run is deleted from DIR first. What is there under
    its name is whole and verified. One run at a time works in a DIR.
    """
    terminal = Terminal(quiet=quiet)
    patience = Patience(tries=tries, longest_wait_s=longest_wait, tell=terminal.say)
    conditions = (url, since, until, updated_since, one_of_each)
    every = (".*",) if form == "zip" or any(conditions) else ()
    asked = selected_hosts(hosts, domains) or [(host, host) for host in every]
    selections = [Selection(host, *conditions, typed) for host, typed in asked]
    report, withdrawn = Report(), Withdrawn()

    def so_far() -> dict[str, Any]:
        return _told(report, withdrawn)

    with stoppable(patience) as signals, in_words(as_json, so_far, signals=signals):
        try:
            with (
                Server(logged_in(ca, proxy), patience, connections=at_once) as server,
                Folder(output) as folder,
            ):
                if dry_run:
                    _dry(server, folder, selections, as_json)
                    return
                withdrawn = follow_withdrawals(server, folder, terminal.say)
                for place in withdrawn.deleted:
                    terminal.say(f"withdrawn: {place}: deleted")
                run = Run(server, folder, at_once, terminal, report)
                if selections:
                    run.get_selections(form, matching_selections(server, selections, report))
                else:
                    files = missing_segments(server, folder, report)
                    _warn_of_room(folder, sum(each.size_bytes for each, _ in files), terminal)
                    run.get_segments(files)
        finally:
            terminal.clear()
        failed = report.count("failed")
        if failed:
            raise ClientError(f"{failed} of {len(report.files)} files failed; see above")
        unmatched = [each.place for each in report.files if each.state == "unmatched"]
        if unmatched:
            raise _no_match(unmatched)
        if as_json:
            say_json({**so_far(), "exit": 0})
        else:
            terminal.say(_summary(report))


def _no_match(asked: list[str]) -> NoMatchError:
    return NoMatchError(f"nothing matches {', '.join(asked)}: `prs-get hosts` lists what there is")


def _told(report: Report, withdrawn: Withdrawn) -> dict[str, Any]:
    return {
        "files": [asdict(each) for each in report.files],
        "deleted": [str(place) for place in withdrawn.deleted],
        "outdated": [str(place) for place in withdrawn.outdated],
    }


def _summary(report: Report) -> str:
    counts = Counter(each.state for each in report.files)
    taken = sum(each.size_bytes for each in report.files if each.state == "taken")
    return (
        f"{counts['taken']} taken ({in_units(taken)}), {counts['had']} were here, "
        f"{counts['withdrawn']} withdrawn"
    )


def _warn_of_room(folder: Folder, size_bytes: int, terminal: Terminal) -> None:
    free = folder.free_bytes()
    if size_bytes > free:
        terminal.say(
            f"{in_units(size_bytes)} are to come and the disk has {in_units(free)}: this run may "
            "end for lack of room; the next run continues"
        )


def _dry(server: Server, folder: Folder, selections: list[Selection], as_json: bool) -> None:
    if selections:
        sizes = [(each.label, *size_of(server, each)) for each in selections]
        nothing = [host for host, hosts, captures in sizes if not (hosts and captures)]
        if as_json:
            say_json(
                {
                    "selections": [
                        {"host": host, "hosts": hosts, "captures": captures}
                        for host, hosts, captures in sizes
                    ]
                }
            )
        for host, hosts, captures in () if as_json else sizes:
            say(f"{host}: {hosts} hosts, {captures} captures at most")
        if nothing and as_json:  # the counts say it
            raise click.exceptions.Exit(NoMatchError.exit_code)
        if nothing:
            raise _no_match(nothing)
        return
    report = Report()
    files = missing_segments(server, folder, report)
    size_bytes = sum(listed.size_bytes for listed, _ in files)
    if as_json:
        wanted = [{"place": str(place), "size_bytes": listed.size_bytes} for listed, place in files]
        say_json({"files": wanted, "size_bytes": size_bytes, "had": report.count("had")})
        return
    for listed, place in files:
        click.echo(f"{place}\t{listed.size_bytes}")
    say(f"{len(files)} files, {in_units(size_bytes)}; {report.count('had')} are here", err=True)

"""The commands of `prs-get`.

Exit codes: 0 done, 1 refused, 2 usage, 3 not reachable (the same command goes on later), 4
damaged.
Bars are shown on a terminal only, so cron mails nothing but what went wrong.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
import httpx

from client import following, selecting
from client.account import Account, read_account, write_account
from client.selecting import Wanted
from client.server import Server

__all__ = ["main"]

_Command = TypeVar("_Command", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Way:
    """How the centre is reached: tests know another way than the network, and do not wait."""

    transport: httpx.BaseTransport | None = None
    account: Account | None = None
    sleep: Callable[[float], None] = time.sleep


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def main(context: click.Context) -> None:
    """Take captures from a PRSM centre.

    Exit codes: 0 done, 1 refused, 2 usage, 3 not reachable, 4 damaged. After 3 the same command
    goes on where it stopped.
    """
    context.obj = context.obj or Way()


pass_way = click.make_pass_decorator(Way)


def json_option(command: _Command) -> _Command:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def selection_options(command: _Command) -> _Command:
    """Add what a selection is asked by."""
    for option in (
        click.option("--one-of-each", is_flag=True, help="Of near duplicates only one."),
        click.option("--updated-since", default="", help="Changed since then."),
        click.option("--until", default="", help="Fetched before then."),
        click.option("--since", default="", help="Fetched since then: 2026, 2026-01-02T03:04:05Z."),
        click.option("--url", default="", help="Only URLs that begin so."),
        click.option("--host", default="", help="RE2 for all of `www.example.jp:80`."),
    ):
        command = option(command)
    return command


@contextlib.contextmanager
def served(way: Way) -> Iterator[Server]:
    server = Server(way.account or read_account(), way.transport, sleep=way.sleep)
    try:
        yield server
    finally:
        server.close()


@main.command()
@click.argument("url")
@click.option("--token-stdin", is_flag=True, help="Read the token from standard input.")
@pass_way
def login(way: Way, url: str, token_stdin: bool) -> None:
    """Keep the address and token of the centre at URL, after trying them."""
    if token_stdin:
        token = sys.stdin.readline().strip()
    else:
        token = str(click.prompt("Token", hide_input=True))
    account = Account(url, token)
    with served(Way(way.transport, account)) as server:
        server.get("/api/v1/pages/hosts", host=".*", limit=1)
    click.echo(f"kept in {write_account(account)}", err=True)


@main.command()
@selection_options
@json_option
@pass_way
def hosts(way: Way, /, as_json: bool, **asked: Any) -> None:
    """List the hosts that the centre has: name, captures, bytes."""
    host, url = asked["host"] or ".*", asked["url"]
    with served(way) as server:
        after = 0
        while True:
            answer = server.get("/api/v1/pages/hosts", host=host, url=url, after=after)
            for one in answer["hosts"]:
                click.echo(
                    json.dumps(one)
                    if as_json
                    else f"{one['host']}\t{one['captures']}\t{one['bytes']}"
                )
            if answer["next"] is None:
                return
            after = int(answer["next"])


@main.command()
@selection_options
@click.option("--format", "form", type=click.Choice(["zip", "warc"]), default="zip")
@click.option("-o", "folder", type=click.Path(path_type=Path, file_okay=False), required=True)
@click.option("-j", "at_once", default=4, show_default=True, help="Parts in parallel.")
@click.option("--dry-run", is_flag=True, help="Only say how much it is.")
@json_option
@pass_way
def get(
    way: Way,
    /,
    form: str,
    folder: Path,
    at_once: int,
    dry_run: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Get pages of hosts into a folder: html/sumh/suml/host:port.zip, or one WARC file."""
    wanted = Wanted(form, **asked)
    with served(way) as server:
        if dry_run:
            size = server.get("/api/v1/pages", **wanted.params)
            said = f"{size['hosts']} hosts, {size['captures']} captures at most"
            click.echo(json.dumps(size) if as_json else said)
            return
        with _Bars() as bars:
            got = selecting.get(
                server, wanted, folder, at_once, bars.making, bars.coming, way.sleep
            )
    names = [str(path.relative_to(folder)) for path in got.files]
    if as_json:
        said_bytes = {"bytes": got.size_bytes, "fetched_bytes": got.new_bytes}
        click.echo(json.dumps({"files": names, **said_bytes}))
    else:
        click.echo(f"{len(names)} files, {got.new_bytes} bytes fetched", err=True)


@main.command()
@click.option("--since", default="", help="A cursor or a date, where there is no folder.")
@click.option("-o", "folder", type=click.Path(path_type=Path, file_okay=False), default=None)
@click.option("-j", "at_once", default=4, show_default=True, help="Segments in parallel.")
@click.option("--dry-run", is_flag=True, help="Only list what changed.")
@json_option
@pass_way
def changes(
    way: Way, since: str, folder: Path | None, at_once: int, dry_run: bool, as_json: bool
) -> None:
    """List what changed, or with -o keep a folder of segments as the centre has it.

    The folder remembers how far it is; the first time it takes everything, or what came since.
    """
    with served(way) as server:
        if folder is None or dry_run:
            kept = None if folder is None else folder / following.CURSOR
            start = kept.read_text().strip() if kept is not None and kept.exists() else since
            found, cursor = following.changes(server, start)
            if as_json:
                click.echo(json.dumps({"changes": found, "next": cursor}))
                return
            for one in found:
                click.echo(f"{one['at']}\t{one['what']}\t{one['name']}")
            click.echo(f"next: {cursor}", err=True)
            return
        shown = (lambda text: click.echo(text, err=True)) if sys.stderr.isatty() else _nothing
        done = following.follow(server, folder, since, at_once, shown)
    if as_json:
        click.echo(
            json.dumps(
                {
                    "fetched": done.fetched,
                    "deleted": done.deleted,
                    "fetched_bytes": done.new_bytes,
                }
            )
        )
    else:
        click.echo(f"{len(done.fetched)} fetched, {len(done.deleted)} deleted", err=True)


def _nothing(_: str) -> None:
    """Say nothing."""


class _Bars:
    """Progress on a terminal: the making of a selection, then its bytes."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._stack = contextlib.ExitStack()
        self._bar: Any = None
        self._what = ""
        self._adding = threading.Lock()

    def __enter__(self) -> _Bars:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def making(self, done: int, total: int) -> None:
        if self._shown and total:
            self._begin("made at the centre", total)
            self._bar.update(done - self._bar.pos)

    def coming(self, size_bytes: int) -> Callable[[int], None]:
        if not self._shown:
            return lambda _: None
        self._begin("fetched", size_bytes)
        return self._add

    def _add(self, size_bytes: int) -> None:
        with self._adding:
            self._bar.update(size_bytes)

    def _begin(self, what: str, total: int) -> None:
        if self._what != what:
            self._stack.close()
            self._what = what
            shown = click.progressbar(length=max(1, total), label=what, file=sys.stderr)
            self._bar = self._stack.enter_context(shown)

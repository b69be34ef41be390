"""`prs-get hosts`: which hosts the server has, and how much of each."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

import click

from client.cli.options import connection_options, in_words, json_option, logged_in, say_json
from client.retrying import Patience
from client.selecting import HeldHost, Selection, held_hosts
from client.server import Server

__all__ = ["hosts"]


@click.command()
@click.option(
    "--match",
    "--host",
    "match",
    default=".*",
    metavar="RE2",
    show_default=True,
    help="An RE2 expression for all of `www.example.jp:80`.",
)
@connection_options
@json_option
def hosts(match: str, ca: str, proxy: str, as_json: bool) -> None:
    """List the hosts that the server has: name, captures, bytes, first and last capture."""
    found: list[HeldHost] = []
    with in_words(as_json), Server(logged_in(ca, proxy), Patience()) as server:
        for host in held_hosts(server, Selection(match)):
            if as_json:
                found.append(host)
            else:
                first, last = _day(host.first_ms), _day(host.last_ms)
                click.echo(f"{host.host}\t{host.captures}\t{host.bytes}\t{first}\t{last}")
        if as_json:
            say_json({"match": match, "hosts": [asdict(each) for each in found]})


def _day(at_ms: int) -> str:
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return "-"

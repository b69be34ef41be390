"""`prs-get hosts`: which hosts the server has, and how much of each."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Final

import click

from client.cli.options import (
    connection_options,
    host_options,
    in_words,
    json_option,
    logged_in,
    say_json,
    selected_hosts,
)
from client.errors import NoMatchError
from client.retry import Patience
from client.selection import HeldHost, Selection, held_hosts
from client.server import Server

__all__ = ["hosts"]


HEADER: Final = "host\tcaptures\tbytes\tfirst\tlast"


@click.command()
@click.option("--match", multiple=True, metavar="RE2", help="The same as --host.")
@host_options
@connection_options
@json_option
def hosts(
    match: tuple[str, ...],
    hosts: tuple[str, ...],
    domains: tuple[str, ...],
    ca: str,
    proxy: str,
    as_json: bool,
) -> None:
    """List the hosts that the server has: name, captures, bytes, first and last capture.

    The first line names the columns, which tabs divide. Without --host and --domain: all hosts.
    """
    asked = selected_hosts([*match, *hosts], domains) or [(".*", ".*")]
    expression = "|".join(f"(?:{each})" for each, _ in asked) if len(asked) > 1 else asked[0][0]
    names = ", ".join(typed for _, typed in asked)
    found: list[HeldHost] = []
    with in_words(as_json), Server(logged_in(ca, proxy), Patience()) as server:
        for host in held_hosts(server, Selection(expression)):
            if not found and not as_json:
                click.echo(HEADER)
            found.append(host)
            if not as_json:
                first, last = _day(host.first_ms), _day(host.last_ms)
                click.echo(f"{host.host}\t{host.captures}\t{host.bytes}\t{first}\t{last}")
        if not found:
            raise NoMatchError(f"no host matches {names}")
        if as_json:
            say_json({"match": names, "hosts": [asdict(each) for each in found]})


def _day(at_ms: int) -> str:
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return "-"

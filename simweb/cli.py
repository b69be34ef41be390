"""The command line: `python -m simweb` serves; its subcommands answer questions.

The options of serving are the fields of `WorldOptions` and `ServeOptions`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from shared.errors import LineError, PrsmError
from simweb.judging.judge import judge_log
from simweb.servers.app import serve
from simweb.sites.builder import build_world
from simweb.sites.expectation import expect_world
from simweb.sites.options import ServeOptions, WorldOptions, flag_of
from simweb.sites.trouble import HOST_TROUBLE, PAGE_TROUBLE, Outcome

__all__ = ["main"]

Command = Callable[..., Any]
Settings = type[WorldOptions] | type[ServeOptions]


def _options_of(kind: Settings) -> Callable[[Command], Command]:
    """Return a decorator that adds an option for each field."""

    def add(command: Command) -> Command:
        for item in reversed(dataclasses.fields(kind)):
            command = _option(item)(command)
        return command

    return add


def _option(item: dataclasses.Field[Any]) -> Callable[[Command], Command]:
    flag, text, default = flag_of(item.name), item.metadata["help"], item.default
    if isinstance(default, bool):
        flag = f"{flag}/--no-{flag[2:]}" if default else flag
        return click.option(flag, item.name, default=default, help=text, is_flag=True)
    if isinstance(default, tuple):
        return click.option(flag, item.name, multiple=True, metavar="NAME=VALUE", help=text)
    return click.option(
        flag, item.name, default=default, type=type(default), help=text, show_default=True
    )


def _part(kind: Settings, values: dict[str, Any]) -> dict[str, Any]:
    return {item.name: values[item.name] for item in dataclasses.fields(kind)}


def _fail(error: Exception) -> NoReturn:
    raise click.ClickException(str(error)) from error


@click.group(invoke_without_command=True, context_settings={"max_content_width": 100})
@_options_of(WorldOptions)
@_options_of(ServeOptions)
@click.version_option(package_name="prsm", message="simweb %(version)s")
@click.pass_context
def main(context: click.Context, /, **values: Any) -> None:
    """Serve a simulated web on 127.0.0.0/8; docs/simweb.md tells more."""
    if context.invoked_subcommand is not None:
        return
    try:
        world_options = WorldOptions(**_part(WorldOptions, values))
        serve(world_options, ServeOptions(**_part(ServeOptions, values)))
    except (PrsmError, OSError) as error:
        _fail(error)


@main.command()
@_options_of(WorldOptions)
@click.option("--port", default=80, show_default=True, help="the port in the URLs")
@click.option("--host", "names", multiple=True, help="only this host (repeatable)")
@click.option(
    "--outcome",
    "outcomes",
    multiple=True,
    type=click.Choice([outcome.value for outcome in Outcome]),
    help="print URLs of this outcome (repeatable); default: the captures",
)
@click.option("--strict", is_flag=True, help="robots that obey a Disallow whomever it addresses")
@click.option("--count", is_flag=True, help="print how many URLs have each outcome, as JSON")
def expect(
    port: int,
    names: tuple[str, ...],
    outcomes: tuple[str, ...],
    strict: bool,
    count: bool,
    **values: Any,
) -> None:
    """Print the URLs that an honest, complete crawl of this world captures, one a line."""
    try:
        world = build_world(WorldOptions(**values))
    except PrsmError as error:
        _fail(error)
    unknown = [name for name in names if name not in world.by_name]
    if unknown:
        _fail(PrsmError(f"--host {unknown[0]}: no such host in this world"))
    hosts = [world.by_name[name] for name in names] or world.hosts
    found = expect_world(world, port, hosts, strict)
    if count:
        click.echo(json.dumps(found.counts()))
        return
    urls = found.of(*map(Outcome, outcomes)) if outcomes else found.captures
    for url in sorted(urls):
        click.echo(url)


@main.command()
@click.argument("log", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--interval-ms", type=float, required=True, help="least gap of two requests")
@click.option(
    "--per-address/--per-host", default=True, show_default=True, help="parts with a clock"
)
@click.option("--per-domain", is_flag=True, help="a clock for each registrable domain there")
@click.option(
    "--address-interval-ms", default=0.0, help="least mean gap at an address then; 0: any"
)
@click.option(
    "--address-agents", default=1, show_default=True, help="clients that divide this rate"
)
@click.option(
    "--address-tolerance-ms",
    default=250.0,
    show_default=True,
    help="how late the server may see a request",
)
@click.option("--per-client", is_flag=True, help="a clock for each client, not one for all")
@click.option(
    "--interval-of-host",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="file of `HOST MILLISECONDS` lines, for hosts with another interval",
)
@click.option("--tolerance-ms", default=5.0, show_default=True, help="let pass so much too little")
@click.option(
    "--burst", default=1, show_default=True, help="requests in a row on a connection; 0: any"
)
@click.option("--times-last", default=0.0, show_default=True, help="gap over the last duration")
@click.option("--robots-first/--no-robots-first", default=True, help="demand robots.txt first")
@click.option("--json", "as_json", is_flag=True, help="print the verdict as JSON")
def judge(log: Path, interval_of_host: Path | None, as_json: bool, **rules: Any) -> None:
    """Judge whether the crawl in LOG was polite; exit with 1 if it was not."""
    try:
        intervals = _intervals(interval_of_host) if interval_of_host else {}
        verdict = judge_log(log, interval_of_host=intervals, **rules)
    except (PrsmError, OSError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(verdict.to_json(), indent=1))
    else:
        click.echo("\n".join(verdict.lines()))
    if not verdict.ok:
        raise SystemExit(1)


def _intervals(path: Path) -> dict[str, float]:
    """Read `HOST MILLISECONDS` lines; `#` begins a comment. Raises LineError."""
    found = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            name, value = words
            found[name.lower()] = float(value)
        except ValueError as error:
            raise LineError(number, f"{line!r}: write HOST MILLISECONDS") from error
    return found


@main.command()
def faults() -> None:
    """List the kinds of trouble and what each does."""
    for flag, kinds in (("--trouble", PAGE_TROUBLE), ("--host-trouble", HOST_TROUBLE)):
        click.echo(f"{flag}")
        for kind, trouble in kinds.items():
            click.echo(f"  {kind:15} {trouble.rate:<6g} {trouble.outcome.value:9} {trouble.what}")

"""Options common to all commands, and errors as sentences, JSON and exit codes."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import click

from client.errors import ClientError, StoppedError
from client.host_expression import domain_expression, host_expression
from client.login import Login, home, load
from client.names import plain
from client.retry import Patience
from shared.errors import SettingError
from shared.plurals import with_plurals
from shared.program import joined
from shared.settings import refuse_password

__all__ = [
    "connection_options",
    "host_options",
    "in_words",
    "json_option",
    "logged_in",
    "refuse_proxy_password",
    "say_json",
    "selected_hosts",
    "stoppable",
]

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object, also where it fails."
)


connection_options = joined(
    click.option(
        "--ca",
        default="",
        metavar="FILE",
        help="Trust the certificates in this PEM file instead of the usual ones.",
    ),
    click.option("--proxy", default="", metavar="URL", help="Also HTTPS_PROXY and NO_PROXY."),
)
"""--ca and --proxy, for this run alone."""

host_options = joined(
    click.option(
        "--host",
        "hosts",
        multiple=True,
        metavar="RE2",
        help="Hosts whose name, or `name:port`, it matches whole; repeated.",
    ),
    click.option(
        "--domain",
        "domains",
        multiple=True,
        metavar="NAME",
        help="A domain and all names below it: example.jp; repeated.",
    ),
)


def selected_hosts(hosts: Sequence[str], domains: Sequence[str]) -> list[tuple[str, str]]:
    """Return the expressions that --host and --domain ask for, each with what a person gave."""
    for option, typed in (("--host", hosts), ("--domain", domains)):
        if not all(each.strip(" .*" if option == "--domain" else " ") for each in typed):
            raise click.UsageError(f"{option} is empty: without it all hosts are meant")
    return [(host_expression(host), host) for host in hosts] + [
        (domain_expression(domain), domain) for domain in domains
    ]


def logged_in(ca: str, proxy: str) -> Login:
    """Return the login with what this run has instead; raises TokenError, UsageError."""
    refuse_proxy_password(proxy)
    kept = load(home())
    return Login(kept.url, kept.token, ca or kept.ca, proxy or kept.proxy)


def refuse_proxy_password(proxy: str) -> None:
    """Raise UsageError for a proxy with a password: others see command lines."""
    try:
        refuse_password(proxy, "--proxy", "HTTPS_PROXY in the environment")
    except SettingError as error:
        raise click.UsageError(str(error)) from error


def say(text: str, *, err: bool = False) -> None:
    """Print sentences, in which nouns agree with their numbers."""
    click.echo(with_plurals(text), err=err)


def say_json(value: object) -> None:
    """Print JSON on standard output."""
    click.echo(json.dumps(value, ensure_ascii=False))


@contextmanager
def in_words(
    as_json: bool, so_far: Callable[[], dict[str, Any]] = dict, *, signals: list[int] | None = None
) -> Iterator[None]:
    """Turn what ends a command into a sentence, or JSON, and its exit code.

    so_far: fields of the JSON beside the error. signals: those that came.
    """
    try:
        yield
    except ClientError as error:
        code = error.exit_code
        if isinstance(error, StoppedError) and signals:
            code = 128 + signals[0]
        if as_json:
            say_json({**so_far(), "error": plain(str(error)), "exit": code})
        else:
            click.echo(f"Error: {plain(str(error))}", err=True)
        raise click.exceptions.Exit(code) from error


@contextmanager
def stoppable(patience: Patience) -> Iterator[list[int]]:
    """End the run at its next piece on SIGINT and SIGTERM; yield the signals that came."""
    came: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        came.append(number)
        patience.stopping.set()

    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""`prs-get login`: keep a token, after the server said that it is good."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Final

import click

from client.cli.options import (
    connection_options,
    in_words,
    json_option,
    refuse_proxy_password,
    say_json,
)
from client.errors import RefusedError, TokenError
from client.login import Login, check_token, check_url, home, save
from client.retry import Patience
from client.server import Server

__all__ = ["login"]

TRIES: Final = 2
TOKEN_MOST: Final = 4096

_ASKED: Final = (
    ("segments", "wasapi/v1/webdata", (("page_size", "1"),)),
    ("pages", "wasapi/v1/jobs", (("page_size", "1"),)),
    ("changes", "api/v1/changes", (("limit", "1"),)),
    ("index", "api/v1/index", (("page_size", "1"),)),
)
"""For each scope of a token, what costs least to ask."""


@click.command()
@click.argument("url")
@click.option(
    "--token-file",
    type=click.File("r"),
    help="Read the token from a file, `-`: standard input. Else it is asked for.",
)
@connection_options
@json_option
def login(url: str, token_file: IO[str] | None, ca: str, proxy: str, as_json: bool) -> None:
    """Keep the token for the manager at URL, in a file that only you can read.

    The token is never an argument: others see command lines. It is asked for, or read from
    standard input or --token-file. PRS_GET_HOME names another folder for it.
    """
    refuse_proxy_password(proxy)
    with in_words(as_json):
        token = check_token(_token(token_file))
        # The path is kept whole: cron starts elsewhere.
        given = Login(check_url(url), token, str(Path(ca).absolute()) if ca else "", proxy)
        patience = Patience(tries=TRIES, longest_wait_s=60)
        if not as_json:
            patience.tell = partial(click.echo, err=True)
        with Server(given, patience) as server:
            opens = opened(server)
        path = save(home(), given)
    if as_json:
        say_json({"url": given.url, "opens": opens, "kept": str(path)})
    else:
        click.echo(f"{given.url}: the token opens {', '.join(opens)}; kept in {path}")


def opened(server: Server) -> list[str]:
    """Return what the token of a server opens; raises TokenError where that is nothing."""
    found: list[str] = []
    refused: TokenError | None = None
    for scope, path, query in _ASKED:
        try:
            server.json(path, query)
            found.append(scope)
        except TokenError as error:
            refused = refused or error
        except RefusedError as error:
            if error.status != 404:
                raise
    if not found:
        raise refused or TokenError(
            f"{server.url}: gives nothing by tokens; is this the address of a PRSM manager?"
        )
    return found


def _token(file: IO[str] | None) -> str:
    if file is not None:
        return file.read(TOKEN_MOST)
    if not sys.stdin.isatty():
        return sys.stdin.read(TOKEN_MOST)
    asked: Callable[..., str] = click.prompt
    return asked("Token", hide_input=True, err=True)

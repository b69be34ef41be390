"""`prs-get changes`: creations and deletions among the public segments."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import click

from client.changes import Change, changes_since, present_cursor
from client.cli.options import connection_options, in_words, json_option, logged_in, say_json
from client.errors import ClientError
from client.folder import disk_said
from client.retry import Patience
from client.server import Server

__all__ = ["changes"]


@click.command()
@click.option("--since", default="", metavar="CURSOR|DATE", help="Begin behind this.")
@click.option(
    "--follow",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Begin behind the cursor in FILE, and keep the new one there. Without FILE yet: --since, "
    "or now.",
)
@connection_options
@json_option
def changes(since: str, follow: Path | None, ca: str, proxy: str, as_json: bool) -> None:
    """Print created and deleted segments: take the former, delete your copies of the latter.

    A line each: number, time, what, name, bytes; tabs between. The last line of --json's object
    has the cursor. With --follow the cursor is kept after everything was printed, so a run that is
    killed repeats changes and skips none. Exit code 8: the cursor is too old; take the full list
    with `prs-get get`, remove FILE, and follow again.
    """
    found: list[Change] = []
    with in_words(as_json):
        with Server(logged_in(ca, proxy), Patience()) as server:
            begin = (_read(follow) if follow else "") or since
            cursor = begin or present_cursor(server)
            if begin:
                for page in changes_since(server, begin):
                    cursor = page.cursor
                    found += page.changes
                    if not as_json:
                        _print(page.changes)
        if as_json:
            say_json({"changes": [asdict(each) for each in found], "cursor": cursor})
        elif follow is None:
            click.echo(f"cursor: {cursor}", err=True)
        if follow is not None:
            _keep(follow, cursor)


def _print(page: list[Change]) -> None:
    for each in page:
        size = "" if each.size_bytes is None else each.size_bytes
        click.echo(f"{each.seq}\t{each.at}\t{each.what}\t{each.name}\t{size}")


def _read(path: Path) -> str:
    try:
        text = path.read_text("ascii").strip()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise ClientError(f"{path}: cannot be read ({error})") from error
    if not text.isprintable() or not 0 < len(text) <= 200:
        raise ClientError(f"{path}: holds no cursor; remove it to start again")
    return text


def _keep(path: Path, cursor: str) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    with disk_said(path):
        with draft.open("w") as file:
            file.write(cursor + "\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)

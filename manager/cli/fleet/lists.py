"""`prsm lists`: lists of units written by hand, or exported and put right."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

import click

from manager.cli import output
from manager.cli.hosts import names
from manager.cli.options import Target, json_answer
from shared.errors import PrsmError
from shared.wire.gzip_stream import decompress
from shared.wire.names import check_agent_name
from shared.wire.server_list import LIST_LIMIT_BYTES

__all__ = ["lists"]

CHUNK_BYTES: Final = 256 * 1024
GZIP: Final = b"\x1f\x8b"
STDIN: Final = "-"


@click.group()
def lists() -> None:
    """Server lists: the units of each agent."""


@lists.command("import")
@click.argument(
    "files",
    metavar="FILE...",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    nargs=-1,
    required=True,
)
@click.option("--agent", default="", help="Whose list it is; default: the file's name.")
@click.option("--add-hosts", is_flag=True, help="Add hosts that are not known.")
@json_answer
def import_(target: Target, files: tuple[str, ...], agent: str, add_hosts: bool) -> Iterator[Any]:
    """Pin the units in each FILE to the agent that the file is named for.

    A line is a server or a URL that ends in `/`, as in the files of `prsm export lists` and in M1,
    plain or gzip. If one line of one file is invalid, nothing is changed, and all such lines are
    shown with their numbers. The names of new hosts are looked up, as by `prsm hosts import`.
    """
    if agent and len(files) > 1:
        raise click.UsageError(f"--agent {agent}: {len(files)} files are lists of several agents")
    owners = [_owner(file, agent) for file in files]
    chunks = itertools.chain.from_iterable(map(_section, files, owners))
    path = "/lists/import" + ("?add_hosts=true" if add_hosts else "")
    with tempfile.TemporaryFile() as kept:
        done = target.calls.upload(path, names.keep(chunks, kept))
        yield done
        if done["new_hosts"]:
            found = names.names_of_list(target.calls, kept, longest_s=names.SHORT_WAIT_S)
            names.show_names(found)
    for name, count in done["agents"].items():
        output.say(f"{name}: {count} units pinned")
    output.say(f"{done['moved']} units moved; {done['new_hosts']} new hosts")


def _owner(file: str, agent: str) -> str:
    name = agent or ("" if file == STDIN else Path(file).name)
    try:
        return check_agent_name(name)
    except PrsmError as error:
        raise click.UsageError(f"{file}: {error}; or say --agent NAME") from error


def _section(file: str, owner: str) -> Iterator[bytes]:
    yield f"#Agent={owner}\n".encode()
    last = b""
    try:
        with click.open_file(file, "rb") as opened:
            for last in _plain(opened):
                yield last
    except PrsmError as error:
        raise click.ClickException(f"{file}: {error}") from error
    if not last.endswith(b"\n"):
        yield b"\n"


def _plain(file: IO[bytes]) -> Iterator[bytes]:
    chunks = iter(lambda: file.read(CHUNK_BYTES), b"")
    first = next(chunks, b"")
    whole = itertools.chain([first], chunks)
    return decompress(whole, limit_bytes=LIST_LIMIT_BYTES) if first[:2] == GZIP else whole

"""Command line of a program: a group of commands, and options that several commands have.

What a command prints often goes to a file: a list of hosts, an export, JSON for another program. Of
a full disk a person must hear in a sentence, and a script by the exit code.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import click

from shared.full_disk import NO_ROOM
from shared.messages import Message

__all__ = ["Program", "joined"]

_Command = TypeVar("_Command", bound=Callable[..., object])


def joined(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Return options and arguments as one decorator, in the order in which help shows them."""

    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


class Program(click.Group):
    """A group that ends where its output finds no room, with a sentence on standard error."""

    no_room_code = 1

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run a command as click does."""
        try:
            return super().main(*args, **settings)
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            _forget_output()
            message = (
                Message("general.file_cut", path=str(error.filename), reason=error.strerror)
                if error.filename
                else Message("general.output_cut", reason=error.strerror)
            )
            with suppress(OSError):
                click.echo(f"Error: {message}", err=True)
            raise SystemExit(self.no_room_code) from error


def _forget_output() -> None:
    """Discard the output that found no room, so that the interpreter's end does not fail on it."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)

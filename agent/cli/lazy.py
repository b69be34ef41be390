"""Commands that are imported when they are asked for, and a program that ends at once.

The whole agent takes half a second to import; `prs url` needs none of it. At the end Python would
take all of it apart again, object by object, for a fifth of that time: the process just ends. By
then a command has closed what it opened; that is its own business, not the interpreter's.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import click

from shared.program import Program

__all__ = ["LazyGroup"]


class LazyGroup(Program):
    """A group whose commands lie in modules of `agent.cli`, each under its own name."""

    def __init__(self, *, modules: Mapping[str, str], **settings: Any) -> None:
        """modules: for each command the module that has it; the order is that of the help."""
        super().__init__(**settings)
        self._modules = modules

    def __call__(self, *args: Any, **settings: Any) -> Any:
        """Run the program and end the process with the command's exit code.

        A profiler or a debugger that watches still gets the end that it waits for.
        """
        try:
            self.main(*args, **settings)
        except SystemExit as ended:
            watched = sys.getprofile() is not None or sys.gettrace() is not None
            if watched or not (ended.code is None or isinstance(ended.code, int)):
                raise
            atexit._run_exitfuncs()
            with suppress(OSError):  # whoever read it has left
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(ended.code or 0)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None where there is none of that name."""
        module = self._modules.get(cmd_name)
        if module is None:
            return None
        # What is imported stays: looking for garbage meanwhile takes a tenth of the time, and
        # looking through it later is in vain.
        gc.disable()
        try:
            commands = importlib.import_module(f"agent.cli.{module}")
        finally:
            gc.freeze()
            gc.enable()
        command: click.Command = getattr(commands, cmd_name)
        return command

"""Commands that are imported when they are asked for.

The whole agent takes half a second to import; `prs url` needs none of it.
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import Mapping
from typing import Any

import click

__all__ = ["LazyGroup"]


class LazyGroup(click.Group):
    """A group whose commands lie in modules of `agent.cli`, each under its own name."""

    def __init__(self, *, modules: Mapping[str, str], **settings: Any) -> None:
        """modules: for each command the module that has it; the order is that of the help."""
        super().__init__(**settings)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None where there is none of that name."""
        module = self._modules.get(cmd_name)
        if module is None:
            return None
        # What is imported stays: looking for garbage meanwhile takes a tenth of the time.
        gc.disable()
        try:
            commands = importlib.import_module(f"agent.cli.{module}")
        finally:
            gc.enable()
        command: click.Command = getattr(commands, cmd_name)
        return command

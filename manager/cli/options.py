"""Options common to all commands: the manager to call, and the output format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import click
import httpx

from manager.cli.manager_client import Calls
from shared.frozen import frozen

__all__ = [
    "METHODS",
    "Target",
    "before_option",
    "json_option",
    "moves_option",
    "paged_options",
    "pass_target",
    "yes_option",
]

METHODS: Final = click.Choice(["default", "tree", "exchange", "prices", "lp", "keep", "random"])
"""How units are given out; `prsm plan` says what each would give."""

_Command = TypeVar("_Command", bound=Callable[..., object])


@frozen
class Target:
    """The manager that a command acts on, by its data directory."""

    data: Path
    config: Path | None
    transport: httpx.BaseTransport | None = None  # None: the Unix socket of the directory

    @property
    def calls(self) -> Calls:
        """Return its manager."""
        return Calls(self.data, self.config, self.transport)


pass_target = click.make_pass_decorator(Target)


def json_option(command: _Command) -> _Command:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(
        command
    )


def paged_options(command: _Command) -> _Command:
    """Add --sort, --limit and --offset, for lists of which a page is shown."""
    for option in (
        click.option("--offset", default=0, type=click.IntRange(0)),
        click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000)),
        click.option(
            "--sort", default="-number", show_default=True, help="A column; -COLUMN descending."
        ),
    ):
        command = option(command)
    return command


def yes_option(command: _Command) -> _Command:
    """Add --yes, for what is asked once."""
    return click.option("--yes", is_flag=True, help="Do not ask.")(command)


def moves_option(command: _Command) -> _Command:
    """Add --moves, the share of the placed units that a plan may move."""
    return click.option(
        "--moves",
        type=click.FloatRange(0, 1),
        help="Share of the placed units that a plan of `default` may move; else the policy's.",
    )(command)


before_option = click.option(
    "--before", type=click.IntRange(1), help="Only those before this `id` of --json."
)

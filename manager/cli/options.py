"""Options common to all commands: the manager to call, and the output format."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click
import httpx

from manager.cli import output
from manager.cli.manager_client import Calls
from shared.frozen import frozen
from shared.program import joined

__all__ = [
    "METHODS",
    "Target",
    "before_option",
    "json_answer",
    "json_option",
    "moment_ms",
    "moves_option",
    "objective_option",
    "paged_options",
    "pass_target",
    "until_share_option",
    "yes_option",
]

METHODS: Final = click.Choice(["default", "tree", "exchange", "prices", "lp", "keep", "random"])
"""How units are given out; `prsm plan` says what each would give."""


until_share_option = click.option(
    "--until-share",
    type=click.FloatRange(0, 1, min_open=True),
    help="Deadline: this share of the units is finished, as 0.95.",
)


def moment_ms(option: str, text: str | None) -> int | None:
    """Return a moment with its zone as epoch milliseconds. Raises UsageError, naming the option."""
    if text is None:
        return None
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise click.UsageError(f"{option} {text}: write 2026-11-22T03:00+09:00") from error
    if moment.tzinfo is None:
        raise click.UsageError(f"{option} {text}: add the zone, as +09:00 or Z")
    return round(moment.timestamp() * 1000)


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


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def json_answer(command: Callable[..., Iterator[Any]]) -> Callable[..., None]:
    """Add --json to a command that yields its answer, and then prints it for people.

    With --json only the answer is printed, and the rest of the command does not run. A group
    answers only where no command of it is named.
    """

    @json_option
    @pass_target
    @wraps(command)
    def answered(target: Target, /, *, as_json: bool, **options: Any) -> None:
        if click.get_current_context().invoked_subcommand is not None:
            return
        steps = command(target, **options)
        answer = next(steps)
        if as_json:
            output.as_json(answer)
        else:
            next(steps, None)

    return answered


paged_options = joined(
    click.option(
        "--sort", default="-number", show_default=True, help="A column; -COLUMN descending."
    ),
    click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000)),
    click.option("--offset", default=0, type=click.IntRange(0)),
)
"""--sort, --limit and --offset, for lists of which a page is shown."""

yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
moves_option = click.option(
    "--moves",
    type=click.FloatRange(0, 1),
    help="Share of the placed units that a plan of `default` may move; else the policy's.",
)
objective_option = click.option(
    "--objective",
    type=click.Choice(["end", "transfer"]),
    help="What `default` makes small: the end of the whole crawl, or the greatest transfer cost of "
    "an agent; else the policy's.",
)
before_option = click.option(
    "--before", type=click.IntRange(1), help="Only those before this `id` of --json."
)

"""Commands about schedules that all their uses share: list them, remove one, show one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click

from manager.cli import output
from manager.cli.options import Target, json_answer, pass_target

__all__ = ["Facts", "schedule_group", "show_schedule"]

Facts = Callable[[dict[str, Any]], Iterable[tuple[str, object]]]
"""What a schedule says of its use, as names and values."""


def schedule_group(path: str, words: str, empty: str, ends: str, facts: Facts) -> click.Group:
    """Return `schedule`, which lists them alone, with `remove`; the use adds how one is made.

    path: of the API. words, ends: help of the group and of `remove`. empty: said of none.
    """

    @click.group(invoke_without_command=True, help=words)
    @json_answer
    def schedule(target: Target) -> Iterator[Any]:
        found = target.calls.get(path)
        yield found
        if not found:
            output.say(empty)
        for one in found:
            show_schedule(one, facts)

    @schedule.command(help=ends)
    @click.argument("number", type=int)
    @pass_target
    def remove(target: Target, number: int) -> None:
        target.calls.post(f"{path}/{number}/remove")
        output.say(f"schedule {number} is removed")

    return schedule


def show_schedule(one: dict[str, Any], facts: Facts) -> None:
    """Print a schedule with its next runs."""
    about = one["schedule"]
    runs = one["next_runs"] or [one["problem"]]
    output.facts(
        (
            ("schedule", about["id"]),
            ("times", f"{about['crontab']} ({about['zone']})"),
            *facts(about),
            ("made by", about["made_by"]),
            ("last time", about["last_ms"] and output.time_text(about["last_ms"])),
            ("result", about["last_result"]),
            *(("next" if not number else "", run) for number, run in enumerate(runs)),
        )
    )
    output.say()

"""`prsm rounds schedule`: rounds that begin by the clock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click

from manager.cli.options import METHODS, Target, json_answer, moves_option, until_share_option
from manager.cli.rounds.schedules import schedule_group, show_schedule
from shared.program import joined

__all__ = ["schedule"]

PATH: Final = "/rounds/schedules"


def _facts(about: dict[str, Any]) -> Iterator[tuple[str, object]]:
    moves = about["plan_moves"]
    yield "method", f"{about['method']}{'' if about['probe'] else ', without probing'}"
    yield (
        "moves",
        "as the policy says" if moves is None else f"at most {moves:.1%} of the units",
    )
    if about["until_s"] is not None:
        yield "deadline", f"{about['until_s']} s after a round begins"
    if about["until_share"] is not None:
        yield "deadline", f"{about['until_share']:.1%} of the units finished"


schedule: Final = schedule_group(
    PATH,
    "Rounds that begin by the clock; alone, it lists them with their next runs.",
    "No schedule. `prsm rounds schedule add '0 2 * * *'` begins one every night.",
    "Remove schedule NUMBER of rounds.",
    _facts,
)


_schedule_options = joined(
    click.argument("crontab"),
    click.option("--zone", default="UTC", show_default=True, help="Time zone, as Asia/Tokyo."),
    click.option("--method", type=METHODS, default="default", show_default=True),
    click.option("--no-probe", is_flag=True, help="Use the known distances."),
    moves_option,
    click.option(
        "--until-s", type=click.IntRange(60), help="Deadline, seconds after a round begins."
    ),
    until_share_option,
)


@schedule.command()
@_schedule_options
@json_answer
def add(target: Target, no_probe: bool, **options: Any) -> Iterator[Any]:
    """Schedule rounds at the times of CRONTAB: minute, hour, day, month, day of week.

    A time while a round probes is skipped; the audit log records it.
    """
    made = target.calls.post(PATH, {**options, "probe": not no_probe})
    yield made
    show_schedule(made, _facts)


@schedule.command()
@click.argument("number", type=int)
@_schedule_options
@json_answer
def change(target: Target, number: int, no_probe: bool, **options: Any) -> Iterator[Any]:
    """Replace schedule NUMBER; arguments as for `add`."""
    made = target.calls.post(f"{PATH}/{number}", {**options, "probe": not no_probe})
    yield made
    show_schedule(made, _facts)

"""`prsm rounds schedule`: rounds that begin by the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import click

from manager.cli.options import METHODS, Target, json_option, moves_option, pass_target
from manager.cli.rounds.schedules import schedule_group, shown

__all__ = ["schedule"]

PATH: Final = "/rounds/schedules"
_Command = Callable[..., object]


def _facts(about: dict[str, Any]) -> Iterator[tuple[str, object]]:
    moves = about["plan_moves"]
    yield "method", f"{about['method']}{'' if about['probe'] else ', without probing'}"
    yield (
        "moves",
        "as the policy says" if moves is None else f"at most {moves:.1%} of the units",
    )


schedule: Final = schedule_group(
    PATH,
    "Rounds that begin by the clock; alone, it lists them with their next runs.",
    "No schedule. `prsm rounds schedule add '0 2 * * *'` begins one every night.",
    "Remove schedule NUMBER of rounds.",
    _facts,
)


def _schedule(command: _Command) -> _Command:
    """Add what says a schedule."""
    for option in reversed(
        (
            click.argument("crontab"),
            click.option(
                "--zone", default="UTC", show_default=True, help="Time zone, as Asia/Tokyo."
            ),
            click.option("--method", type=METHODS, default="default", show_default=True),
            click.option("--no-probe", is_flag=True, help="Use the known distances."),
            moves_option,
        )
    ):
        command = option(command)
    return command


@schedule.command()
@_schedule
@json_option
@pass_target
def add(
    target: Target,
    crontab: str,
    zone: str,
    method: str,
    no_probe: bool,
    moves: float | None,
    as_json: bool,
) -> None:
    """Schedule rounds at the times of CRONTAB: minute, hour, day, month, day of week.

    A time during a running round is skipped; the audit log records it.
    """
    body = _body(crontab, zone, method, moves, probe=not no_probe)
    shown(target.calls.post(PATH, body), _facts, as_json=as_json)


@schedule.command()
@click.argument("number", type=int)
@_schedule
@json_option
@pass_target
def change(
    target: Target,
    number: int,
    crontab: str,
    zone: str,
    method: str,
    no_probe: bool,
    moves: float | None,
    as_json: bool,
) -> None:
    """Replace schedule NUMBER; arguments as for `add`."""
    body = _body(crontab, zone, method, moves, probe=not no_probe)
    shown(target.calls.post(f"{PATH}/{number}", body), _facts, as_json=as_json)


def _body(
    crontab: str, zone: str, method: str, moves: float | None, *, probe: bool
) -> dict[str, Any]:
    return {"crontab": crontab, "zone": zone, "method": method, "probe": probe, "moves": moves}

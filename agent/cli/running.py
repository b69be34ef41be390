"""`prs run`: the agent itself."""

from __future__ import annotations

import sys
from datetime import datetime

import click

from agent.app.running import run_agent
from agent.cli.options import REFUSED, Place, in_words, pass_place, plain, set_option
from agent.control.status import Status

__all__ = ["run"]


@click.command()
@click.option("--once", is_flag=True, help="End when all is finished and reported; for cron.")
@click.option("--quiet", is_flag=True, help="Say nothing but what is wrong.")
@click.option("--replace", is_flag=True, help="End a process that works in this home already.")
@set_option
@pass_place
def run(place: Place, once: bool, quiet: bool, replace: bool, overrides: tuple[str, ...]) -> None:
    """Crawl for the manager until SIGTERM, `prs stop`, or with --once until all is done."""
    terminal = _Terminal(quiet=quiet)
    with in_words():
        ended = run_agent(
            place.settings(overrides),
            once=once,
            replace=replace,
            say=terminal.say,
            show=terminal.show,
        )
    terminal.say(f"stopped: {ended.reason}")
    if ended.refused:
        raise SystemExit(_refused(ended.refused))


def _refused(text: str) -> int:
    click.echo(f"Error: {text}", err=True)
    return REFUSED


class _Terminal:
    """Sentences with their time, and on a terminal one line that shows how it goes."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty() and not quiet
        self._width = 0

    def say(self, text: str) -> None:
        """Print a sentence above the line."""
        if self._quiet:
            return
        now = datetime.now().astimezone()
        self._clear()
        click.echo(f"{now:%Y-%m-%d %H:%M:%S} {plain(text)}", err=True)

    def show(self, status: Status) -> None:
        """Replace the line."""
        if not self._live:
            return
        line = (
            f"{status.state}: {status.units_finished}/{status.units} units, "
            f"{status.pages} pages ({status.pages_per_s:.1f}/s), queue {status.queue}, "
            f"{status.active_hosts} hosts, {status.errors} errors, "
            f"permit {status.permit_remaining_s:.0f} s"
        )
        self._clear()
        click.echo(line, nl=False, err=True)
        self._width = len(line)

    def _clear(self) -> None:
        if self._width:
            click.echo("\r" + " " * self._width + "\r", nl=False, err=True)
            self._width = 0

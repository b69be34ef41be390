"""`prs`: the robot at a partner's site.

Exit codes: 0 done; 1 refused, wrong, or not to be crawled (the message says what); 2 wrong command
line; 3 the manager cannot be reached. Messages for people go to standard error, what was asked for
to standard output.
"""

from __future__ import annotations

from pathlib import Path

import click

from agent.cli.enrolling import enrol
from agent.cli.holding import drain, pause, resume, stop
from agent.cli.options import DEFAULT_HOME, Place
from agent.cli.running import run
from agent.cli.showing import doctor, settings, status
from agent.cli.trying import fetch, links, robots, url

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="PRS_HOME",
    default=DEFAULT_HOME,
    show_default=True,
    help="The agent's folder; also PRS_HOME.",
)
@click.pass_context
def main(context: click.Context, home: Path) -> None:
    """A robot that crawls its share of the web for a PRSM manager.

    Exit codes: 0 done, 1 refused or wrong, 2 usage, 3 no manager reachable.
    """
    context.obj = context.obj or Place(home.expanduser())


for _command in (enrol, run, stop, drain, pause, resume, status, doctor, settings):
    main.add_command(_command)
for _command in (fetch, links, robots, url):
    main.add_command(_command)

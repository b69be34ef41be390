"""`prs`: the robot at a partner's site.

Exit codes: 0 done; 1 refused, wrong, or not to be crawled (the message says what); 2 wrong command
line; 3 the manager cannot be reached. Messages for people go to standard error, requested data to
standard output.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import click

from agent.cli.lazy import LazyGroup
from agent.cli.options import DEFAULT_HOME, HomeOption

__all__ = ["main"]

# Read when numpy is imported: its threads for large matrices, of which there are none here, would
# take memory, and a twentieth of a second each to begin and end.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Numpy gives its functions their documentation when it is imported, a fifth of that time. It has
# no reader here; numpy keeps it in separate modules, so that others may stand in their place.
for _name in ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars"):
    sys.modules.setdefault(_name, ModuleType(_name))
# Read when the first pydantic model is made: to look through all that is installed for plugins of
# pydantic takes as long as to make the models.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


@click.group(
    cls=LazyGroup,
    modules={
        "enrol": "enrol",
        "run": "run",
        "sync": "update",
        "update": "update",
        "rekey": "enrol",
        "start": "start",
        "stop": "hold",
        "drain": "hold",
        "pause": "hold",
        "resume": "hold",
        "status": "status",
        "collect": "collect",
        "serve": "serve",
        "doctor": "status",
        "settings": "status",
        "schedule": "start",
        "uninstall": "start",
        "fetch": "fetch",
        "links": "links",
        "robots": "links",
        "url": "links",
    },
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="PRS_HOME",
    default=DEFAULT_HOME,
    show_default=True,
    help="The agent's folder; also PRS_HOME.",
)
@click.version_option(package_name="prsm", message="prs %(version)s")
@click.pass_context
def main(context: click.Context, home: Path) -> None:
    """A robot that crawls its share of the web for a PRSM manager.

    Exit codes: 0 done, 1 refused or wrong, 2 usage, 3 no manager reachable.
    """
    context.obj = context.obj or HomeOption(home.expanduser())

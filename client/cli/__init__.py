"""`prs-get`: take captures from a PRSM manager. Exit codes: see `client.errors` and --help."""

from __future__ import annotations

import click

from client.cli.changes import changes
from client.cli.get import get
from client.cli.hosts import hosts
from client.cli.login import login
from client.errors import DiskError
from shared.program import Program

__all__ = ["main"]


class _PrsGet(Program):
    no_room_code = DiskError.exit_code


@click.group(cls=_PrsGet, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="prsm", message="prs-get %(version)s")
def main() -> None:
    """Take captures from a PRSM manager, with the token that its administrator gave you.

    \b
    Exit codes:
      0  done: the requested data are here, whole and verified
      1  something was refused, or came damaged each time; the message says what
      2  wrong command line
      3  no host or capture matches
      4  no token, or one that is unknown, revoked, over or too narrow
      5  this machine's disk: full, or the folder cannot be written
      6  another prs-get works in this folder
      7  the server asks to come back later: a quota, or too busy
      8  the cursor of `changes` is too old: start again
      9  the server cannot be reached
      130, 143  stopped by a signal; run it again, it continues
    """


for _command in (login, hosts, get, changes):
    main.add_command(_command)

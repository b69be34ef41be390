"""The join token of `prs enrol`: from a file, the environment, standard input or a prompt.

Invariant: it is never an argument, because every user of a machine sees command lines (`ps`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import IO, Final, NoReturn

import click

__all__ = ["VARIABLE", "given_token", "refuse_argument"]

VARIABLE: Final = "PRS_JOIN_TOKEN"
TOKEN_MOST: Final = 4096


def refuse_argument(typed: Sequence[str]) -> NoReturn:
    """Refuse more arguments than the URL, without repeating them; raises UsageError."""
    option = next((one for one in typed if one.startswith("--") and one[2:].isalpha()), None)
    if option is not None:
        raise click.UsageError(f"No such option: {option}; a join token is no argument either")
    raise click.UsageError(
        "The join token is no argument any more: every user of this machine can read command "
        "lines. Run the same command without it and paste the token when asked, or give it by "
        f"--token-file FILE, by {VARIABLE} in the environment, or on standard input. "
        "Whoever may have seen this one can use it until then: make a new one where you share "
        "the machine."
    )


def given_token(file: IO[str] | None, *, can_ask: bool) -> str:
    """Return the token. Raises UsageError where there is none."""
    # Programs that are started from here have no use for it.
    from_environment = os.environ.pop(VARIABLE, "")
    if file is not None:
        token, where = file.read(TOKEN_MOST), "--token-file"
    elif from_environment:
        token, where = from_environment, VARIABLE
    elif can_ask:
        token, where = str(click.prompt("Join token", hide_input=True, err=True)), "the answer"
    else:
        token, where = sys.stdin.read(TOKEN_MOST), "standard input"
    words = token.split()
    if len(words) != 1:
        raise click.UsageError(
            f"join token: {where} holds {len(words)} words; it must be the token alone, as "
            "`prsm agents token NAME` printed it. Paste it when asked, or give it by --token-file "
            f"FILE, {VARIABLE} or standard input"
        )
    return words[0]

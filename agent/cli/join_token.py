"""The join token of `prs enrol`: from a file, the environment, standard input or a prompt.

Invariant: it is never an argument, because every user of a machine sees command lines (`ps`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import IO, Final, NoReturn

import click

from shared.messages import Message

__all__ = ["VARIABLE", "read_token", "refuse_argument"]

VARIABLE: Final = "PRS_JOIN_TOKEN"
TOKEN_MOST: Final = 4096


def refuse_argument(typed: Sequence[str]) -> NoReturn:
    """Refuse more arguments than the URL, without repeating them; raises UsageError."""
    option = next((one for one in typed if one.startswith("--") and one[2:].isalpha()), None)
    if option is not None:
        raise click.UsageError(str(Message("agent_errors.no_such_option", option=option)))
    raise click.UsageError(str(Message("agent_errors.token_as_argument", variable=VARIABLE)))


def read_token(file: IO[str] | None, *, can_ask: bool) -> str:
    """Return the token. Raises UsageError where there is none."""
    where: str | Message
    # Programs that are started from here have no use for it.
    from_environment = os.environ.pop(VARIABLE, "")
    if file is not None:
        token, where = file.read(TOKEN_MOST), "--token-file"
    elif from_environment:
        token, where = from_environment, VARIABLE
    elif can_ask:
        token = str(click.prompt("Join token", hide_input=True, err=True))
        where = Message("agent_errors.typed_answer")
    else:
        token, where = sys.stdin.read(TOKEN_MOST), Message("agent_errors.standard_input")
    words = token.split()
    if len(words) != 1:
        message = Message(
            "agent_errors.token_words", place=where, words=len(words), variable=VARIABLE
        )
        raise click.UsageError(str(message))
    return words[0]

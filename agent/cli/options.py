"""Options common to all commands, and errors as sentences and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

import click

from agent.errors import LinkError, RefusedError
from shared.errors import PrsmError
from shared.frozen import frozen

if TYPE_CHECKING:
    from agent.settings import Settings
from shared.full_disk import NO_ROOM
from shared.messages import Message
from shared.plurals import with_plurals

__all__ = [
    "DEFAULT_HOME",
    "REFUSED",
    "UNREACHABLE",
    "HomeOption",
    "in_words",
    "pass_home_option",
    "plain",
    "set_option",
]

DEFAULT_HOME: Final = "~/.prs"
REFUSED: Final = 1
UNREACHABLE: Final = 3

_Function = TypeVar("_Function", bound=Callable[..., Any])


@frozen
class HomeOption:
    """The home that the command line names."""

    path: Path

    def settings(self, overrides: Iterable[str] = ()) -> Settings:
        """Return the settings of the home. Raises SettingError."""
        # Reading settings takes more time than what most commands do.
        from agent.settings import FORM, SETTINGS_FILE, read_settings  # noqa: PLC0415 - see above

        overrides = tuple(overrides)
        FORM.refuse_secrets(overrides, SETTINGS_FILE)
        return read_settings(self.path, overrides)


pass_home_option = click.make_pass_decorator(HomeOption)


def set_option(function: _Function) -> _Function:
    """Add `--set GROUP.NAME=VALUE`."""
    option = click.option(
        "--set",
        "overrides",
        metavar="GROUP.NAME=VALUE",
        multiple=True,
        help="A setting, stronger than prs.toml; may be repeated.",
    )
    return option(function)


@contextmanager
def in_words(*, as_json: bool = False) -> Iterator[None]:
    """Turn what we refuse or fail at into a sentence and an exit code.

    as_json: on standard error stands a JSON object of code, parameters and sentence.
    """
    try:
        yield
    except PrsmError as error:
        reachable = not isinstance(error, LinkError) or isinstance(error, RefusedError)
        kind = _Failure if reachable else _UnreachableFailure
        raise kind(error.message, error.code, as_json=as_json) from error
    except OSError as error:
        message = _message_of(error)
        raise _Failure(message, message.code, as_json=as_json) from error


def _message_of(error: OSError) -> Message:
    """Return what the system says, with what to do about a full disk."""
    what = str(error.filename) if error.filename else Message("agent_errors.this_machine")
    if error.errno in NO_ROOM:
        return Message("agent_errors.system_no_room", what=what, why=error.strerror)
    return Message("agent_errors.system", what=what, why=error.strerror)


def print_text(text: str, *, err: bool = False) -> None:
    """Print sentences, in which nouns agree with their numbers."""
    click.echo(with_plurals(text), err=err)


def plain(text: str) -> str:
    """Return a text from outside as a terminal may show it: nothing in it is a command to it."""
    return "".join(character if character.isprintable() else " " for character in text)


class _Failure(click.ClickException):
    """A refusal or failure, as people or programs read it."""

    def __init__(self, said: Message, code: str, *, as_json: bool) -> None:
        super().__init__(str(said))
        self._said = said
        self._code = code
        self._as_json = as_json

    def show(self, file: IO[Any] | None = None) -> None:
        """Print it on standard error."""
        if not self._as_json:
            super().show(file)
            return
        params = self._said.as_json()["params"]
        told = {"code": self._code, "params": params, "detail": self.message}
        click.echo(json.dumps(told), file=file, err=True)


class _UnreachableFailure(_Failure):
    exit_code = UNREACHABLE

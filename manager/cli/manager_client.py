"""Call the manager of a data directory over its Unix socket, and end in words where that fails.

    exit code 0  done
              1  refused: the manager says why, or lines of a file were all refused
              2  usage: an option or argument that cannot be
              3  not reachable: no manager serves this directory, or it went away

Invariant: a command ends with one of these codes, and every one but 0 prints what to do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, Self

import click
import httpx

from manager.settings import read_settings
from shared.errors import PrsmError, SettingError

__all__ = ["Calls", "RefusedError", "UnreachableError", "settings_of"]

CONNECT_S: Final = 5.0
SOCKET: Final = "prsm.sock"
UNREACHABLE: Final = "unreachable"


class _ProblemError(click.ClickException):
    """A command that failed: a sentence, or with `--json` a problem as `/api/v1` has them."""

    def __init__(self, sentence: str, problem: Mapping[str, Any] | None = None) -> None:
        """problem: code, parameters and sentence."""
        super().__init__(sentence)
        self.problem = problem or {"detail": sentence}
        context = click.get_current_context(silent=True)
        self._as_json = context is not None and bool(context.params.get("as_json"))

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence, or JSON where the command was called with `--json`."""
        if self._as_json:
            click.echo(json.dumps(self.problem, ensure_ascii=False, indent=2), err=True)
        else:
            super().show(file)


class RefusedError(_ProblemError):
    """The manager refused, or what the command does itself was refused."""

    exit_code = 1

    @classmethod
    def of(cls, error: Exception) -> Self:
        """Return the refusal by what a command does without a manager."""
        if not isinstance(error, PrsmError):
            return cls(str(error))
        problem = {
            "detail": str(error),
            "code": error.code,
            "kind": error.kind,
            "params": error.message.as_json()["params"],
            **error.facts,
        }
        return cls(str(error), problem)


class UnreachableError(_ProblemError):
    """No manager answers."""

    exit_code = 3

    def __init__(self, sentence: str) -> None:
        super().__init__(
            sentence, {"detail": sentence, "code": UNREACHABLE, "kind": UNREACHABLE, "params": {}}
        )


def settings_of(data: Path, config: Path | None, overrides: tuple[str, ...] = ()) -> Any:
    """Return the settings of a data directory, or end with a usage error."""
    try:
        return read_settings(data, config, overrides)
    except SettingError as error:
        raise click.UsageError(str(error)) from error


class Calls:
    """A manager, as the commands call it."""

    def __init__(
        self, data: Path, config: Path | None, transport: httpx.BaseTransport | None = None
    ) -> None:
        """transport: another way in than the Unix socket."""
        self._data = data
        self._config = config
        self._transport = transport

    def get(self, path: str, **params: object) -> Any:
        """Return the JSON of a GET; parameters that are None or empty are left out."""
        query = {name: value for name, value in params.items() if value not in (None, "")}
        return self._send("GET", path, params=query)

    def post(self, path: str, body: object = None, *, empty: bool = False) -> Any:
        """Return the JSON of a POST, or None. empty: send no body at all."""
        if empty:
            return self._send("POST", path)
        return self._send("POST", path, json={} if body is None else body)

    def upload(self, path: str, chunks: Iterator[bytes]) -> Any:
        """Stream a body and return the JSON of the answer."""
        headers = {"Content-Type": "text/plain"}
        return self._send("POST", path, content=chunks, headers=headers)

    @contextmanager
    def download(self, path: str, *, method: str = "GET") -> Iterator[Iterator[bytes]]:
        """Give the body of an answer, piece by piece."""
        with self._client() as client, client.stream(method, path) as answer:
            if not answer.is_success:
                answer.read()
                raise _refused(answer)
            yield answer.iter_bytes()

    def _send(self, method: str, path: str, **options: Any) -> Any:
        with self._client() as client:
            answer = client.request(method, path, **options)
        if answer.is_success:
            return answer.json() if answer.content else None
        raise _refused(answer)

    @contextmanager
    def _client(self) -> Iterator[httpx.Client]:
        socket = self._socket()
        transport = self._transport
        if transport is None:
            if not socket.exists():
                raise UnreachableError(self._nobody(f"there is no {socket}"))
            transport = httpx.HTTPTransport(uds=str(socket))
        timeout = httpx.Timeout(None, connect=CONNECT_S)
        try:
            with httpx.Client(
                transport=transport, base_url="http://prsm/api/v1", timeout=timeout
            ) as client:
                yield client
        except httpx.TransportError as error:
            raise UnreachableError(self._gone(socket, error)) from error

    def _socket(self) -> Path:
        settings = settings_of(self._data, self._config)
        return Path(settings.server.socket) if settings.server.socket else self._data / SOCKET

    def _gone(self, socket: Path, error: httpx.TransportError) -> str:
        if not isinstance(error, httpx.ConnectError):
            return f"the manager went away in the middle ({error}); see its log, then try again"
        if not os.access(socket, os.W_OK):
            return f"{socket} belongs to another user: run this as who runs the manager"
        return self._nobody(f"no manager listens at {socket}")

    def _nobody(self, why: str) -> str:
        # Only a call that fails needs the database.
        from manager.app.maintenance.database_diagnosis import database_problem  # noqa: PLC0415

        problem = database_problem(settings_of(self._data, self._config))
        if problem:
            return f"no manager serves {self._data}: {problem}"
        return (
            f"no manager serves {self._data}: {why}. Start it with "
            f"`prsm --data {self._data} serve`, or name its directory with --data or PRSM_DATA"
        )


def _refused(answer: httpx.Response) -> RefusedError:
    try:
        problem = answer.json()
        return RefusedError(str(problem["detail"]), problem)
    except (ValueError, KeyError, TypeError):
        return RefusedError(f"the manager answered {answer.status_code} {answer.reason_phrase}")

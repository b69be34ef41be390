"""A manager that commands can call, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result
from starlette.types import ASGIApp

from manager.app.web.web import build_app, wrapped
from manager.cli import main
from manager.cli.options import Target
from tests.manager.running import Running, running

Prsm = Callable[..., Result]


class InProcess(httpx.BaseTransport):
    """Carry a command's requests to an application in this process."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the application's answer."""
        content = request.read()

        async def answered() -> httpx.Response:
            transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport) as client:
                return await client.request(
                    request.method, request.url, headers=request.headers, content=content
                )

        answer = asyncio.run(answered())
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Running]:
    """Return a manager with an empty database."""
    with running(tmp_path / "data") as opened:
        yield opened


@pytest.fixture
def prsm(manager: Running, tmp_path: Path) -> Prsm:
    """Return a function that runs `prsm` with arguments, as on the manager's machine."""
    app = wrapped(build_app(manager.manager), manager.manager, local=True)
    place = Target(tmp_path / "data", None, InProcess(app))

    def run(*arguments: str, stdin: str | bytes = "", code: int = 0) -> Result:
        result = CliRunner().invoke(main, list(arguments), input=stdin, obj=place)
        assert result.exit_code == code, result.output
        return result

    return run

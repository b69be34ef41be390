"""A centre with captures, and `prs-get` that calls it here, over lines that may break."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result
from starlette.types import ASGIApp

from client.account import Account
from client.cli import Way, main
from manager.operations.clients import issue_token, register_client
from tests.manager.archived import hold
from tests.manager.running import LOCAL, Agent, Running, running

HOST = "http://www.example.jp:80/"
OTHER = "http://other.example:80/"


class Pieces(httpx.SyncByteStream):
    """A body that breaks off after some bytes."""

    def __init__(self, data: bytes, most: int | None) -> None:
        self._data = data
        self._most = most

    def __iter__(self) -> Iterator[bytes]:
        if self._most is None:
            yield self._data
            return
        yield self._data[: self._most]
        raise httpx.ReadError("the line broke")


@dataclass
class Line(httpx.BaseTransport):
    """The way to the centre. breaks: each answer with a range ends after so many bytes."""

    app: ASGIApp
    breaks: int | None = None
    flip: bool = False
    down: int = 0
    sent_bytes: int = 0
    asked: list[str] = field(default_factory=list)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the application's answer, or break."""
        self.asked.append(request.url.path)
        if self.down:
            self.down -= 1
            raise httpx.ConnectError("nobody listens")
        content = request.read()

        async def answered() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport) as client:
                return await client.request(
                    request.method, request.url, headers=request.headers, content=content
                )

        answer = asyncio.run(answered())
        body = answer.content
        ranged = answer.status_code == 206
        if ranged and self.flip:
            body = bytes([body[0] ^ 1]) + body[1:]
        most = self.breaks if ranged and self.breaks and len(body) > self.breaks else None
        self.sent_bytes += (len(body) if most is None else most) if ranged else 0
        return httpx.Response(answer.status_code, headers=answer.headers, stream=Pieces(body, most))


@dataclass
class Centre:
    """A manager, an agent of it, the line to it, and the command."""

    prsm: Running
    agent: Agent
    line: Line
    account: Account
    sleep: Callable[[float], None]

    def get(self, *arguments: str, code: int = 0) -> Result:
        """Run `prs-get`."""
        way = Way(self.line, self.account, self.sleep)
        result = CliRunner().invoke(main, list(arguments), obj=way)
        assert result.exit_code == code, result.output
        return result


@pytest.fixture
def centre(tmp_path: Path) -> Iterator[Centre]:
    """Return a centre whose jobs are made when somebody waits for them."""
    with running(tmp_path / "data") as prsm:
        agent = prsm.agent()
        hold(prsm, agent, HOST, OTHER)
        db = prsm.manager.db
        register_client(db, "library", "x@library.example", "", LOCAL, prsm.clock())
        token = issue_token(db, "library", LOCAL, prsm.clock(), requests_per_minute=100_000).token

        def sleep(_: float) -> None:
            prsm.manager.archive.run_jobs()

        yield Centre(
            prsm, agent, Line(prsm.public), Account("http://manager.example", token), sleep
        )

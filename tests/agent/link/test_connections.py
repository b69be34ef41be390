"""Connections to the manager that are made anew, while others are still in use."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest

from agent.errors import HomeError, LinkError
from agent.link.client import ManagerClient, ManagerRoute
from agent.link.connections import Connections

REFUSES = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"


class Desk:
    """Makes connections that are numbered, and remembers what became of them."""

    def __init__(self) -> None:
        self.made: list[httpx.AsyncClient] = []
        self.problem = ""

    def make(self) -> httpx.AsyncClient:
        if self.problem:
            raise HomeError(self.problem)
        self.made.append(httpx.AsyncClient(transport=httpx.MockTransport(self._answer)))
        return self.made[-1]

    def _answer(self, _: httpx.Request) -> httpx.Response:
        return httpx.Response(200)


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(work(), 20)

    asyncio.run(bounded())


def test_an_exchange_ends_where_it_began() -> None:
    """Old connections are closed when the last exchange on them has ended, and not before."""

    async def work() -> None:
        desk = Desk()
        connections = Connections(desk.make)
        async with connections.opened() as first:
            connections.renew()
            async with connections.opened() as second:
                assert second is desk.made[1]
                assert not first.is_closed
            async with connections.opened() as again:
                assert again is second
        assert first.is_closed
        connections.renew()
        async with connections.opened() as third:
            assert third is not second
            assert second.is_closed
        await connections.close()
        assert third.is_closed

    run(work)


def test_a_way_that_cannot_be_made_now_is_tried_again() -> None:
    """A file of authorities that is being written is no defect; the next exchange looks again."""

    async def work() -> None:
        desk = Desk()
        connections = Connections(desk.make)
        connections.renew()
        desk.problem = "manager.ca_file ca.pem: no PEM certificates"
        for _ in range(2):
            with pytest.raises(LinkError, match="no PEM certificates"):
                async with connections.opened():
                    pass
        desk.problem = ""
        async with connections.opened() as fresh:
            assert fresh is desk.made[1]
        await connections.close()

    run(work)


def unbelieved() -> httpx.ConnectError:
    """Return what httpx makes of a certificate that no authority signed."""
    error = httpx.ConnectError("certificate verify failed")
    error.__cause__ = ssl.SSLCertVerificationError("self-signed certificate")
    return error


@pytest.mark.parametrize(("error", "reads"), [(unbelieved(), 2), (httpx.ConnectError("no"), 1)])
def test_authorities_are_read_again_after_a_certificate_that_was_not_believed(
    monkeypatch: pytest.MonkeyPatch, error: httpx.ConnectError, reads: int
) -> None:
    """Whoever gives the site a new file of authorities need not start the agent again."""
    count = 0

    def contexts(_: Path | None, *, encrypted: bool = True) -> ssl.SSLContext:
        nonlocal count
        count += 1
        assert encrypted
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    monkeypatch.setattr("agent.link.client.tls_context", contexts)

    def refuse(_: httpx.Request) -> httpx.Response:
        raise error

    async def work() -> None:
        async with ManagerClient(
            "https://prsm.example.jp", name="prs1", key="k", transport=httpx.MockTransport(refuse)
        ) as client:
            for _ in range(2):
                with pytest.raises(LinkError):
                    await client.is_restart()

    run(work)
    assert count == reads


def test_another_proxy_holds_from_the_next_exchange_on() -> None:
    """A proxy that changed its password hears the new one; the same again is nothing new."""

    async def work() -> None:
        asked: list[bytes] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            asked.extend(
                line.split()[-1]
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"proxy-authorization:")
            )
            writer.write(REFUSES)
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        ways = [f"http://site:{word}@127.0.0.1:{port}" for word in ("spring", "autumn")]
        async with (
            server,
            ManagerClient(
                "https://prsm.example.jp", name="prs1", key="k", route=ManagerRoute(proxy=ways[0])
            ) as client,
        ):
            for way in (ways[0], ways[1], ways[1]):
                client.change_route(ManagerRoute(proxy=way))
                with pytest.raises(LinkError, match="407 Proxy Authentication Required") as caught:
                    await client.is_restart()
                assert "autumn" not in str(caught.value)
        assert asked == [b"c2l0ZTpzcHJpbmc=", b"c2l0ZTphdXR1bW4=", b"c2l0ZTphdXR1bW4="]

    run(work)
